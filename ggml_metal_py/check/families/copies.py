"""Copies with and without conversion, into windows, into sums; repeat and concat."""

import itertools
from collections.abc import Iterator

from ..expression import Call, Leaf, Tree, call, leaf

_FLOATS = ("f32", "f16", "bf16")
_QUANTISED = ("q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q1_0")
_FROM = {
    "f32": ("f32", "f16", "bf16", *_QUANTISED, "iq4_nl", "i32"),
    "f16": ("f32", "f16"),
    "bf16": ("f32", "bf16"),
    "i32": ("f32", "i32"),
    **dict.fromkeys(_QUANTISED, ("f32", "f16")),
}
_PAIRS = tuple((source, target) for source, targets in _FROM.items() for target in targets)
_BLOCK = {**dict.fromkeys((*_QUANTISED, "iq4_nl"), 32), "q1_0": 128}


def cases() -> Iterator[tuple[str, Tree]]:
    for source, target in _PAIRS:
        yield from _copies(source, target)
        if target in (*_FLOATS, "i32"):
            yield from (("cpy", tree) for tree in _windows(source, target))
    for type in ("f32", "f16", "bf16", "i32"):
        yield from (("cont", tree) for tree in _contiguous(type))
        yield from (("dup", tree) for tree in (call("dup", leaf(type, 33, 5, 2)), _dup_view(type)))
    yield from _refused()
    yield from (("set", tree) for tree in _set())
    yield from (("acc", tree) for tree in _acc())
    yield from (("repeat", tree) for tree in _repeat())
    yield from (("concat", tree) for tree in _concat())


def _values(type: str, *ne: int) -> Leaf:
    return leaf(type, *ne, low=-50, high=50) if type == "i32" else leaf(type, *ne)


def _copies(source: str, target: str) -> Iterator[tuple[str, Tree]]:
    unit = max(_BLOCK.get(source, 1), _BLOCK.get(target, 1))
    lengths = (1, 3, 4, 31, 32, 33, 64, 255, 256, 257, 1025) if unit == 1 else (unit, 2 * unit, 9 * unit)
    low = {"i32": {"low": -99.0, "high": 99.0}}.get(target, {}) if source == "f32" else {}

    def values(*ne: int) -> Leaf:
        return leaf(source, *ne, **low) if low else _values(source, *ne)

    for n in lengths:
        yield "cpy", call("cpy", values(n, 3), leaf(target, n, 3))
    yield "cast", call("cast", values(2 * unit, 7), target)
    yield "cpy", call("cpy", values(unit, 300), leaf(target, unit, 300))
    yield "cpy", call("cpy", values(2 * unit, 3, 4, 2), leaf(target, 2 * unit, 3, 4, 2))
    # The same values in another shape.
    yield "cpy", call("cpy", values(2 * unit, 6), leaf(target, 4 * unit, 3))
    yield "cpy", call("cpy", values(6 * unit, 2), leaf(target, 2 * unit, 3, 2))
    # Rows apart, matrices in another order.
    yield (
        "cpy",
        call("cpy", call("cut", values(4 * unit, 5), (2 * unit, 3), (unit, 1)), leaf(target, 2 * unit, 3)),
    )
    yield (
        "cpy",
        call("cpy", call("permute", values(2 * unit, 3, 4), 0, 2, 1, 3), leaf(target, 2 * unit, 4, 3)),
    )
    if target != "iq4_nl":  # the reference quantises it in another way
        turned = call("permute", leaf(target, 2 * unit, 3, 4), 0, 2, 1, 3)
        yield "cpy", call("cpy", values(2 * unit, 4, 3), turned)
    if source not in _QUANTISED:
        turned = call("transpose", values(32, 2 * unit))
        yield "cpy", call("cpy", turned, leaf(target, 2 * unit, 32))
    yield "cpy", call("cpy", values(0, 3), leaf(target, 0, 3))


def _windows(source: str, target: str) -> Iterator[Call]:
    """Into a part of a tensor, of which the rest stays as it is."""
    unit = _BLOCK.get(source, 1) * 32
    window = call("cut", _values(target, unit + 40, 6), (unit, 3), (8, 2))
    yield call("cpy", _values(source, unit, 3), window)
    cache = call("cut", _values(target, unit, 8), (unit, 3), (0, 4))
    yield call("cpy", _values(source, unit, 3), cache)


def _dup_view(type: str) -> Call:
    return call("dup", call("permute", _values(type, 16, 3, 5), 0, 2, 1, 3))


def _contiguous(type: str) -> Iterator[Call]:
    for axes in itertools.permutations(range(4)):
        yield call("cont", call("permute", _values(type, 5, 4, 3, 2), *axes))
    yield call("cont", call("transpose", _values(type, 33, 65)))
    yield call("cont", call("transpose", _values(type, 300, 40)))
    yield call("cont", call("cut", _values(type, 40, 5, 2), (33, 3, 2), (3, 1)))
    yield call("cont", _values(type, 1025, 3))
    yield call("cont_2d", call("permute", _values(type, 4, 6, 8), 1, 0, 2, 3), 24, 8)


def _refused() -> Iterator[tuple[str, Tree]]:
    """What the device leaves to others."""
    for source, target in (
        ("f16", "bf16"),
        ("f32", "q4_k"),
        ("q4_k", "f32"),
        ("i32", "f16"),
        ("q8_0", "q8_0"),
    ):
        yield "cpy", call("cpy", leaf(source, 256, 2), leaf(target, 256, 2))
    # Into rows of other lengths, apart from each other; into values apart from each other.
    yield "cpy", call("cpy", leaf("f32", 6, 4), call("cut", leaf("f32", 12, 3), (8, 3)))
    yield "cpy", call("cpy", leaf("f32", 6, 4), call("transpose", leaf("f32", 4, 6)))


def _set() -> Iterator[Call]:
    for type in ("f32", "i32"):
        a, b = _values(type, 40, 6, 4), _values(type, 10, 3, 2)
        size = 40 * 4
        for name in ("set", "set_inplace"):
            yield call(name, a, b, size, size * 6, size * 24, 8 * 4 + 2 * size + size * 6)
        yield call("set_1d", _values(type, 100), _values(type, 33), 48)
        yield call("set_2d", _values(type, 40, 6), _values(type, 33, 4), size, size + 4)
        yield call("set_2d", _values(type, 300, 6), _values(type, 290, 4), 1200, 1204)
    view = call("cut", leaf("f32", 20, 5), (10, 3), (4, 1))
    yield call("set_2d", leaf("f32", 40, 6), view, 160, 320)


def _acc() -> Iterator[Call]:
    a, size = leaf("f32", 40, 6, 4), 160
    for b in (leaf("f32", 10, 3, 2), leaf("f32", 40, 6, 4), leaf("f32", 1), leaf("f32", 33, 1, 3)):
        offset = 0 if b.ne[0] == 40 else 4 * 4 + size
        for name in ("acc", "acc_inplace"):
            yield call(name, a, b, size, size * 6, size * 24, offset)
    yield call("acc", leaf("f32", 300, 4), leaf("f32", 290, 2), 1200, 4800, 4800, 1204)
    rows = call("cut", leaf("f32", 20, 5), (10, 3), (4, 1))
    yield call("acc", leaf("f32", 40, 6), rows, 160, 960, 960, 320)


def _repeat() -> Iterator[Call]:
    for type in ("f32", "f16", "i32", "i16"):
        a = _values(type, 10, 5, 4, 3) if type != "i16" else leaf(type, 10, 5, 4, 3)
        for ne in (
            (10, 5, 4, 3),
            (20, 5, 4, 3),
            (10, 10, 4, 3),
            (10, 5, 12, 3),
            (10, 5, 4, 6),
            (20, 10, 8, 6),
        ):
            yield call("repeat", a, leaf("f32", *ne))
        yield call("repeat_4d", leaf(type, 1), 33, 3, 2, 1)
        yield call("repeat_4d", leaf(type, 700, 2), 1400, 4, 1, 1)
        yield call("repeat", call("permute", a, 1, 0, 2, 3), leaf("f32", 10, 20, 4, 3))
    for type in ("bf16", "i8"):
        yield call("repeat_4d", leaf(type, 32, 2), 64, 4, 1, 1)


def _concat() -> Iterator[Call]:
    for type in ("f32", "i32"):
        for dim in range(4):
            for ne in ((11, 12, 13, 2), (64, 3, 2, 1), (1, 1, 1, 1), (300, 2, 1, 1)):
                other = [*ne]
                other[dim] = 7
                yield call("concat", _values(type, *ne), _values(type, *other), dim)
            views = call("permute", _values(type, 6, 5, 4, 3), 1, 0, 2, 3)
            yield call("concat", views, call("cut", _values(type, 8, 8, 4, 3), (5, 6, 4, 3), (2, 1)), dim)
    # Not quantised types: ggml's CPU backend writes behind their result.
    for type in ("f16", "bf16", "i8", "i16"):
        yield call("concat", leaf(type, 32, 3), leaf(type, 32, 3), 1)
    wide = (leaf("i64", 32, 3, low=-(2**40), high=2**40) for _ in range(2))
    yield call("concat", *wide, 1)
