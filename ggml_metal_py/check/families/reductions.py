"""Sums, means, the largest value, counts."""

from collections.abc import Iterator

from ..expression import Call, Tree, call, leaf

_LENGTHS = (1, 3, 4, 7, 31, 32, 33, 64, 100, 128, 129, 1000, 1023, 1024, 1025, 2048, 4100, 5001, 40001)


def cases() -> Iterator[tuple[str, Tree]]:
    for name in ("sum_rows", "mean"):
        yield from ((name, tree) for tree in _rows(name))
    yield from (("sum", tree) for tree in _sum())
    yield from (("cumsum", tree) for tree in _cumsum())
    yield from (("argmax", tree) for tree in _argmax())
    yield from (("count_equal", tree) for tree in _count_equal())


def _layouts() -> Iterator[Call]:
    yield call("cut", leaf("f32", 72, 5), (64, 3), (4, 1))
    yield call("cut", leaf("f32", 71, 5, 3), (64, 3, 2), (3, 1, 1))
    yield call("cut", leaf("f32", 71, 5, 3), (65, 3, 2), (3, 1, 1))
    yield call("permute", leaf("f32", 36, 3, 5, 2), 0, 2, 3, 1)
    yield call("permute", leaf("f32", 35, 3, 5, 2), 0, 3, 1, 2)


def _rows(name: str) -> Iterator[Call]:
    for n in _LENGTHS:
        yield call(name, leaf("f32", n, 2))
    yield call(name, leaf("f32", 33, 5, 4, 3))
    yield call(name, leaf("f32", 64, 5, 4, 3))
    for a in _layouts():
        yield call(name, a)
    for type in ("f16", "bf16", "i32", "q4_0"):
        yield call(name, leaf(type, 32, 3))
    yield call(name, call("transpose", leaf("f32", 4, 8)))
    yield call(name, leaf("f32", 8, 0))


def _sum() -> Iterator[Call]:
    for n in _LENGTHS:
        yield call("sum", leaf("f32", n))
    for ne in ((33, 5), (4, 5, 4, 3), (1000, 50)):
        yield call("sum", leaf("f32", *ne))
    yield call("sum", call("cut", leaf("f32", 64, 5), (64, 3), (0, 1)))
    yield call("sum", call("cut", leaf("f32", 64, 5), (60, 3), (0, 1)))
    for type in ("f16", "bf16", "i32"):
        yield call("sum", leaf(type, 32, 3))


def _cumsum() -> Iterator[Call]:
    for n in (*_LENGTHS, 20000, 70000):
        yield call("cumsum", leaf("f32", n, 2))
    for n in (33, 1025):
        yield call("cumsum", leaf("f32", n, 5, 2, 3))
    for a in _layouts():
        yield call("cumsum", a)
    yield call("cumsum", call("cut", leaf("f32", 2100, 4), (2050, 3), (5, 1)))
    yield call("cumsum", leaf("f32", 0, 3))


def _argmax() -> Iterator[Call]:
    for n in _LENGTHS:
        yield call("argmax", leaf("f32", n, 3, fill="distinct"))
    for rows in (1, 2, 100, 300):
        yield call("argmax", leaf("f32", 100, rows, fill="distinct"))
    yield call("argmax", call("cut", leaf("f32", 72, 5, fill="distinct"), (64, 3), (4, 1)))
    yield call("argmax", leaf("f32", 100, 3, fill="ties"))
    yield call("argmax", leaf("f32", 1000, 1, fill="ties"))


def _count_equal() -> Iterator[Call]:
    for ne in ((1,), (31,), (33, 3), (64, 5, 4, 3), (1024, 2), (5000,), (1030, 3)):
        yield call("count_equal", leaf("i32", *ne, high=4), leaf("i32", *ne, high=4))
    yield call("count_equal", leaf("i32", 33, 3, high=1), leaf("i32", 33, 3, high=1))
    a = call("cut", leaf("i32", 72, 5, high=3), (64, 3), (4, 1))
    yield call("count_equal", a, call("cut", leaf("i32", 70, 5, high=3), (64, 3), (2, 2)))
    found = call("argmax", leaf("f32", 10, 50, fill="distinct"))
    yield call("count_equal", found, leaf("i32", 50, high=10))
