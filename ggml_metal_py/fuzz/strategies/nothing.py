"""Tensors without values, as sources of results that have some, and the other way round."""

from collections.abc import Callable

from hypothesis import strategies as st

from .registry import op
from .tensors import Draw, Tree, call, leaf, some

_ONE: tuple[tuple[str, Callable[[Tree], Tree]], ...] = tuple(
    (name, lambda a, name=name, rest=rest: call(name, a, *rest))  # type: ignore[misc]
    for name, *rest in (
        *(("sum",), ("sum_rows",), ("mean",), ("cumsum",), ("cont",), ("neg",), ("soft_max",), ("sqr",)),
        *(("rms_norm", 1e-6), ("norm", 1e-6), ("l2_norm", 1e-6), ("scale", 2.0), ("argsort", "asc")),
        *(("pad", 2, 1, 0, 0), ("tri", 0)),
    )
)


@op("empty")
def empty(draw: Draw, name: str) -> Tree:
    ne = [draw(st.integers(1, 9)) for _ in range(draw(st.integers(1, 3)))]
    ne[draw(st.integers(0, len(ne) - 1))] = 0
    a = leaf("f32", *ne)
    how = draw(some("one", "two", "product", "rows", "beside"))
    if how == "two":
        return call(draw(some("add", "mul", "div")), a, leaf("f32", *ne))
    if how == "product":
        k, m, n = (draw(st.integers(0, 9)) for _ in range(3))
        return call("mul_mat", leaf(draw(some("f32", "f16")), k, m), leaf("f32", k, n))
    if how == "rows":
        return call("get_rows", leaf("f32", ne[0], 3), leaf("i32", draw(some(0, 2)), high=3))
    if how == "beside":
        other = list(ne)
        axis = ne.index(0)
        other[axis] = draw(st.integers(1, 5))
        return call("concat", *draw(some((a, leaf("f32", *other)), (leaf("f32", *other), a))), axis)
    return draw(st.sampled_from(_ONE))[1](a)
