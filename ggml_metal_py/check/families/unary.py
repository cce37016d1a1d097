"""Functions of one value, and the gated ones of two (GLU)."""

from collections.abc import Iterator
from typing import Any

from ..expression import Call, Leaf, Tree, call, leaf

_PLAIN = (
    *(
        "abs",
        "sgn",
        "neg",
        "step",
        "tanh",
        "elu",
        "relu",
        "sigmoid",
        "gelu",
        "gelu_erf",
        "gelu_quick",
        "silu",
    ),
    *("hardswish", "hardsigmoid", "exp", "expm1", "softplus", "floor", "ceil", "round", "trunc"),
    *("sqr", "sin", "cos"),
)
_POSITIVE = ("sqrt", "log")
_WITH_NUMBERS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("leaky_relu", (0.1, False)),
    ("xielu", (4.0, 20.0, 0.5, 1e-7)),
)
# ggml makes them of contiguous tensors only; clamp writes into its source.
_CONTIGUOUS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("scale", (2.5,)),
    ("scale_bias", (-0.5, 3.0)),
    ("clamp", (-0.75, 1.5)),
    ("fill", (1.25,)),
)
_INPLACE = (
    *("sqr", "sqrt", "sin", "cos", "abs", "sgn", "neg", "step", "tanh", "elu", "relu", "sigmoid"),
    *(
        "gelu",
        "gelu_erf",
        "gelu_quick",
        "silu",
        "exp",
        "expm1",
        "softplus",
        "floor",
        "ceil",
        "round",
        "trunc",
    ),
)

# Multiples of 4 and others; one kernel for all values below 32768 of them, and one by rows above.
_SHAPES = ((1,), (4,), (7,), (5, 3), (64, 2), (33, 3, 2, 2), (1028, 2), (1025, 3), (32768,), (8191, 5))

_GLU = ("reglu", "geglu", "swiglu", "geglu_erf", "geglu_quick")
_GLU_SHAPES = ((2,), (10,), (64, 3), (66, 5, 2), (2050, 2), (4096, 1, 3))


def cases() -> Iterator[tuple[str, Tree]]:
    for type in ("f32", "f16"):
        for name in _PLAIN:
            yield from ((name, tree) for tree in _function(name, (), type, low=-5.0, high=5.0))
        for name in _POSITIVE:
            yield from ((name, tree) for tree in _function(name, (), type, low=0.01, high=9.0))
        for name, numbers in _WITH_NUMBERS:
            yield from ((name, tree) for tree in _function(name, numbers, type, low=-5.0, high=5.0))
        for name, numbers in _CONTIGUOUS:
            if (name, type) != ("fill", "f16"):
                yield from (
                    (name, call(name, leaf(type, *ne, low=-5.0, high=5.0), *numbers)) for ne in _SHAPES
                )
        for name in _INPLACE:
            yield name, call(f"{name}_inplace", leaf(type, 65, 3, low=0.01, high=3.0))
    for name in (*_PLAIN, *_POSITIVE):
        if name not in ("sin", "cos"):
            yield name, call(name, leaf("f32", 96, fill="special"))
    yield "clamp", call("clamp", call("cut", leaf("f32", 72, 5), (64, 3), (8, 1)), -0.5, 0.25)
    for name in _GLU:
        yield from ((name, tree) for tree in _gated(name))
    yield from (("swiglu_oai", tree) for tree in _gated_oai())


def _function(name: str, numbers: tuple[Any, ...], type: str, **range: float) -> Iterator[Call]:
    def values(*ne: int) -> Leaf:
        return leaf(type, *ne, **range)

    for ne in (*_SHAPES, (0, 3)):
        yield call(name, values(*ne), *numbers)
    yield call(name, call("cut", values(72, 5), (64, 3), (8, 1)), *numbers)
    yield call(name, call("cut", values(70, 5, 2), (63, 3, 2), (4, 2)), *numbers)
    yield call(name, call("cut", values(2100, 3), (2049, 2), (8, 1)), *numbers)
    yield call(name, call("permute", values(20, 3, 5, 2), 0, 2, 3, 1), *numbers)


def _gated(name: str) -> Iterator[Call]:
    for ne in _GLU_SHAPES:
        a = leaf("f32", *ne, low=-5.0, high=5.0)
        yield call(name, a)
        yield call(f"{name}_swapped", a)
        yield call(f"{name}_split", a, leaf("f32", *ne))
    for n in (1, 3, 7):
        yield call(f"{name}_split", leaf("f32", n, 4, low=-5.0, high=5.0), leaf("f32", n, 4))
    rows = call("cut", leaf("f32", 72, 5), (64, 3), (8, 1))
    yield call(name, rows)
    yield call(f"{name}_split", rows, call("cut", leaf("f32", 68, 5), (64, 3), (4, 2)))
    halves = leaf("f32", 64, 3)  # both sources are windows of one tensor
    yield call(f"{name}_split", call("cut", halves, (32,)), call("cut", halves, (32,), (32,)))


def _gated_oai() -> Iterator[Call]:
    for alpha, limit in ((1.702, 7.0), (1.2, 2.0)):
        for ne in _GLU_SHAPES:
            a, b = (leaf("f32", *ne, low=-10.0, high=10.0) for _ in range(2))
            yield call("swiglu_oai", a, b, alpha, limit)
