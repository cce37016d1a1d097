"""Computes a case on the device and on ggml's CPU backend, and says what came of it."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from ..backend import Backend
from ..errors import ComputeError, GgmlAbort, KernelNotFound, NotInUpstream, UnsupportedOp
from ..select import Dispatch
from ..tensor import MAX_DIMS, Context, Tensor, Type, block_size, decode, encode_as_ops_do, type_size
from . import compare, findings
from .build import Built, values_of
from .case import Case
from .compare import Difference
from .expression import Call, Leaf
from .graph import Node, computed
from .machine import Computed, Machine
from .reference import Reference, needs_wide
from .thresholds import limit

if TYPE_CHECKING:
    from ..device import Device

OK, FAILED, UNSUPPORTED, FINDING, ABSENT = "ok", "failed", "unsupported", "finding", "absent"
REFUSED = "refused"

NO_RESULT = "was written, and is no result"
"""Part of what is said of a write into a source."""
_ROOM = 128
"""Tensors in a case, helpers of ggml's included."""
_ROOM_BEHIND = 1024
"""Values behind the results of the reference, which writes there, too, sometimes."""


@dataclass(frozen=True)
class Outcome:
    """What came of a case."""

    case: Case
    status: str
    """`ok`; `failed`; `unsupported` by the device; `finding`: wrong, as the list of findings says; `absent`:
    the row lacks a function, one with so many arguments, or a type; `refused`: see Runner."""
    problem: str = ""
    """Why it is not ok: `wrong: ..`, `no kernel: ..`, `abort: ..`, `device: ..`,
    `no reference: ..`, `invalid: ..`."""
    error: float | None = None
    limit: float | None = None
    kernels: tuple[str, ...] = ()
    """Host names that upstream dispatched, each once."""
    dispatches: tuple[Dispatch, ...] = field(default=(), repr=False)
    nodes: tuple[Node, ...] = field(default=(), repr=False)
    """What the graph computes."""
    wide: bool = False
    """Whether the reference was computed in f32, because ggml's CPU backend does not do it otherwise."""
    finding: str = ""


@dataclass(frozen=True)
class Snapshot:
    """What a graph has made: its result, and what its leaves hold now."""

    result: npt.NDArray[Any]
    leaves: tuple[bytes, ...]


class Opened:
    """A case that was run, and whose tensors are still there."""

    def __init__(self, outcome: Outcome, computed: Computed | None = None, values: list[bytes] | None = None):
        self.outcome = outcome
        self._computed = computed
        self._values = values or []

    @property
    def values(self) -> list[bytes]:
        """What its leaves hold before."""
        return self._values

    @cached_property
    def first(self) -> Snapshot:
        """What the device made of it at first."""
        return self._snapshot()

    def again(self, machine: Machine, unwritten: int | None = None) -> Snapshot:
        """What a machine makes of it, in memory of other bytes: see Machine.compute. Raises as that does."""
        assert self._computed is not None, "it did not run"
        _ = self.first
        machine.repeat(self._computed, self._values, unwritten)
        return self._snapshot()

    def _snapshot(self) -> Snapshot:
        assert self._computed is not None, "it did not run"
        built = self._computed.built
        return Snapshot(built.result.numpy(), tuple(bytes(tensor._get_bytes()) for _, tensor in built.leaves))


class Runner:
    """Runs cases, on a machine of its own or on one that is given to it. Use it as a context manager.

    `refuse` may say of a graph that is made that it must not run, because that would end the process.
    """

    def __init__(
        self,
        device: "Device",
        machine: Machine | None = None,
        refuse: Callable[[Outcome], bool] = lambda outcome: False,
    ) -> None:
        self.device = device
        self._refuse = refuse
        self._machine = machine or Machine(device)
        self._cpu: Backend | None = None

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, *exception: object) -> None:
        self._machine.close()
        if self._cpu is not None:
            self._cpu.close()

    def run(self, case: Case) -> Outcome:
        """Never raises for what a case does; whatever goes wrong is in the Outcome."""
        with self.opened(case) as opened:
            return opened.outcome

    @contextmanager
    def opened(self, case: Case) -> Iterator[Opened]:
        """Run a case, and keep its tensors for the block. As `run`, raises for nothing."""
        with self.device.context(_ROOM) as context:
            opened = self._run(Outcome(case, FAILED), case, context)
            if opened.outcome.status in (OK, FAILED):
                opened.outcome = findings.apply(self.device, opened.outcome)
            yield opened

    @contextmanager
    def built(self, case: Case) -> Iterator[Outcome]:
        """What the graph of a case computes; nothing runs."""
        with self.device.context(_ROOM) as context:
            Built(context, case.tree)
            yield Outcome(case, FAILED, nodes=tuple(computed(context)))

    def _run(self, known: Outcome, case: Case, context: Context) -> Opened:
        try:
            built = Built(context, case.tree)
            values = values_of(context, case.text, case.tree)
        except NotInUpstream as error:
            return Opened(replace(known, status=ABSENT, problem=str(error)))
        except TypeError as error:
            return Opened(replace(known, status=_absent(error), problem=f"invalid: {error}"))
        except (GgmlAbort, ValueError) as error:
            return Opened(replace(known, problem=f"invalid: {error}"))
        known = replace(known, nodes=tuple(computed(context)))
        if self._refuse(known):
            return Opened(replace(known, status=REFUSED))
        try:
            found = self._machine.compute(built, values)
        except UnsupportedOp as error:
            return Opened(replace(known, status=UNSUPPORTED, problem=str(error)))
        except KernelNotFound as error:
            return Opened(replace(known, problem=f"no kernel: {error.name}"))
        except GgmlAbort as error:
            return Opened(replace(known, problem=f"abort: {error}"))
        except ComputeError as error:
            return Opened(replace(known, problem=f"device: {error}"))
        known = replace(known, kernels=found.kernels, dispatches=found.dispatches, limit=_limit(known.nodes))
        try:
            known = self._compared(known, case, found, values)
        except (GgmlAbort, UnsupportedOp) as error:
            known = replace(known, problem=f"no reference: {error}")
        return Opened(known, found, values)

    # ---- the other side

    def _compared(self, known: Outcome, case: Case, found: Computed, values: list[bytes]) -> Outcome:
        if not needs_wide(case.tree):
            with suppress(GgmlAbort, UnsupportedOp):
                return self._against(known, case, found, values, wide=False)
        return self._against(known, case, found, values, wide=True)

    def _against(
        self, known: Outcome, case: Case, found: Computed, values: list[bytes], *, wide: bool
    ) -> Outcome:
        with self._opened_cpu() as cpu, self.device.context(_ROOM) as context:
            reference = Reference(context, case.tree, wide=wide)
            context.new_tensor(Type.I32, (_ROOM_BEHIND,))
            cpu.alloc(context).clear(reference.unwritten)
            reference.store(values)
            cpu.compute(reference.result)
            difference = _difference(case, found, reference, values, known.limit or 0.0)
        status = FAILED if difference.problem else OK
        problem = f"wrong: {difference.problem}" if difference.problem else ""
        return replace(known, status=status, problem=problem, error=difference.error, wide=wide)

    @contextmanager
    def _opened_cpu(self) -> Iterator[Backend]:
        """The backend; an abort ends it, and the next case gets a new one."""
        if self._cpu is None:
            self._cpu = self.device.cpu_backend()
        try:
            yield self._cpu
        except GgmlAbort:
            if self._cpu._poison is not None:
                self._cpu.close()
                self._cpu = None
            raise


def _absent(error: TypeError) -> str:
    """Functions get more arguments from row to row: a call with another number of them is for other rows."""
    return ABSENT if re.search(r"takes \d+ arguments", str(error)) else FAILED


# ---- comparing


def _difference(
    case: Case, found: Computed, reference: Reference, values: list[bytes], limit: float
) -> Difference:
    if found.stray:
        return Difference(float("inf"), found.stray)
    touched = _wrong_leaf(found.built, reference, values, limit)
    if touched:
        return Difference(float("inf"), touched)
    result, wanted = found.built.result.numpy(), _as(found.built.result, reference.result)
    index = _INDEX_OPS.get(getattr(case.tree, "name", ""))
    if index is not None and isinstance(case.tree, Call):
        source = case.tree.arguments[0]
        assert isinstance(source, Leaf | Call)
        arrays = result, wanted, reference.tensor(source).numpy()
        if all(array.size for array in arrays):
            return index(*map(_all_axes, arrays))
    return compare.difference(result, wanted, limit, in_steps=_in_steps(found.built.result))


def _all_axes(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """With four axes: sources and results need not have as many of them."""
    return values.reshape(*[1] * (MAX_DIMS - values.ndim), *values.shape)


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
            return f"{leaf} {NO_RESULT}"
        rounded = _in_steps(tensor)
        problem = compare.difference(tensor.numpy(), _as(tensor, wanted), limit, in_steps=rounded).problem
        if problem:
            return f"{leaf} was written: {problem}"
    return ""


def _in_steps(tensor: Tensor) -> bool:
    return block_size(tensor._native, tensor.type) > 1


def _as(like: Tensor, reference: Tensor) -> Any:
    """The reference's values, rounded to the type of the other one."""
    values = reference.numpy()
    kind = like.type
    if kind is reference.type:
        return values
    native = like._native
    data = encode_as_ops_do(native, values, kind)
    count = len(data) // type_size(native, kind) * block_size(native, kind)
    return decode(native, data, kind, count).reshape(values.shape)


def _limit(nodes: Iterable[Node]) -> float:
    """Of a graph of several ops, the widest."""
    return max((limit(node) for node in nodes), default=0.0)
