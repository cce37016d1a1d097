"""flash_attn_ext: every type and head size, for few queries and for many; masks, sinks, ALiBi, soft caps."""

from collections.abc import Iterator
from typing import Any

from ..expression import Call, Leaf, Tree, call, leaf

TYPES = ("f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1")
HEADS = (
    *((32, 32), (40, 40), (48, 48), (64, 64), (72, 72), (80, 80), (96, 96), (112, 112), (128, 128)),
    *((192, 192), (192, 128), (256, 256), (320, 256), (512, 512), (576, 512)),
)
"""Lengths of keys and of values."""


def cases() -> Iterator[tuple[str, Tree]]:
    for type in TYPES:
        for dk, dv in HEADS:
            yield from (("flash_attn_ext", tree) for tree in _every_kernel(type, dk, dv))
    for type in ("f16", "q8_0"):
        for n in (1, 3, 20, 35):
            yield from (("flash_attn_ext", tree) for tree in _options(type, n))
    yield from (("flash_attn_ext", tree) for tree in _lengths())
    yield from (("flash_attn_ext", tree) for tree in _layouts())


def _cache(type: str, d: int, *ne: int) -> Leaf | Call:
    """Keys or values. When d is no whole number of blocks, they are the beginnings of longer rows."""
    whole = d if type in ("f32", "f16", "bf16") else -(-d // 32) * 32
    rows = leaf(type, whole, *ne)
    return rows if whole == d else call("cut", rows, (d, *ne))


def _attention(
    type: str,
    n: int,
    kv: int,
    d: tuple[int, int] = (64, 64),
    heads: tuple[int, int] = (2, 2),
    batch: int = 1,
    mask: Tree | None = None,
    **numbers: float,
) -> Call:
    dk, _ = d
    q = leaf("f32", dk, n, heads[0], batch)
    k, v = (_cache(type, length, kv, heads[1], batch) for length in d)
    scale, bias, cap = numbers.get("scale", dk**-0.5), numbers.get("bias", 0.0), numbers.get("cap", 0.0)
    return call("flash_attn_ext", q, k, v, mask, round(scale, 6), bias, cap)


def _mask(kv: int, n: int, *ne: int, fill: str = "mask") -> Leaf:
    return leaf("f16", kv, n, *ne, fill=fill)


def _every_kernel(type: str, dk: int, dv: int) -> Iterator[Call]:
    d = (dk, dv)
    yield _attention(type, 1, 64, d, mask=_mask(64, 1))
    yield _attention(type, 3, 37, d, (2, 1))
    yield _attention(type, 20, 64, d)
    yield _attention(type, 24, 75, d, (2, 1), mask=_mask(75, 24, fill="causal"))


def _options(type: str, n: int) -> Iterator[Call]:
    rows = -(-n // 32) * 32
    for kv in (96, 113):
        for heads in ((4, 4), (4, 2), (6, 1)):
            yield _attention(type, n, kv, heads=heads, mask=_mask(kv, n))
            yield _attention(type, n, kv, heads=heads, mask=_mask(kv, n), bias=8.0)
            yield _attention(type, n, kv, heads=heads, cap=10.0, scale=2.0)
            yield _attention(type, n, kv, heads=heads, mask=_mask(kv, n), bias=8.0, cap=5.0, scale=1.5)
            sinks = leaf("f32", heads[0], low=-2.0, high=2.0)
            yield call("with_sinks", _attention(type, n, kv, heads=heads, mask=_mask(kv, n)), sinks)
            yield call("with_sinks", _attention(type, n, kv, heads=heads), sinks)
        for fill in ("causal", "zero", "windows"):
            yield _attention(type, n, kv, mask=_mask(kv, n, fill=fill))
            yield _attention(type, n, kv, mask=_mask(kv, rows, fill=fill))
        yield _attention(type, n, kv, heads=(4, 2), batch=3, mask=_mask(kv, n, 1, 3))
        yield _attention(type, n, kv, heads=(4, 2), batch=3, mask=_mask(kv, n, 4, 1))
        yield _attention(type, n, kv, heads=(4, 2), batch=2, mask=_mask(kv, n, 2, 2))
        yield _attention(type, n, kv, batch=2)


def _lengths() -> Iterator[Call]:
    for kv in (1, 2, 31, 32, 33, 63, 64, 65, 128, 200):
        for n in (1, 19, 20, 32):
            yield _attention("f16", n, kv, mask=_mask(kv, n))
            yield _attention("f16", n, kv, (40, 40))
    # So many keys that two or four simdgroups share them.
    for kv in (2049, 2500, 4200):
        for d in ((64, 64), (128, 128), (256, 256)):
            yield _attention("f16", 2, kv, d, (1, 1), mask=_mask(kv, 2))
        yield _attention("q4_0", 1, kv, (128, 128), (1, 1))
        yield _attention("f32", 1, kv, (192, 128), (1, 1))


def _layouts() -> Iterator[Call]:
    """As llama.cpp does: heads beside each other in a token's row, keys and values windows of a cache."""
    for type in ("f32", "f16", "bf16", "q8_0"):
        for n, kv in ((1, 64), (5, 75), (33, 96), (20, 50)):
            q = call("permute", leaf("f32", 64, 4, n), 0, 2, 1, 3)
            k = call("permute", leaf(type, 64, 2, kv), 0, 2, 1, 3)
            v = call("permute", leaf(type, 64, 2, kv), 0, 2, 1, 3)
            mask = _mask(kv, n)
            yield call("flash_attn_ext", q, k, v, mask, 0.125, 0.0, 0.0)
            window: Any = [
                call("permute", call("cut", leaf(type, 64, 2, kv + 32), (64, 2, kv), (0, 0, 32)), 0, 2, 1, 3)
                for _ in range(2)
            ]
            yield call("flash_attn_ext", q, *window, mask, 0.125, 0.0, 0.0)
    # Latent attention: the values are the beginnings of the keys.
    for type in ("f16", "q8_0"):
        for n in (1, 24):
            keys = leaf(type, 576, 40, 1)
            values = call("cut", keys, (512, 40, 1))
            yield call("flash_attn_ext", leaf("f32", 576, n, 4), keys, values, _mask(40, n), 0.05, 0.0, 0.0)
    for d in ((64, 32), (128, 64), (192, 64)):  # no kernels
        yield _attention("f16", 1, 64, d)
        yield _attention("f16", 20, 64, d)
    yield _attention("f16", 1, 64, (56, 56))
