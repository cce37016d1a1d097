"""Computes a case on the device and on ggml's CPU backend, and says what came of it."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..backend import Backend
from ..errors import ComputeError, GgmlAbort, KernelNotFound, NotInUpstream, UnsupportedOp
from ..select import Selector
from ..tensor import Tensor, Type, block_size, decode, encode, type_size
from . import compare, findings
from .build import Built, values_of
from .case import Case
from .compare import Difference
from .expression import Call, Leaf
from .graph import Node, computed
from .reference import Reference, needs_wide
from .thresholds import limit

if TYPE_CHECKING:
    from ..device import Device

OK, FAILED, UNSUPPORTED, FINDING, ABSENT = "ok", "failed", "unsupported", "finding", "absent"

_ROOM = 128
"""Tensors in a case, helpers of ggml's included."""
_GUARD = 64
"""Values behind the results, which nobody may touch."""


@dataclass(frozen=True)
class Outcome:
    """What came of a case."""

    case: Case
    status: str
    """`ok`; `failed`; `unsupported` by the device; `finding`: wrong, as the list of findings says; `absent`:
    the row lacks a function, one with so many arguments, or a type."""
    problem: str = ""
    """Why it is not ok: `wrong: ..`, `no kernel: ..`, `abort: ..`, `device: ..`,
    `no reference: ..`, `invalid: ..`."""
    error: float | None = None
    limit: float | None = None
    kernels: tuple[str, ...] = ()
    """Host names that upstream dispatched, each once."""
    nodes: tuple[Node, ...] = field(default=(), repr=False)
    """What the graph computes."""
    wide: bool = False
    """Whether the reference was computed in f32, because ggml's CPU backend does not do it otherwise."""
    finding: str = ""


class Runner:
    """Runs cases. Use it as a context manager."""

    def __init__(self, device: "Device") -> None:
        self.device = device
        self._backend: Backend | None = None
        self._cpu: Backend | None = None
        self._selector = Selector(device)

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, *exception: object) -> None:
        self._selector.close()
        for backend in (self._backend, self._cpu):
            if backend is not None:
                backend.close()

    def run(self, case: Case) -> Outcome:
        """Never raises for what a case does; whatever goes wrong is in the Outcome."""
        outcome = self._run(case)
        return findings.apply(self.device, outcome) if outcome.status in (OK, FAILED) else outcome

    def _run(self, case: Case) -> Outcome:
        known = Outcome(case, FAILED)
        with self.device.context(_ROOM) as context:
            try:
                built = Built(context, case.tree)
                values = values_of(context, case.text, case.tree)
            except NotInUpstream as error:
                return replace(known, status=ABSENT, problem=str(error))
            except TypeError as error:
                return replace(known, status=_absent(error), problem=f"invalid: {error}")
            except (GgmlAbort, ValueError) as error:
                return replace(known, problem=f"invalid: {error}")
            known = replace(known, nodes=tuple(computed(context)))
            try:
                found = self._on_device(built, values)
            except UnsupportedOp as error:
                return replace(known, status=UNSUPPORTED, problem=str(error))
            except KernelNotFound as error:
                return replace(known, problem=f"no kernel: {error.name}")
            except GgmlAbort as error:
                return replace(known, problem=f"abort: {error}")
            except ComputeError as error:
                return replace(known, problem=f"device: {error}")
            known = replace(known, kernels=found.kernels, limit=_limit(known.nodes))
            try:
                return self._compared(known, case, found, values)
            except (GgmlAbort, UnsupportedOp) as error:
                return replace(known, problem=f"no reference: {error}")

    # ---- the two sides

    def _on_device(self, built: Built, values: list[bytes]) -> "_Found":
        with _opened(self, "_backend", self.device.backend) as backend:
            guard = built.context.new_tensor(Type.I32, (_GUARD,))
            if not backend.supports_op(built.result):
                raise UnsupportedOp(f"{backend.name} does not support {built.result!r}")
            backend.alloc(built.context).clear(built.unwritten)
            built.store(values)
            guard._set_bytes(bytes(range(_GUARD)) * 4)
            kernels = [dispatch.pipeline.base for dispatch in self._selector.dispatches(built.result)]
            backend.compute(built.result)
            intact = guard._get_bytes() == bytes(range(_GUARD)) * 4
            return _Found(built, tuple(dict.fromkeys(kernels)), intact)

    def _compared(self, known: Outcome, case: Case, found: "_Found", values: list[bytes]) -> Outcome:
        if not needs_wide(case.tree):
            with suppress(GgmlAbort, UnsupportedOp):
                return self._against(known, case, found, values, wide=False)
        return self._against(known, case, found, values, wide=True)

    def _against(
        self, known: Outcome, case: Case, found: "_Found", values: list[bytes], *, wide: bool
    ) -> Outcome:
        with _opened(self, "_cpu", self.device.cpu_backend) as cpu, self.device.context(_ROOM) as context:
            reference = Reference(context, case.tree, wide=wide)
            context.new_tensor(Type.I32, (_GUARD,))  # there is something to allocate, even for empty tensors
            cpu.alloc(context).clear(reference.unwritten)
            reference.store(values)
            cpu.compute(reference.result)
            difference = _difference(case, found, reference, values, known.limit or 0.0)
        status = FAILED if difference.problem else OK
        problem = f"wrong: {difference.problem}" if difference.problem else ""
        return replace(known, status=status, problem=problem, error=difference.error, wide=wide)


@dataclass(frozen=True)
class _Found:
    """What the device made."""

    built: Built
    kernels: tuple[str, ...]
    intact: bool


@contextmanager
def _opened(runner: Runner, name: str, make: Callable[[], Backend]) -> Iterator[Backend]:
    """The runner's backend of that name; an abort or a failure ends it, and the next case gets a new one."""
    backend = getattr(runner, name)
    if backend is None:
        backend = make()
        setattr(runner, name, backend)
    try:
        yield backend
    except (GgmlAbort, KernelNotFound, ComputeError):
        if backend._poison is not None:
            setattr(runner, name, None)
            backend.close()
        raise


def _absent(error: TypeError) -> str:
    """Functions get more arguments from row to row: a call with another number of them is for other rows."""
    return ABSENT if re.search(r"takes \d+ arguments", str(error)) else FAILED


# ---- comparing


def _difference(
    case: Case, found: _Found, reference: Reference, values: list[bytes], limit: float
) -> Difference:
    if not found.intact:
        return Difference(float("inf"), "memory behind the results was written")
    touched = _wrong_leaf(found.built, reference, values, limit)
    if touched:
        return Difference(float("inf"), touched)
    result, wanted = found.built.result.numpy(), _as(found.built.result, reference.result)
    index = _INDEX_OPS.get(getattr(case.tree, "name", ""))
    if index is not None and isinstance(case.tree, Call):
        source = case.tree.arguments[0]
        assert isinstance(source, Leaf | Call)
        return index(result, wanted, reference.tensor(source).numpy())
    return compare.difference(result, wanted, limit)


_INDEX_OPS = {
    "argsort": compare.same_order,
    "argsort_top_k": compare.same_order,
    "top_k": compare.same_choice,
    "argmax": compare.same_value,
}


def _wrong_leaf(built: Built, reference: Reference, values: list[bytes], limit: float) -> str:
    """What is wrong with a leaf that the device changed; ops may write into one, and beside."""
    for (leaf, tensor), (_, wanted), data in zip(built.leaves, reference.leaves, values, strict=True):
        now = tensor._get_bytes()
        if now == data:
            continue
        if wanted._get_bytes() == reference.stored(leaf, data):
            return f"{leaf} was written, and is no result"
        problem = compare.difference(tensor.numpy(), _as(tensor, wanted), limit).problem
        if problem:
            return f"{leaf} was written: {problem}"
    return ""


def _as(like: Tensor, reference: Tensor) -> Any:
    """The reference's values, rounded to the type of the other one."""
    values = reference.numpy()
    kind = like.type
    if kind is reference.type:
        return values
    native = like._native
    data = encode(native, values, kind)
    count = len(data) // type_size(native, kind) * block_size(native, kind)
    return decode(native, data, kind, count).reshape(values.shape)


def _limit(nodes: Iterable[Node]) -> float:
    """Of a graph of several ops, the widest."""
    return max((limit(node) for node in nodes), default=0.0)
