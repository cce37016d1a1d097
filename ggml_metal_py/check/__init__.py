"""Every op on the device against ggml's CPU backend: `gm.check.run(["mul_mat"])`, `ggml-metal-py check`.

Imported by name only: nothing of it is loaded with the package.
"""

import time
from collections.abc import Callable, Sequence

from .case import Case, all_cases, chosen
from .report import Report
from .run import Outcome, Runner

__all__ = ["Case", "Outcome", "Report", "Runner", "all_cases", "chosen", "run"]


def run(
    ops: Sequence[str] = (),
    *,
    cases: Sequence[str] = (),
    upstream: str | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Report:
    """Run the cases of these ops, or all; or these texts instead, graphs such as `add(f32(8, 2), f32(8))`.

    `progress` is called with cases done and cases in all. Raises ValueError for an op without cases, a text
    that is no graph, and a row that ships no kernels' source; LibraryNotFound.
    """
    from .. import open as open_device
    from .coverage import coverage

    wanted = tuple(map(Case.of, cases)) if cases else chosen(ops)
    started = time.monotonic()
    outcomes: list[Outcome] = []
    with open_device(upstream) as device:
        with Runner(device) as runner:
            for case in wanted:
                outcomes.append(runner.run(case))
                if progress is not None:
                    progress(len(outcomes), len(wanted))
        seconds = time.monotonic() - started
        return Report(device.upstream, tuple(outcomes), coverage(device, outcomes), seconds)
