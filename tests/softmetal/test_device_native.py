"""The device below ggml: native test programs, each run plain and under sanitizers.

The programs need no Metal kernels; native/kernels.c stands in for a compiled kernel library, because it can
show what the device does with it (order, overlap, failures).
"""

from pathlib import Path

import pytest
from native_programs import NATIVE, SANITIZERS, kernel_folder, run_program

from ggml_metal_py.softmetal.toolchain import find_toolchain

PROGRAMS = (
    "test_objc.m",
    "test_foundation.m",
    "test_dispatch.cpp",
    "test_device.m",
    "test_order.m",
    "test_threads.m",
    "test_process.m",
    "test_no_threads.m",
)


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kernel_folder(find_toolchain(), tmp_path_factory.mktemp("kernels"))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(
    "sanitizer",
    [pytest.param(name, marks=() if name == "plain" else pytest.mark.slow, id=name) for name in SANITIZERS],
)
def test_program_passes(sanitizer: str, name: str, compiled, kernels: Path) -> None:
    done = run_program(compiled(sanitizer)(NATIVE / name), str(kernels))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING: ThreadSanitizer" not in done.stderr
