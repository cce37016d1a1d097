"""add, sub, mul, div and what is like them: two sources, the second one repeated to the first."""

from collections.abc import Iterator

from ..expression import Call, Leaf, Tree, call, leaf

OPS = ("add", "sub", "mul", "div")

# Lengths of both sources. Rows that are and are not multiples of 4, less and more than a threadgroup.
_SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((1,), (1,)),
    ((4,), (4,)),
    ((5,), (1,)),
    ((3, 5), (3,)),
    ((8, 5), (8, 1)),
    ((8, 5), (4, 5)),
    ((6, 4), (3, 2)),
    ((33, 4, 3, 2), (33, 4, 3, 2)),
    ((64, 4, 3, 2), (64, 2, 3, 1)),
    ((16, 5, 4, 3), (16, 1, 1, 1)),
    ((16, 4, 4, 2), (16, 2, 2, 2)),
    ((5, 4, 6, 2), (1, 1, 3, 2)),
    ((16, 5, 4, 3), (1,)),
    ((1023, 2), (1023,)),
    ((1024, 3), (512, 3)),
    ((1025, 2), (1025, 1)),
    ((4096, 17), (4096,)),
    ((70000,), (70000,)),
)


def _b(op: str, *ne: int) -> Leaf:
    """What is divided by keeps away from 0."""
    return leaf("f32", *ne, low=0.5, high=2.0) if op == "div" else leaf("f32", *ne)


def cases() -> Iterator[tuple[str, Tree]]:
    for op in OPS:
        for a, b in _SHAPES:
            yield op, call(op, leaf("f32", *a), _b(op, *b))
            if a == b or len(a) == 2:
                yield op, call(f"{op}_inplace", leaf("f32", *a), _b(op, *b))
        yield from ((op, tree) for tree in _layouts(op))
    yield from (("add", tree) for tree in _chains())


def _layouts(op: str) -> Iterator[Call]:
    """Rows apart, matrices in another order."""
    yield call(op, call("cut", leaf("f32", 72, 5), (64, 3), (4, 1)), _b(op, 64, 3))
    yield call(op, call("cut", leaf("f32", 70, 5), (63, 3), (3, 2)), _b(op, 63))
    yield call(op, leaf("f32", 64, 3), call("cut", _b(op, 72, 5), (64, 3), (8, 0)))
    yield call(op, call("permute", leaf("f32", 16, 3, 5), 0, 2, 1, 3), _b(op, 16, 5, 3))
    yield call(op, call("permute", leaf("f32", 15, 3, 5, 2), 0, 3, 1, 2), _b(op, 15, 5, 2, 3))
    yield call(op, leaf("f32", 12, 5, 4), call("permute", _b(op, 12, 4, 5), 0, 2, 1, 3))
    yield call(op, leaf("f32", 0, 3), _b(op, 0, 3))


def _sum(first: Leaf, *others: Leaf) -> Call:
    result = call("add", first, others[0])
    for other in others[1:]:
        result = call("add", result, other)
    return result


def _chains() -> Iterator[Call]:
    """Sums in a row, which upstream does in one kernel, up to 8 of them."""
    for ne in ((16, 4), (5, 3), (64, 4, 3, 2)):
        for length in range(2, 11):
            yield _sum(leaf("f32", *ne), *(leaf("f32", *ne) for _ in range(length)))
    for length in (2, 5):
        yield _sum(leaf("f32", 32, 6), *(leaf("f32", 32) for _ in range(length)))
    # Not alike, or used twice: not in one kernel.
    yield call("add", call("add", leaf("f32", 32, 6), leaf("f32", 32)), leaf("f32", 32, 6))
    used = call("add", leaf("f32", 32, 6), leaf("f32", 32))
    yield call("mul", call("add", used, leaf("f32", 32)), used)
    yield call("add", leaf("f32", 32, 6), call("add", leaf("f32", 32, 6), leaf("f32", 32, 6)))
