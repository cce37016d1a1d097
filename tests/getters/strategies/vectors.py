"""Draws for matrix products row by row."""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..draws import Arguments, Draw, draws, near, one_of
from ..rows import Row
from .matrices import product, product_of_experts

# Where the number of simdgroups, the short kernels and the splitting of rows change.
KS = (32, 128, 256, 384, 512)


@draws("mul_mv")
def mul_mv(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        return (product(draw, row, near(), near(), *KS),)

    return arguments()


@draws("mul_mv_id")
def mul_mv_id(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        return (product_of_experts(draw, row, *KS),)

    return arguments()


@draws("mul_mv_ext")
def mul_mv_ext(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        made = product(draw, row, near(), near(), 128, 256)
        nsg, nxpsg, r1ptg = (
            draw(one_of(2, 1, 4, 8, 2**15)),
            draw(one_of(4, 8, 16, 5)),
            draw(one_of(*[2, 3, 4, 5] * 3, 1, 6)),
        )
        return made, nsg, nxpsg, r1ptg

    return arguments()
