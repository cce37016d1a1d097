"""Draws for the optimisers' steps."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..draws import Arguments, draws, leaf
from ..recipes import changed, op, tensor
from ..rows import Row
from ..shapes import NUMBERS, SMALL, typed

_TRAINED = 4
"""GGML_TENSOR_FLAG_PARAM: the constructors want it on what is trained."""


@draws("opt_step_adamw")
def opt_step_adamw(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        type, ne = draw(typed(NUMBERS, SMALL))
        weights = changed(leaf(draw, type, ne), flags=_TRAINED)
        others = [tensor("f32", *ne) for _ in range(3)]
        return (op("opt_step_adamw", weights, *others, tensor("f32", 7)),)

    return arguments()


@draws("opt_step_sgd")
def opt_step_sgd(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        type, ne = draw(typed(NUMBERS, SMALL))
        weights = changed(leaf(draw, type, ne), flags=_TRAINED)
        return (op("opt_step_sgd", weights, tensor("f32", *ne), tensor("f32", 2)),)

    return arguments()
