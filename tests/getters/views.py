"""An op tensor as plain data: what a rule may look at. Written without the library's own helpers."""

import math
from dataclasses import dataclass
from typing import Any

import ggml_metal_py as gm

from .rows import Row
from .tensor_types import NAMES, TYPES, row_bytes

MAX_SRC = 10


@dataclass(frozen=True)
class OpView:
    """A tensor: op and types by ggml's names, ne and nb innermost first, op_params as int32, its sources."""

    op: str
    """`MUL_MAT`; `NONE` for a leaf."""
    desc: str
    """As `op`, but the name of the unary or GLU op where it is one: `GELU`, `SWIGLU_OAI`."""
    type: str
    """`q4_0`."""
    ne: tuple[int, ...]
    nb: tuple[int, ...]
    params: tuple[int, ...]
    src: "tuple[OpView | None, ...]"
    """Always 10 long; sources of sources are left out."""

    def sources(self, count: int) -> "tuple[OpView, ...]":
        """The first sources, which an op of this kind has."""
        found = [source for source in self.src[:count] if source is not None]
        assert len(found) == count, f"{self.op} has no {count} sources"
        return tuple(found)

    @property
    def nelements(self) -> int:
        return math.prod(self.ne)

    @property
    def nrows(self) -> int:
        return math.prod(self.ne[1:])

    @property
    def is_contiguous(self) -> bool:
        """Values in order and without gaps; strides of axes of length 1 do not count."""
        return self._rows_are_packed and self._packed(row_bytes(self.type, self.ne[0]), 1)

    def is_contiguous_1(self, row: Row) -> bool:
        """As `is_contiguous`, but rows may have gaps between them, all alike."""
        if not self._rows_are_packed:
            return False
        if self.ne[1] == 1 and row < Row.V0_9_8:  # later, nb[1] counts even when there is only one row
            return self._packed(row_bytes(self.type, self.ne[0]), 2)
        return self._packed(self.ne[1] * self.nb[1], 2)

    @property
    def is_contiguous_rows(self) -> bool:
        """Each row is packed, whatever lies between rows."""
        return self._rows_are_packed

    @property
    def _rows_are_packed(self) -> bool:
        known = TYPES[self.type]
        return self.ne[0] == known.block or self.nb[0] == known.bytes

    def _packed(self, stride: int, axis: int) -> bool:
        for n, nb in zip(self.ne[axis:], self.nb[axis:], strict=True):
            if n != 1 and nb != stride:
                return False
            stride *= n
        return True


def view_of(tensor: gm.Tensor) -> OpView:
    """The tensor's struct, read field by field."""
    return _view(tensor._native, tensor._use(), MAX_SRC)


def _view(native: Any, struct: Any, sources: int) -> OpView:
    null = native.ffi.NULL
    found = [struct.src[i] for i in range(sources)]
    src = [None if pointer == null else _view(native, pointer, 0) for pointer in found]
    return OpView(
        op=native.text(native.ggml_op_name(struct.op)),
        desc=native.text(native.ggml_op_desc(struct)),
        type=NAMES[int(struct.type)],
        ne=tuple(struct.ne),
        nb=tuple(struct.nb),
        params=tuple(struct.op_params),
        src=(*src, *[None] * (MAX_SRC - len(src))),
    )
