"""Checked mode: what kernels do to memory that they must not (softmetal/README.md, "Checked mode").

    with gm.open(checked=True) as device, device.backend() as backend, ...:
        for report in gm.checked.compute(backend, graph):
            print(report)

`compute` knows each tensor of the graph; `watching` is for kernels dispatched by hand.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._handle import pinned
from ._native import Native
from .backend import Graph
from .tensor import Tensor

if TYPE_CHECKING:
    from .backend import Backend
    from .device import Device

OUT_OF_BOUNDS = "out-of-bounds"
THREADGROUP_OVERRUN = "threadgroup-overrun"
UNINITIALISED_READ = "uninitialised-read"
RACE = "race"
LOCKSTEP_RELIANCE = "lockstep-reliance"
MISALIGNED = "misaligned"
DIVERGENT_BARRIER = "divergent-barrier"
WRITE_TO_READONLY = "write-to-readonly"
THREADGROUP_LENGTH = "threadgroup-length"

KINDS = (
    OUT_OF_BOUNDS,
    THREADGROUP_OVERRUN,
    UNINITIALISED_READ,
    RACE,
    LOCKSTEP_RELIANCE,
    MISALIGNED,
    DIVERGENT_BARRIER,
    WRITE_TO_READONLY,
    THREADGROUP_LENGTH,
)
"""In the order of softmetal.h's enum softmetal_fault, which begins at 1."""


@dataclass(frozen=True)
class Party:
    """A thread, and what it did."""

    threadgroup: tuple[int, int, int]
    simdgroup: int
    """In the threadgroup."""
    lane: int
    """In the simdgroup."""
    access: str
    """`reads`, `writes`, `updates`; `atomically ...`; `waits`, `returned`."""
    line: int
    """Of the kernels' source as it is given to Metal; 0 where there is none."""
    column: int
    bytes: int
    text: str
    """The line."""

    def __str__(self) -> str:
        thread = f"lane {self.lane} of simdgroup {self.simdgroup} in threadgroup {self.threadgroup}"
        size = f" {self.bytes} bytes" if self.bytes else ""
        place = f" in line {self.line}: {self.text}" if self.line else ""
        return f"{thread} {self.access}{size}{place}"


@dataclass(frozen=True)
class Region:
    """The memory concerned: the tensor, or piece of threadgroup memory, that the address is in or next to."""

    name: str
    offset: int
    """Bytes from its start to the first byte concerned; negative, or beyond `bytes`, when outside."""
    bytes: int
    element: tuple[int, ...] | None = None
    """Index in numpy's order, of a tensor of unquantised type; None outside."""

    @property
    def is_outside(self) -> bool:
        """Whether that byte is not one of it."""
        return not 0 <= self.offset < self.bytes

    def __str__(self) -> str:
        where = f"byte {self.offset} of {self.name}"
        if self.element is not None:
            where += f", element [{', '.join(map(str, self.element))}]"
        if self.is_outside:
            where += ", which is outside"
        return f"{where} ({self.bytes} bytes)"


@dataclass(frozen=True)
class Report:
    """A fault of a kernel. Faults that differ in nothing but threads and addresses are one report."""

    kind: str
    """One of KINDS."""
    kernel: str
    """Its host name."""
    constants: str
    """The pipeline's function constants, `{300=4,301=1}`; empty without."""
    first: Party
    """Whose access showed it."""
    second: Party | None
    """What it is at odds with: the access before it, the lane that is not at the barrier."""
    region: Region | None
    detail: str = ""
    count: int = 1
    """Dispatches in which it was seen, since the reports were taken."""

    @property
    def line(self) -> int:
        """The first party's."""
        return self.first.line

    def __str__(self) -> str:
        where = f" at {self.region}" if self.region is not None else ""
        lines = [f"{self.kind} in {self.kernel}{self.constants}{where}{self.detail}"]
        if self.first.access:
            lines.append(f"  {self.first}")
        if self.second is not None:
            lines.append(f"  {self.second}")
        return "\n".join(lines)


class Mode:
    """Checked mode of a row's library, on as long as one of its devices asks for it."""

    _holders: dict[Native, int] = {}  # noqa: RUF012 - of the process, as the mode is
    _changing = threading.Lock()

    def __init__(self, native: Native) -> None:
        if not native.has("softmetal_set_checked"):
            raise ValueError("checked mode is softmetal's, this is Apple's own Metal")
        self._native = native
        with self._changing:
            self._holders[native] = self._holders.get(native, 0) + 1
            native.softmetal_set_checked(1)

    def leave(self) -> None:
        with self._changing:
            self._holders[self._native] -= 1
            if not self._holders[self._native]:
                self._native.softmetal_set_checked(0)


_watching = threading.RLock()
"""Held while regions are known to softmetal: they are the process's."""
_watched: set[Native] = set()


def compute(backend: "Backend", graph: Graph | Tensor) -> list[Report]:
    """Compute a graph, or a tensor and all that it needs, and tell what its kernels did wrong.

    Results of ops have no values before; everything else that the graph refers to counts as written. A view
    is its tensor's memory: what reads beyond the end of a window, and not of the tensor, is no fault. What an
    op asks for beyond its result is known as `NAME (scratch)`. Raises what Backend.compute raises, and
    ValueError for a Backend whose device was not opened with `checked=True`.
    """
    if isinstance(graph, Tensor):
        with Graph(graph) as whole:
            return compute(backend, whole)
    device = graph.outputs[0].context.device
    native = device._native
    with pinned(graph._needed()):
        results = {
            _key(native, node)
            for node in (native.ggml_graph_node(graph._graph, i) for i in range(graph.n_nodes))
            if node.op and not node.view_src  # a parameter is a node, too
        }
        tensors = [
            (tensor, _key(native, tensor) not in results)
            for context in graph._contexts
            for tensor in context._tensors()
            if _is_own_memory(device, tensor)
        ]
        with _watch(device, tensors) as found:
            backend.compute(graph)
    return found


@contextmanager
def watching(
    device: "Device", written: Iterable[Tensor], unwritten: Iterable[Tensor] = ()
) -> Iterator[list[Report]]:
    """Let kernels touch these tensors and nothing else in their buffers; the list is filled at the end.

    Reading one of `unwritten` before a kernel has written it is a fault.
    """
    known = [(tensor, True) for tensor in written] + [(tensor, False) for tensor in unwritten]
    contexts = {tensor.context for tensor, _ in known}
    handles = [handle for context in contexts for handle in context._reachable_handles()]
    with pinned(handles), _watch(device, [(tensor._use(), has) for tensor, has in known]) as found:
        yield found


def take(device: "Device") -> list[Report]:
    """The reports that nobody has taken yet, and forget them."""
    return _take(device._native, {})


@contextmanager
def _watch(device: "Device", tensors: Sequence[tuple[Any, bool]]) -> Iterator[list[Report]]:
    if not device.checked:
        raise ValueError("this device is not in checked mode: gm.open(checked=True) opens one that is")
    native = device._native
    found: list[Report] = []
    named: dict[str, Any] = {}
    with _watching:
        if native in _watched:
            raise ValueError("memory is watched already; one at a time")
        _watched.add(native)
        _take(native, {})
        try:
            for number, (tensor, written) in enumerate(tensors):
                _add(device, tensor, number, written, named)
            yield found
        finally:
            found += _take(native, named)
            native.softmetal_forget_regions()
            _watched.discard(native)


def _add(device: "Device", tensor: Any, number: int, written: bool, named: dict[str, Any]) -> None:
    native = device._native
    size = int(native.ggml_nbytes(tensor))
    metal_buffer = native.ffi.cast("struct ggml_metal_buffer *", tensor.buffer.context)
    found = native.ggml_metal_buffer_get_id(metal_buffer, tensor)
    contents = native.ffi.cast("char *", native.gmpy_metal_buffer_contents(found.metal))
    start = contents + int(found.offs)
    name = native.text(tensor.name) or f"tensor {number}"
    if name in named:
        name = f"{name[:48]} #{number}"
    named[name] = tensor
    if size and not native.softmetal_add_region(name.encode(), start, size, written):
        raise ValueError(f"{name} overlaps another tensor")
    kind = native.ggml_backend_buffer_get_type(tensor.buffer)
    scratch = int(native.ggml_backend_buft_get_alloc_size(kind, tensor)) - size
    if scratch > 0 and tensor.op:
        native.softmetal_add_region(f"{name[:48]} (scratch)".encode(), start + size, scratch, False)


def _is_own_memory(device: "Device", tensor: Any) -> bool:
    """Whether it has memory of the device's, and is no view of another tensor."""
    native = device._native
    if tensor.view_src or not native.gmpy_has_memory(tensor):
        return False
    kind = native.ggml_backend_buffer_get_type(tensor.buffer)
    return bool(native.ggml_backend_dev_supports_buft(device._use(), kind))


def _key(native: Native, tensor: Any) -> int:
    return int(native.ffi.cast("uintptr_t", tensor))


# ---- from C


def _take(native: Native, named: dict[str, Any]) -> list[Report]:
    found = []
    entry = native.ffi.new("struct softmetal_report *")
    while native.softmetal_take_report(entry):
        found.append(_report(native, entry, named))
    return found


def _report(native: Native, entry: Any, named: dict[str, Any]) -> Report:
    kind = KINDS[entry.fault - 1]
    kernel, brace, constants = native.text(entry.kernel).partition("{")
    region = None
    name = native.text(entry.region)
    if name:
        offset, size = int(entry.offset), int(entry.region_bytes)
        region = Region(name, offset, size, _element(native, named.get(name), offset, size))
    detail = f": the type asks for {entry.alignment}" if kind == MISALIGNED else ""
    if entry.other_barrier:
        detail = ": the barrier between is not one for this memory"
    if kind in (OUT_OF_BOUNDS, THREADGROUP_OVERRUN) and region is not None and not region.is_outside:
        detail = ": it ends before the access does"
    if kind == THREADGROUP_LENGTH:
        detail = ": a length of threadgroup memory is a multiple of 16"
    first = _party(native, entry.first)
    second = _party(native, entry.second) if entry.second.access else None
    return Report(kind, kernel, brace + constants, first, second, region, detail, int(entry.count))


def _party(native: Native, party: Any) -> Party:
    x, y, z = (int(n) for n in party.threadgroup)
    return Party(
        (x, y, z),
        int(party.simdgroup),
        int(party.lane),
        _access(native, int(party.access)),
        int(party.line),
        int(party.column),
        int(party.bytes),
        native.text(party.text),
    )


def _access(native: Native, access: int) -> str:
    if access & native.SOFTMETAL_BARRIER:
        return "waits"
    if access & native.SOFTMETAL_RETURNED:
        return "returned"
    both = native.SOFTMETAL_READ | native.SOFTMETAL_WRITE
    verbs = {0: "", native.SOFTMETAL_READ: "reads", native.SOFTMETAL_WRITE: "writes", both: "updates"}
    atomically = "atomically " if access & native.SOFTMETAL_ATOMIC else ""
    return atomically + verbs[access & both]


def _element(native: Native, tensor: Any, offset: int, size: int) -> tuple[int, ...] | None:
    if tensor is None or not 0 <= offset < size or native.ggml_blck_size(tensor.type) != 1:
        return None
    index = []
    for axis in reversed(range(native.ggml_n_dims(tensor))):
        index.append(offset // int(tensor.nb[axis]))
        offset %= int(tensor.nb[axis])
    return tuple(index)
