"""Copies with and without conversion, and what puts values elsewhere."""

from hypothesis import strategies as st

from .registry import op
from .tensors import (
    NAN,
    PLAIN,
    SPECIAL,
    SUBNORMAL,
    WEIGHTS,
    Draw,
    Shape,
    Tree,
    Values,
    block,
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

_QUANTISED = ("q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q1_0")
_TARGETS = {
    "f32": ("f32", "f16", "bf16", "i32", *_QUANTISED, "iq4_nl"),
    "f16": ("f32", "f16"),
    "bf16": ("f32", "bf16"),
    "i32": ("f32", "i32"),
    **dict.fromkeys(_QUANTISED, ("f32", "f16")),
}
_NUMBERS = ("f32", "f16", "i32", "bf16")
_ANY = (PLAIN, SPECIAL, NAN, SUBNORMAL)
_MANY_ROWS = 70_000
"""More than 16 bits count."""
_WHOLE: Values = {"low": -50, "high": 50}


def _values(draw: Draw, type: str, target: str = "") -> Values:
    if "i32" in (type, target):
        return _WHOLE
    return draw(some(*_ANY)) if type in ("f32", "f16", "bf16") else PLAIN


def _unit(*kinds: str) -> int:
    return max(map(block, kinds))


@op("cpy", weight=4)
def cpy(draw: Draw, name: str) -> Tree:
    source = draw(types(*_TARGETS))
    target = draw(types(*_TARGETS[source]))
    unit = _unit(source, target)
    ne = draw(shapes(most=max(300, 3 * unit), unit=unit))
    values = _values(draw, source, target) if unit == 1 else PLAIN
    a = laid_out(draw, source, ne, values, rows=draw(some(True, False)))
    into = draw(some(ne, ne, ne, _other_shape(ne, unit)))
    room = _WHOLE if target == "i32" else PLAIN
    return call(name, a, laid_out(draw, target, into, room, rows=draw(some(True, True, False))))


def _other_shape(ne: Shape, unit: int) -> Shape:
    """As many values in rows of another length."""
    ne = padded(ne)
    if ne[1] % 2 == 0:
        return ne[0] * 2, ne[1] // 2, *ne[2:]
    if ne[0] % (2 * unit) == 0:
        return ne[0] // 2, ne[1] * 2, *ne[2:]
    return ne[0], ne[1] * ne[2], 1, ne[3]


@op("cont", "dup")
def contiguous(draw: Draw, name: str) -> Tree:
    type = draw(types(*_NUMBERS))
    return call(name, laid_out(draw, type, draw(shapes()), _values(draw, type)))


@op("cast")
def cast(draw: Draw, name: str) -> Tree:
    source = draw(types(*_TARGETS))
    target = draw(types(*_TARGETS[source]))
    unit = _unit(source, target)
    ne = draw(shapes(most=max(300, 3 * unit), unit=unit))
    values = _values(draw, source, target) if unit == 1 else PLAIN
    return call(name, laid_out(draw, source, ne, values, rows=True), target)


@op("set", "acc")
def into_window(draw: Draw, name: str) -> Tree:
    type = "f32" if name == "acc" else draw(types("f32", "i32"))
    values = _values(draw, type) if type == "i32" else PLAIN
    small = padded(draw(shapes(most=70, elements=600)))
    before = [draw(st.integers(0, 3)) for _ in small]
    ne = [n + b + draw(st.integers(0, 3)) for n, b in zip(small, before, strict=True)]
    nb = [4, 4 * ne[0], 4 * ne[0] * ne[1], 4 * ne[0] * ne[1] * ne[2]]
    offset = sum(b * stride for b, stride in zip(before, nb, strict=True))
    b = laid_out(draw, type, small, values)
    return call(name + draw(some("", "_inplace")), leaf(type, *ne, **values), b, *nb[1:], offset)


@op("repeat")
def repeat(draw: Draw, name: str) -> Tree:
    ne = draw(shapes())
    type = draw(types("f32", "f16", "i32", "i16"))
    values = _values(draw, type) if type != "i16" else PLAIN
    return call(name, laid_out(draw, type, repeated(draw, ne), values), leaf("f32", *ne))


@op("concat")
def concat(draw: Draw, name: str) -> Tree:
    ne = padded(draw(shapes(elements=3000)))
    axis = draw(st.integers(0, 3))
    other = list(ne)
    other[axis] = draw(st.integers(1, 9))
    type = draw(types("f32", "f32", "f32", "i32", "i32", "f16"))
    a, b = (laid_out(draw, type, shape, _values(draw, type)) for shape in (ne, other))
    return call(name, a, b, axis)


@op("get_rows", weight=3)
def get_rows(draw: Draw, name: str) -> Tree:
    type = draw(types(*WEIGHTS, "i32"))
    n, count = draw(lengths(max(1100 // block(type), 5))) * block(type), draw(st.integers(1, 9))
    stacks = draw(some((), (), (2,), (3, 2)))
    if block(type) == 1 and draw(st.integers(0, 19)) == 19:
        n, count, stacks = draw(st.integers(1, 4)), _MANY_ROWS, ()
    values = _values(draw, type) if type in ("f32", "f16", "i32") else PLAIN
    a = laid_out(draw, type, (n, count, *stacks), values, rows=True)
    return call(name, a, laid_out(draw, "i32", (draw(lengths(40)), *stacks), {"high": count}))


@op("set_rows", weight=2)
def set_rows(draw: Draw, name: str) -> Tree:
    type = draw(types("f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "iq4_nl"))
    n = draw(lengths(max(1100 // block(type), 5))) * block(type)
    whole = draw(st.integers(1, 40))
    count = draw(st.integers(1, whole))
    stacks = draw(some((), (), (2,), (4, 2)))
    fewer = repeated(draw, stacks)
    rows = leaf(draw(types("i64", "i32")), count, *fewer, fill="distinct", high=whole)
    values = _values(draw, "f32") if block(type) == 1 else PLAIN
    b = laid_out(draw, "f32", (n, count, *stacks), values, rows=True)
    return call(name, laid_out(draw, type, (n, whole, *stacks), rows=True), b, rows)
