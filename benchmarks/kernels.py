"""Every hot kernel beside ggml's CPU backend, with one thread each, and what a second thread gains.

The measurements of a case are taken in turns, so that a slower moment of the machine meets all of them.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np

import ggml_metal_py as gm

from .kernel_cases import Case, cases
from .result import KernelResult, Result

ROUNDS = 5
# A graph holds its op as often as it takes the CPU backend this long: its own cost must not count.
GRAPH_SECONDS = 6e-3
MOST_NODES = 100
SMALL_NODES = 500


def measure(wanted: str = "") -> Iterator[Result]:
    """All cases whose names hold `wanted`, and what a dispatch costs that does next to nothing."""
    with gm.open() as device, device.backend() as metal, gm.Backend.on_cpu(device) as cpu:
        yield _dispatch(device, metal, cpu)
        for case in cases():
            if wanted in case.name:
                yield _measure(case, device, metal, cpu)


def _measure(case: Case, device: gm.Device, metal: gm.Backend, cpu: gm.Backend) -> KernelResult:
    with ExitStack() as stack:
        once = CaseGraph(case, device, cpu, 1, stack)
        nodes = max(1, min(MOST_NODES, round(GRAPH_SECONDS / once.seconds())))
        on_cpu = CaseGraph(case, device, cpu, nodes, stack)
        on_metal = CaseGraph(case, device, metal, nodes, stack)
        names = [dispatch.pipeline.name for dispatch in gm.select.dispatches(on_metal.graph.outputs[0])]
        of_cpu, of_one, of_two = [], [], []
        for _ in range(ROUNDS):
            of_cpu.append(on_cpu.seconds())
            can_choose = set_threads(device, 1)
            of_one.append(on_metal.seconds())
            if can_choose:
                set_threads(device, 2)
                of_two.append(on_metal.seconds())
        set_threads(device, 0)
    beside, one = (statistics.median(times) * 1e3 / nodes for times in (of_cpu, of_one))
    two = statistics.median(of_two) * 1e3 / nodes if of_two else None
    return KernelResult(
        case.name,
        one,
        "ms",
        "CPU backend",
        one / beside,
        kernels=tuple(dict.fromkeys(names)),
        cpu=beside,
        two_threads=two,
        speed_up=one / two if two else None,
        aim=case.family.aim,
        sketch=case.family.sketch,
    )


class CaseGraph:
    """A graph of some nodes of a case, with memory on a backend, computed once; `compute` may do it."""

    def __init__(
        self,
        case: Case,
        device: gm.Device,
        backend: gm.Backend,
        nodes: int,
        stack: ExitStack,
        compute: Callable[[gm.Graph], object] | None = None,
    ) -> None:
        context = stack.enter_context(device.context(3 * nodes + 16))
        sources = case.sources(context)
        self._compute = compute or backend.compute
        self.graph = stack.enter_context(gm.Graph(*(case.node(*sources) for _ in range(nodes))))
        backend.alloc(context)
        self._compute(self.graph)

    def seconds(self) -> float:
        start = time.perf_counter()
        self._compute(self.graph)
        return time.perf_counter() - start


def set_threads(device: gm.Device, threads: int) -> bool:
    """The number of threads that run a grid, 0 for the default; False on Apple's Metal."""
    if not device._native.has("softmetal_set_threads"):
        return False
    device._native.softmetal_set_threads(threads)
    return True


def _dispatch(device: gm.Device, metal: gm.Backend, cpu: gm.Backend) -> Result:
    """One more node in a graph: an addition of 32 numbers."""

    def seconds(backend: gm.Backend) -> float:
        times = []
        with device.context(SMALL_NODES + 16) as context:
            a = context.from_numpy(np.ones(32, np.float32))
            sums = [gm.ops.add(a, a) for _ in range(SMALL_NODES)]
            backend.alloc(context)
            with gm.Graph(sums[0]) as small, gm.Graph(*sums) as large:
                for _ in range(4 * ROUNDS):
                    for graph in (small, large):
                        start = time.perf_counter()
                        backend.compute(graph)
                        times.append(time.perf_counter() - start)
        return (statistics.median(times[1::2]) - statistics.median(times[::2])) / (SMALL_NODES - 1)

    value, beside = seconds(metal), seconds(cpu)
    return Result("one more small node in a graph", value * 1e6, "us", "CPU backend", value / beside)
