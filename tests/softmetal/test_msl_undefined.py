"""Nothing that C++ leaves undefined happens in the executor or in the tests' kernels (UBSan, as a trap)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from msl_build import KERNEL_FLAGS
from native_programs import UNDEFINED_IN_KERNELS

HERE = Path(__file__).parent
# These are not about what kernels compute.
OTHERS = {"test_msl_cache.py", "test_msl_errors.py", Path(__file__).name}


@pytest.mark.slow
def test_the_tests_of_kernels_pass_with_traps() -> None:
    files = [str(path) for path in sorted(HERE.glob("test_msl_*.py")) if path.name not in OTHERS]
    environment = {**os.environ, KERNEL_FLAGS: " ".join([*UNDEFINED_IN_KERNELS, "-fsanitize-trap=all"])}
    # A trap ends the process, and faulthandler says in which test.
    command = [sys.executable, "-X", "faulthandler", "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
