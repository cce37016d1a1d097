"""argsort and top_k."""

from collections.abc import Iterator

from ..expression import Call, Tree, call, leaf

# A threadgroup sorts up to 1024 values; more are sorted in parts and merged.
_LENGTHS = (1, 2, 3, 7, 16, 31, 33, 64, 100, 1000, 1023, 1024, 1025, 2048, 2049, 3000, 4096, 5000, 9000)


def cases() -> Iterator[tuple[str, Tree]]:
    for order in ("asc", "desc"):
        for n in _LENGTHS:
            yield "argsort", call("argsort", leaf("f32", n, 2, fill="distinct"), order)
        yield "argsort", call("argsort", leaf("f32", 60, 5, 4, 3, fill="distinct"), order)
        yield "argsort", call("argsort", leaf("f32", 1500, 3, 2, fill="distinct"), order)
        yield "argsort", call("argsort", leaf("f32", 2500, 2, fill="ties"), order)
        rows = call("cut", leaf("f32", 72, 5, fill="distinct"), (64, 3), (4, 1))
        yield "argsort", call("argsort", rows, order)
    yield "argsort", call("argsort_top_k", leaf("f32", 100, 3, fill="distinct"), 7)
    yield from (("top_k", tree) for tree in _top_k())
    yield "argsort", call("argsort", call("transpose", leaf("f32", 5, 8, fill="distinct")), "asc")
    yield "argsort", call("argsort", leaf("i32", 8, 2), "asc")


def _top_k() -> Iterator[Call]:
    for n in _LENGTHS:
        for k in sorted({1, 2, 7, 40, 500, 1024, n}):
            if k <= n:
                yield call("top_k", leaf("f32", n, 2, fill="distinct"), k)
    yield call("top_k", leaf("f32", 60, 5, 4, 3, fill="distinct"), 10)
    yield call("top_k", leaf("f32", 2500, 3, 2, fill="distinct"), 33)
    yield call("top_k", leaf("f32", 2500, 2, fill="ties"), 33)
    yield call("top_k", call("cut", leaf("f32", 72, 5, fill="distinct"), (64, 3), (4, 1)), 5)
