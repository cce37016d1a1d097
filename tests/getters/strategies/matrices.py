"""Draws for matrix times matrix."""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..draws import Arguments, Draw, blocks_near, draws, leaf, near, one_of
from ..recipes import op
from ..rows import Row
from ..tensor_types import types_of


@draws("mul_mm")
def mul_mm(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        type = draw(one_of(*types_of(row)))
        k = draw(blocks_near(type, 32, 64))
        m, n = draw(near(64, 128)), draw(near(32, 64))
        a = leaf(draw, type, (k, m), rows=True)
        b = leaf(draw, "f32", (k, n))
        return (op("mul_mat", a, b),)

    return arguments()
