"""Draws for diag and tri."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..draws import Arguments, draws, leaf, near, one_of
from ..recipes import changed, op, permute, sliced, tensor
from ..rows import Row


@draws("diag")
def diag(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        n = draw(near(32, 1024, 65536, 2**20))
        vectors = leaf(
            draw,
            draw(one_of("f32", "f32", "f32", "f16", "i32")),
            (n, 1, *draw(one_of((1, 1), (3, 1), (2, 2)))),
        )
        return (op("diag", vectors),)

    return arguments()


@draws("tri")
def tri(row: Row) -> SearchStrategy[Arguments]:
    others = (
        *(tensor("f16", 4, 4), tensor("q4_0", 32, 4), sliced("f32", (4, 4), extra=(1, 0, 0))),
        permute(tensor("f32", 4, 4), 1, 0, 2, 3),
        changed(tensor("f32", 1, 1), nb=(8, 8, 8, 8)),
    )
    kinds = st.sampled_from([*range(4)] * 6 + [4, 7, -1, 2**31 - 1, -(2**31)])

    @st.composite
    def arguments(draw: Any) -> Arguments:
        n = draw(near(32, 1024))
        kind = draw(kinds)
        matrix = tensor("f32", n, n, *draw(one_of((1, 1), (3, 1), (2, 2))))
        made = op("tri", matrix, kind if kind in range(4) else 0)
        if kind not in range(4):
            made = changed(made, params={0: kind})
        other = draw(one_of(*[None] * 9, *others))
        return (made if other is None else changed(made, src={0: other}),)

    return arguments()
