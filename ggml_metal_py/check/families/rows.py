"""get_rows and set_rows: rows by number."""

from collections.abc import Iterator

from ..expression import Call, Tree, call, leaf
from .matmul import ALL_TYPES, BLOCK, WITHOUT_KERNELS

_TARGETS = ("f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "iq4_nl")


def cases() -> Iterator[tuple[str, Tree]]:
    for type in (*ALL_TYPES, "i32"):
        yield from (("get_rows", tree) for tree in _get(type, BLOCK.get(type, 1)))
    for type in (*WITHOUT_KERNELS, "i16", "i8"):
        yield "get_rows", call("get_rows", leaf(type, 256, 4), leaf("i32", 3, high=4))
    for type in _TARGETS:
        for index in ("i32", "i64"):
            yield from (("set_rows", tree) for tree in _set(type, index))
    for type in ("q1_0", "q4_k", "i32"):
        yield "set_rows", call("set_rows", leaf(type, 256, 4), leaf("f32", 256, 2), _rows("i32", 2, 4))


def _rows(index: str, count: int, of: int, *stacks: int) -> Tree:
    return leaf(index, count, *stacks, fill="distinct", high=of)


def _get(type: str, block: int) -> Iterator[Call]:
    lengths = (1, 3, 32, 33, 64, 1023, 1024, 1025, 3000) if block == 1 else (block, 3 * block, 17 * block)
    for n in lengths:
        yield call("get_rows", leaf(type, n, 9), leaf("i32", 4, high=9))
    unit = max(block, 32)
    yield call("get_rows", leaf(type, unit, 1), leaf("i32", 1, high=1))
    yield call("get_rows", leaf(type, unit, 9, 3, 2), leaf("i32", 5, 3, 2, high=9))
    yield call("get_rows", call("cut", leaf(type, 3 * unit, 9), (unit, 7), (unit, 1)), leaf("i32", 4, high=7))
    yield call("get_rows", call("permute", leaf(type, unit, 3, 9), 0, 2, 1, 3), leaf("i32", 4, 3, high=9))
    yield call("get_rows", leaf(type, unit, 9), call("cut", leaf("i32", 9, high=9), (4,), (3,)))
    every_other = call("view_4d", leaf("i32", 2, 5, high=9), 1, 5, 1, 1, 8, 40, 40, 0)
    yield call("get_rows", leaf(type, unit, 9, 5), every_other)


def _set(type: str, index: str) -> Iterator[Call]:
    block = 1 if type in ("f32", "f16", "bf16") else 32
    lengths = (1, 3, 31, 32, 33, 64, 300, 1025) if block == 1 else (32, 64, 96, 1056)
    for n in lengths:
        for count in (1, 5):
            yield call("set_rows", leaf(type, n, 9), leaf("f32", n, count), _rows(index, count, 9))
    yield call("set_rows", leaf(type, 64, 40), leaf("f32", 64, 37), _rows(index, 37, 40))
    yield call("set_rows", leaf(type, 32, 9, 4, 2), leaf("f32", 32, 5, 4, 2), _rows(index, 5, 9, 4, 2))
    yield call("set_rows", leaf(type, 32, 9, 4, 2), leaf("f32", 32, 5, 4, 2), _rows(index, 5, 9, 2, 1))
    source = call("cut", leaf("f32", 96, 7), (64, 5), (32, 1))
    yield call("set_rows", leaf(type, 64, 9), source, _rows(index, 5, 9))
    yield call(
        "set_rows", call("cut", leaf(type, 96, 11), (64, 9), (32, 1)), leaf("f32", 64, 5), _rows(index, 5, 9)
    )
    turned = call("permute", leaf("f32", 64, 3, 5), 0, 2, 1, 3)
    yield call("set_rows", leaf(type, 64, 9, 3), turned, _rows(index, 5, 9))
