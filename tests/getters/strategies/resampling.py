"""Draws for upscale, pad, roll."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..draws import Arguments, draws, leaf, one_of
from ..model.resampling import ANTIALIAS
from ..recipes import changed, op, tensor
from ..rows import Row
from ..shapes import NUMBERS, SMALL, any_leaf, packed, seldom, typed

_ALIGN_CORNERS = 1 << 8
_ODD_MODES = one_of(3, 7, 0xFF, 0x102, ANTIALIAS, ANTIALIAS | 2, 0x10001, -1, -(2**31))


@draws("upscale")
def upscale(row: Row) -> SearchStrategy[Arguments]:
    modes = [0, 1, 0 | _ALIGN_CORNERS, 1 | _ALIGN_CORNERS]
    if row >= Row.V0_9_5:
        modes += [2, 1 | ANTIALIAS, 1 | ANTIALIAS | _ALIGN_CORNERS]
    types = ("f32",) if row >= Row.V0_10_1 else NUMBERS

    @st.composite
    def arguments(draw: Any) -> Arguments:
        a = leaf(draw, *draw(typed(types, ((32, 3, 2, 1), (32, 1, 1, 1), (5, 7, 1, 2)))))
        made = op("interpolate", a, *draw(one_of((64, 6, 2, 1), (96, 7, 2, 2))), draw(one_of(*modes)))
        if seldom(draw):
            made = changed(made, src={0: packed(draw, NUMBERS)})
        return (changed(made, params={0: draw(_ODD_MODES)}) if seldom(draw) else made,)

    return arguments()


@draws("pad")
def pad(row: Row) -> SearchStrategy[Arguments]:
    kinds = ["pad", "pad_ext"]
    if row >= Row.V0_9_5:
        kinds += ["pad_circular", "pad_ext_circular"]

    @st.composite
    def arguments(draw: Any) -> Arguments:
        kind = draw(one_of(*kinds))
        widths = draw(one_of((0, 0, 0, 0), (1, 0, 2, 0), (4, 3, 2, 1)))
        before_and_after = [n for width in widths for n in (width, 1)]
        a = any_leaf(draw, ("f32", "f32", "f32", "f16", "i32"))
        made = op(kind, a, *(before_and_after if "ext" in kind else widths))
        return (changed(made, params={8: draw(one_of(0, 2, -1, 2**31 - 1))}) if seldom(draw) else made,)

    return arguments()


@draws("pad_reflect_1d")
def pad_reflect_1d(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        _, ne = draw(typed(("f32",), SMALL))
        most = ne[0] - 1
        made = op("pad_reflect_1d", tensor("f32", *ne), most, draw(one_of(0, most)))
        return (changed(made, src={0: packed(draw, NUMBERS)}) if seldom(draw) else made,)

    return arguments()


@draws("roll")
def roll(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        type, ne = draw(typed(("f32", "f32", "f32", "f16", "i32", "q8_0"), SMALL))
        sign = draw(one_of(1, -1))
        # ggml wants the stride of the type even for rows of one value: a permuted one has another.
        made = op("roll", tensor(type, *ne), *(sign * (n - 1) for n in ne))
        return (changed(made, src={0: any_leaf(draw, NUMBERS)}) if seldom(draw) else made,)

    return arguments()
