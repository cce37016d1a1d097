"""Checks that several mirrors share: of arguments, and of what the getter reads of an op."""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple, NoReturn

from .._handle import pinned
from .._native import Native
from ..enums import Op
from ..errors import NotInUpstream
from ..tensor import Tensor
from .base import PREFIX, Getters
from .reads import READS, RESULT, Reads


@cache
def _argument_types(native: Native, name: str) -> tuple[str, ...]:
    return native.argument_types(name)


class Source(NamedTuple):
    """What mirrors read of a source of an op, or of its result."""

    op: int
    type: int
    ne: tuple[int, ...]
    nb: tuple[int, ...]


class Checked(Getters):
    """The base of the families."""

    def _check_op(self, getter: str, op: Tensor, ops: Sequence[Op]) -> None:
        super()._check_op(getter, op, ops)
        reads = READS.get(getter, Reads())
        null = self._native.ffi.NULL
        with pinned(op.context._reachable()):  # sources may be another context's, which must be open
            result = op._use()
            for index in reads.sources:
                if result.src[index] == null:
                    raise ValueError(f"get_pipeline_{getter}: {op!r} has no src{index}")
            for index in reads.counted:
                tensor = result if index == RESULT else result.src[index]
                ne = [int(n) for n in tensor.ne]
                if min(ne) < 1 or max(ne) > reads.highest:
                    what = "the result" if index == RESULT else f"src{index}"
                    raise ValueError(
                        f"get_pipeline_{getter} takes axes of 1..{reads.highest}; {what} of {op!r} has {ne}"
                    )
            for index in reads.strided:
                if result.src[index].nb[0] == 0:
                    raise ValueError(f"get_pipeline_{getter}: src{index} of {op!r} has a stride nb0 of 0")

    def _has_source(self, op: Tensor, index: int) -> bool:
        with pinned([op.context]):
            return bool(op._use().src[index] != op._native.ffi.NULL)

    def _source(self, op: Tensor, index: int) -> Source:
        """A source of an op that was checked and has it."""
        with pinned(op.context._reachable()):
            tensor = op._use() if index == RESULT else op._use().src[index]
            return Source(
                int(tensor.op),
                int(tensor.type),
                tuple(int(n) for n in tensor.ne),
                tuple(int(n) for n in tensor.nb),
            )

    def _need_source(self, getter: str, op: Tensor, ops: Sequence[Op], index: int, what: str) -> None:
        """Raises ValueError when an op of the right kind lacks an optional source."""
        if isinstance(op, Tensor) and not self._has_source(op, index):
            self._check_op(getter, op, ops)
            raise ValueError(f"get_pipeline_{getter}: {op!r} has no {what} (src{index})")

    def _flag(self, what: str, value: bool) -> bool:
        if value is True or value is False:
            return value
        # numpy's bool and C's 0 and 1
        if isinstance(value, str) or not hasattr(value, "__bool__") or value not in (0, 1):
            raise TypeError(f"{what} is True or False, not {value!r}")
        return bool(value)

    def _argument_types(self, getter: str) -> tuple[str, ...]:
        """C types of the arguments in this row, the library included."""
        self._require(getter)
        return _argument_types(self._native, PREFIX + getter)

    def _arity(self, getter: str) -> int:
        return len(self._argument_types(getter))

    def _lacks(self, getter: str, argument: str, value: Any) -> NoReturn:
        raise NotInUpstream(
            f"get_pipeline_{getter} of upstream {self._native.row} has no {argument}, "
            f"and does not do what {argument}={value!r} asks for"
        )
