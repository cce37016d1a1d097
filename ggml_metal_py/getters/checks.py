"""Checks that several mirrors share: of arguments, and of what the getter reads of an op's sources."""

from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

from .._handle import pinned
from .._native import Native
from ..enums import Op
from ..errors import NotInUpstream
from ..tensor import Tensor
from .base import PREFIX, Getters

_RESULT = -1
_INT32 = 2**31 - 128
"""The highest axis that upstream can round up in 32 bits; it rounds up to at most 128."""

# Getters that take axes of these sources as 32-bit numbers and then divide by them (which ends the process at
# 0) or multiply them. ggml's constructors do not stop an axis of 2**32, which they would read as 0.
_COUNTED: dict[str, tuple[tuple[int, ...], int]] = {
    "mul_mm": ((0, 1), _INT32),
    "mul_mv": ((0, 1), _INT32),
    "mul_mv_ext": ((0, 1), _INT32),
    "mul_mv_id": ((0, 1), _INT32),
    "flash_attn_ext": ((1, 2), _INT32),
    "flash_attn_ext_vec": ((1, 2), _INT32),
    "ssm_conv": ((1,), _INT32),
    "ssm_conv_batched": ((1,), _INT32),
    "ssm_scan": ((0,), _INT32),
    "rwkv": ((0,), _INT32),
    "gated_delta_net": ((2, 3, _RESULT), _INT32),
    "dsv4_hc": ((0,), _INT32),
    "diag": ((0,), _INT32),
    "solve_tri": ((1,), 2**28 - 32),
}

_types: dict[tuple[Native, str], tuple[str, ...]] = {}


class Source(NamedTuple):
    """What mirrors read of a source of an op."""

    type: int
    ne: tuple[int, ...]
    nb: tuple[int, ...]
    is_contiguous: bool


class Checked(Getters):
    """The base of the families."""

    def _check_op(self, getter: str, op: Tensor, ops: Sequence[Op]) -> None:
        super()._check_op(getter, op, ops)
        with pinned(op.context._reachable()):  # the getter reads the sources, too
            indices, highest = _COUNTED.get(getter, ((), 0))
            for index in indices:
                tensor = op._use() if index == _RESULT else op._use().src[index]
                ne = [int(n) for n in tensor.ne]
                if not all(1 <= n <= highest for n in ne):
                    what = "the result" if index == _RESULT else f"src{index}"
                    raise ValueError(
                        f"get_pipeline_{getter} takes axes of 1..{highest}, {what} of {op!r} has ne {ne}"
                    )

    def _source(self, op: Tensor, index: int) -> Source:
        """A source of an op that was checked and has it."""
        with pinned(op.context._reachable()):
            tensor = op._use().src[index]
            return Source(
                int(tensor.type),
                tuple(int(n) for n in tensor.ne),
                tuple(int(n) for n in tensor.nb),
                bool(self._native.ggml_is_contiguous(tensor)),
            )

    def _need_source(self, getter: str, op: Tensor, ops: Sequence[Op], index: int, what: str) -> None:
        """Raises ValueError when an op of the right kind lacks an optional source."""
        if isinstance(op, Tensor) and op._use().src[index] == op._native.ffi.NULL:
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
        known = _types.get((self._native, getter))
        if known is None:
            self._require(getter)
            known = _types[self._native, getter] = self._native.argument_types(PREFIX + getter)
        return known

    def _arity(self, getter: str) -> int:
        return len(self._argument_types(getter))

    def _lacks(self, getter: str, argument: str, value: Any) -> NoReturn:
        raise NotInUpstream(
            f"get_pipeline_{getter} of upstream {self._native.row} has no {argument}, "
            f"and does not do what {argument}={value!r} asks for"
        )
