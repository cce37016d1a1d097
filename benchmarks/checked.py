"""What checked mode costs: kernels beside themselves in plain mode, and cases of a campaign in a second.

With one thread. Of each case there is one node, as its kernel takes up to 50 times as long in checked mode.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

import ggml_metal_py as gm
from ggml_metal_py.check import chosen
from ggml_metal_py.fuzz import Examiner

from .kernel_cases import Case, cases
from .kernels import CaseGraph, set_threads
from .result import Result

ROUNDS = 3
SMALL_OPS = ("neg", "scale", "sum_rows", "get_rows", "rms_norm")
SMALL_CASES = 20
"""Of each of these ops, whose kernels do little for each: what remains is our own work."""


def measure(wanted: str = "") -> Iterator[Result]:
    """All cases of `kernels` whose names hold `wanted`, and small cases of `check` with all oracles."""
    for case in cases():
        if wanted in case.name:
            yield _kernel(case)
    if not wanted:
        yield _small_cases()


def _kernel(case: Case) -> Result:
    plain, checked = _milliseconds(case, checked=False), _milliseconds(case, checked=True)
    return Result(f"{case.name}, checked", checked, "ms", "plain mode", checked / plain)


def _milliseconds(case: Case, *, checked: bool) -> float:
    with gm.open(checked=checked) as device, device.backend() as backend, ExitStack() as stack:
        compute = partial(gm.checked.compute, backend) if checked else backend.compute
        set_threads(device, 1)
        graph = CaseGraph(case, device, backend, 1, stack, compute)
        times = [graph.seconds() for _ in range(ROUNDS)]
        set_threads(device, 0)
    return statistics.median(times) * 1e3


def _small_cases() -> Result:
    plain, checked = _cases_a_second(checked=False), _cases_a_second(checked=True)
    return Result("small cases a second, checked", checked, "", "plain mode, all oracles", checked / plain)


def _cases_a_second(*, checked: bool) -> float:
    small = [case for op in SMALL_OPS for case in chosen([op])[:SMALL_CASES]]
    with gm.open(checked=checked) as device, Examiner(device) as examiner:
        set_threads(device, 1)
        for case in small:
            examiner.examine(case)
        start = time.perf_counter()
        for case in small:
            examiner.examine(case)
        seconds = time.perf_counter() - start
        set_threads(device, 0)
    return len(small) / seconds
