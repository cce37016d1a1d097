"""How long it takes until Python can use the device. Each start is an interpreter of its own."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator

from .result import Result

STARTS = 7


def measure() -> Iterator[Result]:
    """Import time beside numpy's, and the time to open the device after the import."""
    numpy = _seconds("", "import numpy")
    package = _seconds("", "import ggml_metal_py")
    device = _seconds("import ggml_metal_py as gm", "gm.open()")
    # Without the time that Python takes to load the modules.
    alone = _seconds("import ggml_metal_py as gm; gm.open", "gm.open()")
    yield Result("import ggml_metal_py", package * 1e3, "ms", "import numpy", package / numpy)
    yield Result("gm.open()", device * 1e3, "ms", "import numpy", device / numpy)
    yield Result("gm.open(), modules loaded", alone * 1e3, "ms", "import numpy", alone / numpy)


def _seconds(before: str, timed: str) -> float:
    """Median time of a statement, each time in a fresh interpreter."""
    program = f"{before}\nimport time\nt = time.perf_counter()\n{timed}\nprint(time.perf_counter() - t)"
    command = [sys.executable, "-c", program]
    return statistics.median(
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(STARTS)
    )
