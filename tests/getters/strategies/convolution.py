"""Draws for convolutions."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..draws import Arguments, Draw, draws, one_of
from ..recipes import Recipe, Type, changed, op, permute, tensor
from ..rows import Row
from ..shapes import seldom, tidy

_KERNEL_TYPES = one_of(*["f32", "f16"] * 4, "bf16", "i32")
_DATA_TYPES = one_of(*["f32"] * 7, "f16")
_SIZES = one_of((1, 1), (3, 3), (2, 5), (4, 1))
_STEPS = one_of(1, 1, 2, 3)


def _retyped(draw: Draw, made: Recipe) -> Recipe:
    """Now and then with a result of another type, which no constructor gives."""
    return changed(made, type=draw(one_of("f16", "f32", "i32"))) if seldom(draw) else made


@draws("im2col")
def im2col(row: Row) -> SearchStrategy[Arguments]:
    plane = one_of(
        *((1, 1), (3, 3), (32, 32), (31, 33), (33, 31), (25, 41), (1024, 1), (1025, 1), (1, 1025), (5, 205))
    )
    line = one_of((1, 1), (3, 2), (1023, 1), (1024, 2), (1025, 1), (4, 1025))
    results = st.sampled_from([Type("f16"), Type("f32")] * 4 + [Type("bf16"), Type("i32")])

    @st.composite
    def arguments(draw: Any) -> Arguments:
        flat = draw(one_of(True, False))
        kernel_type, data_type = draw(_KERNEL_TYPES), draw(_DATA_TYPES)
        w, h = draw(plane if flat else line)
        more, step = draw(one_of(0, 1, 6)), draw(_STEPS)
        if flat:
            kernel = tidy(draw, kernel_type, (w, h, 3, 2))
            data = tidy(draw, data_type, (w + more, h + more, 3, draw(one_of(1, 2))))
        else:
            kernel = tidy(draw, kernel_type, (w, h, 2, 1))
            data = tidy(draw, data_type, (w + more, h, draw(one_of(1, 3)), 1))
        made = op("im2col", kernel, data, step, step, 0, draw(one_of(0, 2)), 1, 1, flat, draw(results))
        return (changed(made, params={6: draw(one_of(2, -1))}) if seldom(draw) else made,)

    return arguments()


@draws("col2im_1d")
def col2im_1d(row: Row) -> SearchStrategy[Arguments]:
    others = (
        *(tensor("i32", 4, 4), tensor("q8_0", 32, 4), permute(tensor("f32", 4, 3), 1, 0, 2, 3)),
        permute(tensor("bf16", 4, 3, 2), 0, 2, 1, 3),
    )

    @st.composite
    def arguments(draw: Any) -> Arguments:
        channels, width = draw(one_of(1, 3)), draw(one_of(1, 2, 5))
        columns = tensor(draw(one_of("f32", "f16", "bf16")), channels * width, draw(one_of(1, 4, 33)))
        made = op("col2im_1d", columns, draw(_STEPS), channels, 0)
        return (changed(made, src={0: draw(one_of(*others))}) if seldom(draw) else made,)

    return arguments()


@draws("conv_transpose_1d")
def conv_transpose_1d(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        w, channels = draw(_SIZES)
        kernel = tidy(draw, draw(_KERNEL_TYPES), (w, 2, channels))
        data = tidy(draw, draw(_DATA_TYPES), (draw(one_of(1, 7, 64)), channels))
        return (_retyped(draw, op("conv_transpose_1d", kernel, data, draw(_STEPS), 0, 1)),)

    return arguments()


@draws("conv_transpose_2d")
def conv_transpose_2d(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        kernel = tidy(draw, draw(_KERNEL_TYPES), (*draw(_SIZES), 2, 3))
        data = tidy(draw, draw(_DATA_TYPES), (*draw(_SIZES), 3, draw(one_of(1, 2))))
        return (_retyped(draw, op("conv_transpose_2d_p0", kernel, data, draw(_STEPS))),)

    return arguments()


@draws("conv_2d")
def conv_2d(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        kernel = tidy(draw, draw(_KERNEL_TYPES), (*draw(_SIZES), 3, draw(one_of(1, 4))))
        data = tidy(draw, draw(_DATA_TYPES), (5, 6, 3, draw(one_of(1, 2))))
        step = draw(_STEPS)
        made = op("conv_2d_direct", kernel, data, step, 1, 0, draw(one_of(0, 1)), 1, 1)
        return (_retyped(draw, made),)

    return arguments()


@draws("conv_2d_dw")
def conv_2d_dw(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        kernel = tidy(draw, draw(_KERNEL_TYPES), (*draw(_SIZES), 1, 3))
        data = tidy(draw, draw(_DATA_TYPES), (5, 6, 3, draw(one_of(1, 2))))
        made = op("conv_2d_dw_direct", kernel, data, draw(_STEPS), 1, 0, 1, 1, 1)
        return _retyped(draw, made), draw(one_of(False, True))

    return arguments()


@draws("conv_3d")
def conv_3d(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        c, oc, n = draw(one_of((1, 1, 1), (2, 3, 1), (3, 2, 2)))
        kernel = tidy(draw, draw(_KERNEL_TYPES), (*draw(_SIZES), 2, c * oc))
        data = tidy(draw, draw(_DATA_TYPES), (5, 6, 4, c * n))
        made = op("conv_3d_direct", kernel, data, draw(_STEPS), 1, 1, 0, 0, 1, 1, 1, 1, c, n, oc)
        return (_retyped(draw, made),)

    return arguments()
