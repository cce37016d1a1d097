"""Two sources, one repeated to the other; functions of one value; gated ones of two."""

from hypothesis import strategies as st

from .registry import op
from .tensors import (
    ANY_VALUES,
    PLAIN,
    SPECIAL,
    Draw,
    Tree,
    Values,
    call,
    laid_out,
    leaf,
    padded,
    repeated,
    shapes,
    some,
    types,
)

_AWAY_FROM_ZERO: Values = {"low": 0.5, "high": 2.0}
_POSITIVE: Values = {"low": 0.01, "high": 9.0}
_WIDE: Values = {"low": -5.0, "high": 5.0}


@op("add", "sub", "mul", "div")
def binary(draw: Draw, name: str) -> Tree:
    ne = draw(shapes())
    values = draw(some(*ANY_VALUES))
    a = laid_out(draw, "f32", ne, values)
    divisor = name == "div" and not values
    b = laid_out(draw, "f32", repeated(draw, ne), _AWAY_FROM_ZERO if divisor else values)
    suffix = draw(some("", "", "", "_inplace"))
    return call(f"{name}{suffix}", a, b)


@op("add_id")
def add_id(draw: Draw, name: str) -> Tree:
    n, used, tokens, experts = draw(shapes(1))[0], *(draw(st.integers(1, 6)) for _ in range(3))
    ids = laid_out(draw, "i32", (used, tokens), {"high": experts}, rows=True)
    a = laid_out(draw, "f32", (n, used, tokens), rows=True)
    return call("add_id", a, laid_out(draw, "f32", (n, experts), rows=True), ids)


_FUNCTIONS = (
    *("abs", "sgn", "neg", "step", "tanh", "elu", "relu", "sigmoid", "gelu", "gelu_erf", "gelu_quick"),
    *("silu", "hardswish", "hardsigmoid", "exp", "expm1", "softplus", "floor", "ceil", "round", "trunc"),
    "sqr",
)


@op(*_FUNCTIONS)
def function(draw: Draw, name: str) -> Tree:
    type = draw(types("f32", "f32", "f16"))
    return call(name, laid_out(draw, type, draw(shapes()), draw(some(_WIDE, PLAIN, SPECIAL))))


@op("sin", "cos")
def periodic(draw: Draw, name: str) -> Tree:
    return call(name, laid_out(draw, draw(types("f32", "f32", "f16")), draw(shapes()), _WIDE))


@op("sqrt", "log")
def of_positive(draw: Draw, name: str) -> Tree:
    type = draw(types("f32", "f32", "f16"))
    return call(name, laid_out(draw, type, draw(shapes()), draw(some(_POSITIVE, _POSITIVE, SPECIAL))))


@op("scale", "scale_bias", "clamp", "leaky_relu", "xielu", "fill")
def with_numbers(draw: Draw, name: str) -> Tree:
    ne = draw(shapes(2 if name == "clamp" else 4))  # the reference clamps in the wrong rows of more axes
    number = st.floats(-8, 8, width=32)
    numbers: tuple[float | bool, ...] = (draw(number),)
    if name == "scale_bias":
        numbers = draw(number), draw(number)
    if name == "clamp":
        numbers = tuple(sorted((draw(number), draw(number))))
    if name == "leaky_relu":
        numbers = draw(st.floats(0, 1, width=32)), draw(some(False, False, True))
    if name == "xielu":
        numbers = 4.0, 20.0, 0.5, 1e-7
    type = "f32" if name == "fill" else draw(types("f32", "f32", "f16"))
    whole = name in ("scale", "scale_bias", "fill", "clamp") and draw(some(True, True, False))
    whole = whole or True in numbers  # the reference computes views elsewhere, never in place
    a = leaf(type, *ne, **_WIDE) if whole else laid_out(draw, type, ne, _WIDE, rows=True)
    return call(name, a, *numbers)


@op("reglu", "geglu", "swiglu", "geglu_erf", "geglu_quick")
def gated(draw: Draw, name: str) -> Tree:
    half = padded(draw(shapes(most=600)))
    how = draw(some("", "_split", "_swapped"))
    if how == "_split":
        return call(
            f"{name}_split",
            laid_out(draw, "f32", half, _WIDE, rows=True),
            laid_out(draw, "f32", half, rows=True),
        )
    return call(name + how, laid_out(draw, "f32", (2 * half[0], *half[1:]), _WIDE, rows=True))


@op("swiglu_oai")
def gated_oai(draw: Draw, name: str) -> Tree:
    ne = draw(shapes(most=600))
    a, b = (laid_out(draw, "f32", ne, {"low": -10.0, "high": 10.0}, rows=True) for _ in range(2))
    return call(name, a, b, draw(some(1.702, 1.2)), draw(some(7.0, 2.0)))
