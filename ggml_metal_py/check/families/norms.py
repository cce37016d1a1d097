"""Norms, alone and with the product and sum behind them that upstream does in the same kernel; soft_max."""

from collections.abc import Iterator
from typing import Any

from ..expression import Call, Leaf, Tree, call, leaf

# Around a simdgroup, around a threadgroup of 1024 threads, alone and with four values to a thread.
_LENGTHS = (1, 3, 4, 8, 31, 32, 33, 64, 68, 100, 127, 128, 132, 384, 1000, 1023, 1024, 1025, 2052, 4096, 5001)
_LONG = (4100, 8200, 40000)

_NORMS = ("norm", "rms_norm", "l2_norm")


def cases() -> Iterator[tuple[str, Tree]]:
    for name in _NORMS:
        yield from ((name, tree) for tree in _norm(name))
    for name in ("norm", "rms_norm"):
        yield from ((name, tree) for tree in _fused(name))
    yield from (("group_norm", tree) for tree in _group_norm())
    yield from (("soft_max", tree) for tree in _soft_max())


def _norm(name: str) -> Iterator[Call]:
    for n in (*_LENGTHS, *_LONG):
        yield call(name, leaf("f32", n, 2), 1e-6)
    for eps in (0.0, 1e-5, 0.1, 10.0):
        yield call(name, leaf("f32", 65, 5, 4, 3), eps)
        yield call(name, leaf("f32", 64, 5, 4, 3, low=99.0, high=101.0), eps)
        yield call(f"{name}_inplace", leaf("f32", 68, 5), eps)
    yield call(name, leaf("f32", 64, 2, fill="zero"), 1e-5)
    for a in _layouts("f32"):
        yield call(name, a, 1e-5)
    yield call(name, leaf("f16", 64, 3), 1e-5)
    yield call(name, leaf("f32", 0, 3), 1e-5)


def _layouts(type: str) -> Iterator[Call]:
    yield call("cut", leaf(type, 72, 5), (64, 3), (4, 1))
    yield call("cut", leaf(type, 71, 5, 3), (65, 3, 2), (3, 1, 1))
    yield call("cut", leaf(type, 71, 5, 3), (64, 3, 2), (3, 1, 1))  # rows at odd places
    yield call("permute", leaf(type, 36, 3, 5, 2), 0, 2, 3, 1)
    yield call("permute", leaf(type, 35, 3, 5, 2), 0, 3, 1, 2)


def _fused(name: str) -> Iterator[Call]:
    for n in (1, 4, 65, 64, 1025, 2052):
        for rows in ((), (5,), (5, 2, 3)):
            a, b, c = (leaf("f32", n, *rows) for _ in range(3))
            row = leaf("f32", n)
            yield call("mul", call(name, a, 1e-6), b)
            yield call("add", call("mul", call(name, a, 1e-6), b), c)
            if rows:
                yield call("mul", call(name, a, 1e-6), row)
                yield call("add", call("mul", call(name, a, 1e-6), row), leaf("f32", n))
                yield call("add", call("mul", call(name, a, 1e-6), b), row)
    a = leaf("f32", 64, 6, 4, 2)
    for ne in ((64, 1, 4), (64, 6, 1, 2), (64, 3, 2), (64, 1, 1, 2)):
        yield call("mul", call(name, a, 1e-5), leaf("f32", *ne))
        yield call("add", call("mul", call(name, a, 1e-5), leaf("f32", *ne)), leaf("f32", 64, 6))
    # Close, but done by kernels of their own.
    yield call("mul", call(name, a, 1e-5), leaf("f32", 1, 6))
    yield call("mul", leaf("f32", 64, 6), call(name, leaf("f32", 64, 6), 1e-5))
    yield call("add", call(name, a, 1e-5), leaf("f32", 64))
    yield call("mul", call("mul", call(name, a, 1e-5), leaf("f32", 64)), leaf("f32", 64))
    used = call(name, leaf("f32", 64, 6), 1e-5)
    yield call("add", call("mul", used, leaf("f32", 64)), used)
    for view in _layouts("f32"):
        yield call("mul", call(name, view, 1e-5), leaf("f32", 1))
    rows_apart = call("cut", leaf("f32", 72, 6), (64, 6), (4, 0))
    yield call("add", call("mul", call(name, leaf("f32", 64, 6), 1e-5), rows_apart), rows_apart)


def _group_norm() -> Iterator[Call]:
    for ne, groups in (
        *(((1, 1, 1), 1), ((5, 3, 4), 1), ((5, 3, 4), 4), ((8, 4, 6), 3), ((33, 5, 8), 2), ((64, 64, 4), 4)),
        *(((7, 1, 320), 32), ((8, 8, 32, 1), 8), ((4, 4, 5), 2), ((5, 3, 4, 2), 2)),
    ):
        for eps in (1e-6, 1e-2):
            yield call("group_norm", leaf("f32", *ne), groups, eps)
    yield call("group_norm_inplace", leaf("f32", 5, 3, 4), 2, 1e-6)
    yield call("group_norm", leaf("f16", 8, 4, 6), 3, 1e-6)
    yield call("group_norm", call("permute", leaf("f32", 8, 6, 4), 0, 2, 1, 3), 3, 1e-6)


def _soft_max() -> Iterator[Call]:
    for n in (*_LENGTHS, *_LONG):
        yield call("soft_max", leaf("f32", n, 2, low=-4.0, high=4.0))
    for type in ("f32", "f16"):
        for n in _LENGTHS:
            yield _masked(leaf("f32", n, 3, 2, low=-4.0, high=4.0), leaf(type, n, 3, fill="mask"), 0.5)
        for ne in ((65, 5, 6, 2), (64, 5, 6, 2)):
            a = leaf("f32", *ne)
            for mask in (ne[:2], (ne[0], 5, 6), (ne[0], 5, 1, 2), (ne[0], 5, 3, 2), (ne[0], 8)):
                for bias in (0.0, 8.0):
                    yield _masked(a, leaf(type, *mask, fill="mask"), 0.3, bias)
            sinks = leaf("f32", 6, low=-3.0, high=3.0)
            yield call("with_sinks", _masked(a, leaf(type, *ne[:2], fill="mask"), 0.5, 8.0), sinks)
            yield call("with_sinks", _masked(a, None, 2.0), sinks)
    for heads in (1, 2, 3, 12):
        yield _masked(leaf("f32", 33, 2, heads), leaf("f32", 33, 2, fill="mask"), 0.1, 4.0)
    yield call("soft_max_inplace", leaf("f32", 66, 3))
    yield call("soft_max_ext_inplace", leaf("f32", 66, 3), leaf("f16", 66, 3, fill="causal"), 0.5, 0.0)
    yield _masked(leaf("f32", 64, 3, low=-1e4, high=1e4), None, 0.01)
    yield call("soft_max", leaf("f16", 64, 3))
    yield call("soft_max", leaf("f32", 0, 3))


def _masked(a: Leaf | Call, mask: Any, scale: float, max_bias: float = 0.0) -> Call:
    return call("soft_max_ext", a, mask, scale, max_bias)
