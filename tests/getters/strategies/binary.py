"""Draws for add, sub, mul, div."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..draws import Arguments, draws, leaf, one_of
from ..model.binary import ROW_LIMIT
from ..recipes import changed, op, tensor
from ..rows import Row
from ..shapes import SMALL, Shape, around, seldom, tidy, typed

_TYPES = (*["f32"] * 6, "f16", "bf16", "q8_0")
_SHAPES = (*SMALL, *around(ROW_LIMIT), (2**31, 1, 1, 1))
_FUSED = one_of(1, 1, 1, 1, *range(1, 9), *range(1, 9), 9, 0, -1, 2**15 - 1, 2**15, 2**16 + 1, -(2**31))
_NAMES = one_of("add", "sub", "mul", "div")
_OPS = one_of(
    *("ADD", "SUB", "MUL", "DIV", "ADD_ID", "CONCAT", "ACC", "ADD1", "MUL_MAT", "NONE", "REPEAT", "SUM"),
    *("MUL_MAT_ID", "SCALE", "SET", "CPY", "GLU", "UNARY", "SQR", "OUT_PROD", "NORM", "POOL_1D", "CUSTOM"),
)


def _repeated(ne: Shape, how: str) -> Shape:
    """A shape of src1 that can be repeated to ne."""
    if how == "row":
        return ne[0], 1, 1, 1
    if how == "column":
        return 1, ne[1], ne[2], ne[3]
    if how == "one":
        return 1, 1, 1, 1
    if how == "half" and ne[0] % 2 == 0:
        return ne[0] // 2, 1, 1, 1
    return ne


@draws("bin")
def bin(row: Row) -> SearchStrategy[Arguments]:
    hows = one_of("row", "same", "column", "one", "half")

    @st.composite
    def arguments(draw: Any) -> Arguments:
        type, ne = draw(typed(_TYPES, _SHAPES))
        a = leaf(draw, type, ne) if draw(one_of(False, True)) else tensor(type, *ne)
        how = draw(hows)
        b = tidy(draw, draw(one_of(*["f32"] * 5, "f16")), _repeated(ne, how))
        if how == "row" and seldom(draw):
            b = changed(b, nb=(8, *[8 * ne[0]] * 3))  # one row, every second value of a longer one
        return op(draw(_NAMES), a, b), draw(_FUSED)

    return arguments()


@draws("bin_one")
def bin_one(row: Row) -> SearchStrategy[Arguments]:
    return st.tuples(_OPS)


@draws("base")
def base(row: Row) -> SearchStrategy[Arguments]:
    return st.tuples(_OPS)
