"""Draws for copies."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..draws import Arguments, draws, leaf, one_of
from ..recipes import changed, op
from ..rows import Row
from ..shapes import fitted, seldom
from ..tensor_types import types_of


@draws("cpy")
def cpy(row: Row) -> SearchStrategy[Arguments]:
    types = st.sampled_from(types_of(row))
    usual = one_of("f32", "f16", "bf16", "i32", "q8_0")
    return st.one_of(st.tuples(usual, types), st.tuples(types, usual), st.tuples(types, types))


@draws("get_rows")
@draws("repeat")
@draws("concat")
def one_type(row: Row) -> SearchStrategy[Arguments]:
    return st.tuples(st.sampled_from(types_of(row)))


@draws("set_rows")
def set_rows(row: Row) -> SearchStrategy[Arguments]:
    types = st.sampled_from(types_of(row))
    values_types = one_of("f32", "f32", "f16") if row >= Row.V0_20_2 else one_of("f32")
    index_types = one_of("i64", "i32")
    shapes = one_of((1, 1, 1, 1), (32, 3, 1, 1), (256, 5, 2, 1), (512, 2, 2, 3), (33, 7, 1, 1))

    @st.composite
    def arguments(draw: Any) -> Arguments:
        target = draw(types)
        ne = fitted(target, draw(shapes))
        n = draw(one_of(1, 2, 5))
        values = leaf(draw, draw(values_types), (ne[0], n, ne[2], ne[3]), rows=True)
        indices = leaf(draw, draw(index_types), (n, ne[2], ne[3]))
        made = op("set_rows", leaf(draw, target, ne, rows=True), values, indices)
        return (changed(made, type=draw(one_of("f32", "i32", "q4_0"))) if seldom(draw) else made,)

    return arguments()
