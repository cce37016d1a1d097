"""Draws for matrix times matrix."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..draws import Arguments, blocks_near, draws, leaves, near
from ..recipes import op
from ..rows import Row
from ..tensor_types import types_of


@draws("mul_mm")
def mul_mm(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        type = draw(st.sampled_from(types_of(row)))
        k = draw(blocks_near(type, 32, 64))
        m, n = draw(near(64, 128)), draw(near(32, 64))
        a = draw(leaves(type, (k, m), rows=True))
        b = draw(leaves("f32", (k, n)))
        return (op("mul_mat", a, b),)

    return arguments()
