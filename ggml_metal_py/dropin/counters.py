"""What ran where: graphs and nodes on our device and on the CPU backends of the hosts we attached to.

Counted natively, where a host hands its graphs to a backend (decl/module.cpp). The numbers are the
process's: they hold what every thread ran.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from .._native import Native


@dataclass(frozen=True)
class Counters:
    """Graphs and compute nodes so far (views and reshapes are none), and dispatches by pipeline name."""

    device_graphs: int = 0
    device_nodes: int = 0
    cpu_graphs: int = 0
    cpu_nodes: int = 0
    dispatches: Counter[str] = field(default_factory=Counter)
    """Empty on Apple's own Metal, which does not tell."""

    def since(self, before: Counters) -> Counters:
        """What was added after `before`; pipelines that were not dispatched since are left out."""
        return Counters(
            self.device_graphs - before.device_graphs,
            self.device_nodes - before.device_nodes,
            self.cpu_graphs - before.cpu_graphs,
            self.cpu_nodes - before.cpu_nodes,
            self.dispatches - before.dispatches,
        )


_natives: list[Native] = []


def watched() -> list[Native]:
    """The libraries that are counted."""
    return list(_natives)


def watch(native: Native, cpu_device: int) -> None:
    """Count what this library runs, and what the host's CPU device at that address will."""
    if native not in _natives:
        _natives.append(native)
    native.gmpy_watch_cpu_device(native.ffi.cast("struct ggml_backend_device *", cpu_device))


def read() -> Counters:
    """The counts up to now; zeros when nothing was attached."""
    total = Counters()
    for native in _natives:
        counts = native.ffi.new("struct gmpy_counters *")
        native.gmpy_get_counters(counts)
        total = Counters(
            total.device_graphs + counts.device_graphs,
            total.device_nodes + counts.device_nodes,
            total.cpu_graphs + counts.cpu_graphs,
            total.cpu_nodes + counts.cpu_nodes,
            total.dispatches + _dispatches(native),
        )
    return total


def _dispatches(native: Native) -> Counter[str]:
    found: Counter[str] = Counter()
    if not native.has("softmetal_get_pipeline_stats"):
        return found
    name = native.ffi.new("char[]", 512)
    times = native.ffi.new("uint64_t *")
    index = 0
    while native.softmetal_get_pipeline_stats(index, name, len(name), times, native.ffi.NULL) >= 0:
        found[native.text(name)] += int(times[0])
        index += 1
    return found
