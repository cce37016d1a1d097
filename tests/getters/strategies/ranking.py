"""Draws for sorting, the greatest values and the choice of experts."""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..draws import Arguments, Draw, blocks_near, draws, leaf, near, one_of
from ..recipes import Recipe, changed, op
from ..rows import Row
from ..tensor_types import types_of


def _values(draw: Draw, row: Row, *, matrix: bool = False) -> Recipe:
    type = draw(one_of(*["f32"] * 60, *types_of(row)))
    more = (1, 1) if matrix else draw(one_of((1, 1), (2, 1), (3, 2)))
    return leaf(draw, type, (draw(blocks_near(type, 32, 128, 1024)), draw(near()), *more))


def _sorted(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        order = draw(one_of(*[0, 1] * 4, 2, -1))
        made = op("argsort", _values(draw, row), order & 1)
        return (made if order in (0, 1) else changed(made, params={0: order}),)

    return arguments()


def _greatest(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        values = _values(draw, row)
        return (op("top_k", values, draw(one_of(1, min(5, values.ne[0]), values.ne[0]))),)

    return arguments()


draws("argsort")(_sorted)
draws("argsort_merge")(_sorted)
draws("top_k")(_greatest)
draws("top_k_merge")(_greatest)
draws("top_k_radix")(_greatest)


@draws("argmax")
def argmax(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        return (op("argmax", _values(draw, row, matrix=True)),)

    return arguments()


@draws("topk_moe")
def topk_moe(row: Row) -> SearchStrategy[Arguments]:
    experts = near(16, 32, 64, 128, 256, 512)
    return st.tuples(experts, one_of(1, 2, 4, 6, 8, 10, 16, 2**31 - 1), st.booleans())


@draws("moe_reduce")
def moe_reduce(row: Row) -> SearchStrategy[Arguments]:
    return st.tuples(st.one_of(near(16, 32), st.integers(-(2**31), 2**31 - 1)))
