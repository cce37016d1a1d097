"""What goes through rows: norms, soft_max, sums, order."""

from hypothesis import strategies as st

from .registry import op
from .tensors import (
    PLAIN,
    Draw,
    Tree,
    Values,
    call,
    laid_out,
    leaf,
    lengths,
    padded,
    repeated,
    shapes,
    some,
    types,
)

_FAR_FROM_ZERO: Values = {"low": 99.0, "high": 101.0}
_LARGE: Values = {"low": -500.0, "high": 500.0}
_SCORES: Values = {"low": -4.0, "high": 4.0}
_EPS = (1e-6, 1e-5, 0.1, 0.0, 20.0)


@op("norm", "rms_norm", "l2_norm", weight=2)
def norm(draw: Draw, name: str) -> Tree:
    a = laid_out(draw, "f32", draw(shapes(most=4200, elements=9000)), draw(some(PLAIN, _FAR_FROM_ZERO)))
    return call(name + draw(some("", "", "", "_inplace")), a, draw(some(*_EPS)))


@op("group_norm")
def group_norm(draw: Draw, name: str) -> Tree:
    ne = padded(draw(shapes(most=130)))
    groups = draw(st.integers(1, ne[2]))
    return call(name, laid_out(draw, "f32", ne, rows=True), groups, draw(some(1e-6, 1e-2)))


@op("soft_max", weight=3)
def soft_max(draw: Draw, name: str) -> Tree:
    ne = padded(draw(shapes(most=4200, elements=9000)))
    a = laid_out(draw, "f32", ne, draw(some(_SCORES, _SCORES, _LARGE)), rows=draw(some(True, True, False)))
    if draw(some(False, True)):
        return call("soft_max", a)
    mask = None
    if draw(some(True, True, False)):
        rows = ne[1] + draw(some(0, 0, 3))
        stacks = repeated(draw, ne[2:])
        mask = leaf(
            draw(types("f32", "f16")), ne[0], rows, *stacks, fill=draw(some("mask", "causal", "zero"))
        )
    bias = draw(some(0.0, 0.0, 8.0, 1.0)) if mask is not None else 0.0
    result = call("soft_max_ext", a, mask, draw(some(1.0, 0.125, 2.0)), bias)
    if draw(some(False, False, True)):
        return call("with_sinks", result, leaf("f32", ne[2], low=-3.0, high=3.0))
    return result


@op("sum_rows", "mean", "cumsum", "sum")
def reduction(draw: Draw, name: str) -> Tree:
    most = 20000 if draw(some(False, False, False, True)) else 2100
    ne = draw(shapes(most=most, elements=max(most, 6000)))
    type = "f32" if name == "cumsum" else draw(types(*["f32"] * 4, "f16", "i32"))
    return call(name, laid_out(draw, type, ne))


@op("argmax")
def argmax(draw: Draw, name: str) -> Tree:
    ne = draw(shapes(2, most=4200))
    return call(name, laid_out(draw, "f32", ne, {"fill": draw(some("distinct", "ties"))}, rows=True))


@op("count_equal")
def count_equal(draw: Draw, name: str) -> Tree:
    ne = draw(shapes(most=4200))
    high = draw(st.integers(1, 4))
    a, b = (laid_out(draw, "i32", ne, {"high": high}) for _ in range(2))
    return call(name, a, b)


@op("argsort", "top_k")
def order(draw: Draw, name: str) -> Tree:
    ne = draw(shapes(most=5000, elements=12000))
    type = draw(types(*["f32"] * 7, "i32"))
    values: Values = {"high": 10**6} if type == "i32" else {"fill": draw(some("distinct", "ties"))}
    a = laid_out(draw, type, ne, values, rows=draw(some(True, True, True, False)))
    if name == "top_k":
        return call(name, a, draw(st.integers(1, ne[0])))
    return call(name, a, draw(some("asc", "desc")))


@op("argsort_top_k")
def first_of_order(draw: Draw, name: str) -> Tree:
    ne = draw(shapes(most=2100))
    return call(name, leaf("f32", *ne, fill="distinct"), draw(st.integers(1, ne[0])))


@op("tri")
def triangle(draw: Draw, name: str) -> Tree:
    n = draw(lengths(130))
    rest = draw(shapes(2, most=3, elements=6))
    a = laid_out(draw, "f32", (n, n, *rest)) if draw(some(*[False] * 9, True)) else leaf("f32", n, n, *rest)
    return call(name, a, draw(st.integers(0, 3)))


@op("diag")
def diagonal(draw: Draw, name: str) -> Tree:
    n = draw(lengths(70))
    return call(name, laid_out(draw, "f32", (n, 1, *draw(shapes(2, most=4, elements=12)))))
