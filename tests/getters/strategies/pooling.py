"""Draws for pooling."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..draws import Arguments, draws, one_of
from ..recipes import changed, op
from ..rows import Row
from ..shapes import seldom, tidy

_TYPES = one_of(*["f32"] * 6, "f16", "i32")
_POOLS = one_of("AVG", "MAX")


@draws("pool_1d")
def pool_1d(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        a = tidy(draw, draw(_TYPES), (draw(one_of(4, 5, 64)), draw(one_of(1, 3)), 2))
        made = op("pool_1d", a, draw(one_of(0, 1)), draw(one_of(1, 2, 4)), draw(one_of(1, 2)), 0)
        return changed(made, type="f16") if seldom(draw) else made, draw(_POOLS)

    return arguments()


@draws("pool_2d")
def pool_2d(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        a = tidy(draw, draw(_TYPES), (draw(one_of(4, 5, 64)), draw(one_of(2, 3)), 2, draw(one_of(1, 2))))
        window = draw(one_of((1, 1, 1, 1), (2, 2, 2, 2), (4, 1, 1, 2)))
        made = op("pool_2d", a, draw(one_of(0, 1)), *window, 0.0, 0.0)
        return changed(made, type="f16") if seldom(draw) else made, draw(_POOLS)

    return arguments()
