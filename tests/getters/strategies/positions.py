"""Draws for positions put into values."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..draws import Arguments, draws, leaf, near, one_of
from ..model.positions import IMROPE, MROPE, NEOX, VISION
from ..recipes import changed, op, tensor
from ..rows import Row
from ..shapes import NUMBERS, seldom

_MODES = one_of(0, NEOX, MROPE, VISION, IMROPE)
_ODD_MODES = one_of(1, 3, 4, 9, 10, 16, 26, 32, 41, 42, 56, -1, -(2**31), 2**31 - 1)


@draws("rope")
def rope(row: Row) -> SearchStrategy[Arguments]:
    constructors = ("rope_ext", "rope_ext", "rope_ext_back") if row >= Row.V0_15_3 else ("rope_ext",)
    tokens = one_of(1, 2, 4, 5, 8, 9, 64)

    @st.composite
    def arguments(draw: Any) -> Arguments:
        n, mode = draw(tokens), draw(_MODES)
        type = draw(one_of("f32", "f16", "f32", "f16", "bf16"))
        a = leaf(draw, type, (draw(one_of(2, 64, 80)), draw(one_of(1, 3)), n, 1))
        positions = tensor("i32", 4 * n if mode & MROPE else n)
        scales = (1e4, 1.0, 0.0, 1.0, 32.0, 1.0)
        made = op(draw(one_of(*constructors)), a, positions, None, 2, mode, 0, *scales)
        if seldom(draw):
            made = changed(made, params={2: draw(_ODD_MODES)})
        if mode & MROPE and draw(one_of(False, False, True)):
            enough = -(-n // 4)
            made = changed(made, src={1: tensor("i32", max(enough - draw(one_of(0, 1)), 1))})
        return (made,)

    return arguments()


@draws("timestep_embedding")
def timestep_embedding(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        steps = leaf(draw, draw(one_of("f32", "f32", "f16", "i32")), (draw(near(32)),))
        return (op("timestep_embedding", steps, draw(one_of(1, 2, 3, 320)), 10000),)

    return arguments()


@draws("arange")
def arange(row: Row) -> SearchStrategy[Arguments]:
    ranges = one_of((0.0, 1.0, 1.0), (0.0, 1024.0, 1.0), (-1.5, 1.0, 0.25), (0.0, 1e6, 0.5))

    @st.composite
    def arguments(draw: Any) -> Arguments:
        made = op("arange", *draw(ranges))
        return (changed(made, type=draw(one_of(*NUMBERS))) if seldom(draw) else made,)

    return arguments()
