"""Draws for copies."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..draws import Arguments, draws, leaf, one_of
from ..recipes import changed, op
from ..rows import Row
from ..shapes import fitted, seldom
from ..tensor_types import types_of

_STORED = ("q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "iq4_nl")
"""What upstream copies floats into."""


@draws("cpy")
def cpy(row: Row) -> SearchStrategy[Arguments]:
    plain = ("f32", "f16", "bf16", "i32", "i64")
    likely = [(a, b) for a in plain for b in plain] + [("f32", b) for b in _STORED]
    likely += [(a, b) for a in _STORED for b in ("f32", "f16")]
    every = [(a, b) for a in types_of(row) for b in types_of(row)]
    return st.sampled_from(likely * (len(every) // len(likely)) + every)


@draws("get_rows")
@draws("repeat")
@draws("concat")
def one_type(row: Row) -> SearchStrategy[Arguments]:
    return st.tuples(st.sampled_from(types_of(row)))


@draws("set_rows")
def set_rows(row: Row) -> SearchStrategy[Arguments]:
    types = st.sampled_from([*types_of(row), *("f32", "f16", "bf16", *_STORED) * 4])
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
