"""Draws for sums and counts."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..draws import Arguments, draws, near, one_of
from ..recipes import changed, op, permute, tensor
from ..rows import Row
from ..shapes import NUMBERS, SMALL, any_leaf, packed, seldom, tidy, typed


@draws("sum")
def sum(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        return (op("sum", any_leaf(draw, NUMBERS)),)

    return arguments()


@draws("sum_rows")
def sum_rows(row: Row) -> SearchStrategy[Arguments]:
    # Rows of one value: packed for one version of upstream, not for the other.
    thin = permute(tensor("f32", 5, 1), 1, 0, 2, 3)

    @st.composite
    def arguments(draw: Any) -> Arguments:
        a = thin if seldom(draw) else any_leaf(draw, NUMBERS)
        made = op(draw(one_of("sum_rows", "mean")), a)
        return (changed(made, type="f32") if seldom(draw) else made,)

    return arguments()


@draws("cumsum_blk")
@draws("cumsum_add")
def cumsum(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        made = op("cumsum", any_leaf(draw, ("f32",)))
        return (changed(made, src={0: packed(draw, NUMBERS)}) if seldom(draw) else made,)

    return arguments()


@draws("count_equal")
def count_equal(row: Row) -> SearchStrategy[Arguments]:
    # From 2**31 elements on upstream refuses.
    rests = one_of((1, 1, 1), (1, 1, 1), (7, 2, 1), (2**16, 2**5, 1), (2**15, 2**15, 2))

    @st.composite
    def arguments(draw: Any) -> Arguments:
        ne = (draw(near(32, 64, 128, 256, 512, 1024, 2**31 - 1)), *draw(rests))
        if ne[0] > 2**30:
            ne = (ne[0], 1, 1, 1)
        first, second = draw(one_of(*[("i32", "i32")] * 9, ("i32", "f32"), ("f32", "f32"), ("i64", "i64")))
        made = op("count_equal", tidy(draw, first, ne), tensor(second, *ne))
        return (changed(made, type="i32") if seldom(draw) else made,)

    return arguments()


@draws("memset")
def memset(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        type, ne = draw(typed(("i32",), SMALL))
        made = op("count_equal", tensor(type, *ne), tensor(type, *ne))
        other = draw(one_of(None, None, "i32", "f32", "q4_0"))
        return (made if other is None else changed(made, type=other),)

    return arguments()
