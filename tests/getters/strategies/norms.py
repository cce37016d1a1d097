"""Draws for norms and soft_max."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..draws import Arguments, draws, leaf, one_of
from ..recipes import changed, op, tensor
from ..rows import Row
from ..shapes import NUMBERS, SMALL, any_leaf, packed, seldom, typed
from .unary import DISORDERED

_EPS = 1e-5


@draws("soft_max")
def soft_max(row: Row) -> SearchStrategy[Arguments]:
    masks = one_of(None, "f16", "f32")

    @st.composite
    def arguments(draw: Any) -> Arguments:
        type, ne = draw(typed(("f32", "f32", "f16"), SMALL))
        mask = draw(masks)
        mask = None if mask is None else tensor(mask, ne[0], ne[1] + draw(one_of(0, 1)), 1, 1)
        made = op("soft_max_ext", tensor(type, *ne), mask, 1.0, 0.0)
        if seldom(draw):
            masked = draw(one_of(True, False))
            wrong = (
                {1: tensor(draw(one_of("i32", "bf16", "q4_0")), 32)} if masked else {0: packed(draw, NUMBERS)}
            )
            made = changed(made, src=wrong)
        return (made,)

    return arguments()


@draws("l2_norm")
def l2_norm(row: Row) -> SearchStrategy[Arguments]:
    fours = tuple(ne for ne in SMALL if ne[0] % 4 == 0)
    shapes = SMALL if row >= Row.V0_9_8 else (*fours, (5, 3, 1, 1), (1, 4, 1, 1))

    @st.composite
    def arguments(draw: Any) -> Arguments:
        a = any_leaf(draw, NUMBERS, shapes)
        made = op("l2_norm", a, _EPS)
        if seldom(draw):
            made = changed(made, src={0: draw(one_of(*DISORDERED))})
        return (changed(made, type="f16") if seldom(draw) else made,)

    return arguments()


@draws("group_norm")
def group_norm(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        a = any_leaf(draw, NUMBERS)
        return (op("group_norm", a, min(draw(one_of(1, 2)), a.ne[2]), _EPS),)

    return arguments()


@draws("norm")
def norm(row: Row) -> SearchStrategy[Arguments]:
    fused = one_of(1, 2, 3, 1, 2, 3, 0, 4, -1, 2**31 - 1)

    @st.composite
    def arguments(draw: Any) -> Arguments:
        a = any_leaf(draw, NUMBERS)
        return op(draw(one_of("norm", "rms_norm")), a, _EPS), draw(fused)

    return arguments()


@draws("norm_scale")
def norm_scale(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        type, ne = draw(typed(NUMBERS, SMALL))
        return (op(draw(one_of("norm", "rms_norm")), leaf(draw, type, ne), _EPS),)

    return arguments()
