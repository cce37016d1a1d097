"""What the leaves of a case hold: random, but always the same for the same text.

Options of a leaf: `low`, `high` are the range of values (floats: -1..1; integers: from low, below high);
`fill` names another distribution, a function of this module.
"""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._native import Native
from ..tensor import Type, block_size, encode, type_size
from .expression import Leaf

Values = npt.NDArray[Any]


def random_for(text: str, index: int) -> np.random.Generator:
    """The generator for the index-th leaf of a case."""
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.default_rng([int.from_bytes(digest[:8], "little"), index])


def bytes_of(native: Native, leaf: Leaf, random: np.random.Generator) -> bytes:
    """The leaf's values as its type stores them. Raises ValueError for options that are none."""
    kind = Type.of(leaf.type)
    shape = tuple(reversed(leaf.ne))
    unknown = set(leaf.options) - {"fill", "low", "high"}
    if unknown:
        raise ValueError(f"a leaf has no option {min(unknown)!r}; there are fill, low and high")
    if 0 in shape:
        return b""
    if not leaf.options and block_size(native, kind) > 1:
        return _blocks(native, kind, shape, random)
    values = _values(leaf, kind, shape, random)
    return encode(native, values, kind)


def _values(leaf: Leaf, kind: Type, shape: tuple[int, ...], random: np.random.Generator) -> Values:
    whole = kind in (Type.I8, Type.I16, Type.I32, Type.I64)
    low = leaf.options.get("low", 0 if whole else -1.0)
    high = leaf.options.get("high", 100 if whole else 1.0)
    fill = leaf.options.get("fill", "uniform")
    make = _FILLS.get((fill, whole))
    if make is None:
        known = ", ".join(sorted({name for name, _ in _FILLS}))
        raise ValueError(f"{leaf.type} values cannot be filled by {fill!r}; fills: {known}")
    return make(shape, low, high, random)


# ---- blocks of the quantised types

_POOL = 256
"""Blocks to draw from: quantising anew takes longer than running the case."""

# Types that start with a half to scale by, and are codes of which every one means something. Quantising
# the first value of such a type takes ggml up to half a minute.
_CODED = (Type.IQ1_S, Type.IQ2_S, Type.IQ2_XS, Type.IQ2_XXS, Type.IQ3_S, Type.IQ3_XXS)

_pools: dict[tuple[str, Type], Values] = {}


def _blocks(native: Native, kind: Type, shape: tuple[int, ...], random: np.random.Generator) -> bytes:
    count = int(np.prod(shape)) // block_size(native, kind)
    size = type_size(native, kind)
    if kind in _CODED:
        return _codes(count, size, random).tobytes()
    if kind is Type.IQ1_M:
        return _codes_iq1_m(count, size, random).tobytes()
    pool = _pools.get((native.row, kind))
    if pool is None:
        floats = np.random.default_rng(int(kind)).uniform(-1, 1, (_POOL, block_size(native, kind)))
        raw = encode(native, floats.astype(np.float32), kind)
        pool = _pools[native.row, kind] = np.frombuffer(raw, np.uint8).reshape(-1, size)
    return pool[random.integers(len(pool), size=count)].tobytes()


def _codes(count: int, size: int, random: np.random.Generator) -> Values:
    blocks = random.integers(0, 256, (count, size), np.uint8)
    blocks[:, :2] = random.uniform(0.004, 0.02, (count, 1)).astype(np.float16).view(np.uint8)
    return blocks


def _codes_iq1_m(count: int, size: int, random: np.random.Generator) -> Values:
    """Its scale is in the upper 4 bits of the last four numbers of 16 bits."""
    blocks = random.integers(0, 256, (count, size), np.uint8)
    scale = random.uniform(0.01, 0.1, (count, 1)).astype(np.float16).view(np.uint16)
    parts = blocks[:, -8:].copy().view("<u2") & 0x0FFF
    blocks[:, -8:] = (
        (parts | (scale >> (4 * np.arange(4, dtype=np.uint16)) << 12)).astype("<u2").view(np.uint8)
    )
    return blocks


# ---- distributions

Fill = Callable[[tuple[int, ...], Any, Any, np.random.Generator], Values]
_FILLS: dict[tuple[str, bool], Fill] = {}


def _fill(name: str, *, whole: bool = False) -> Callable[[Fill], Fill]:
    def register(function: Fill) -> Fill:
        _FILLS[name, whole] = function
        return function

    return register


@_fill("uniform")
def _uniform(shape: tuple[int, ...], low: float, high: float, random: np.random.Generator) -> Values:
    return random.uniform(low, high, shape).astype(np.float32)


@_fill("uniform", whole=True)
def _integers(shape: tuple[int, ...], low: int, high: int, random: np.random.Generator) -> Values:
    return random.integers(low, high, shape)


@_fill("distinct")
def _distinct(shape: tuple[int, ...], low: float, high: float, random: np.random.Generator) -> Values:
    """No value twice, far enough from each other for rounding."""
    count = int(np.prod(shape))
    return random.permutation(np.linspace(low, high, count, dtype=np.float32)).reshape(shape)


@_fill("distinct", whole=True)
def _choices(shape: tuple[int, ...], low: int, high: int, random: np.random.Generator) -> Values:
    """No number twice in a row."""
    rows = [random.choice(high - low, shape[-1], replace=False) for _ in range(int(np.prod(shape[:-1])))]
    return np.array(rows, np.int64).reshape(shape) + low


@_fill("ties")
def _ties(shape: tuple[int, ...], low: float, high: float, random: np.random.Generator) -> Values:
    """A handful of values, so most of them many times."""
    return random.choice(np.linspace(low, high, 5, dtype=np.float32), shape)


@_fill("mask")
def _mask(shape: tuple[int, ...], low: float, high: float, random: np.random.Generator) -> Values:
    """An attention mask: a third is -inf, the rest between low and high; no row is all -inf."""
    values = random.uniform(low, high, shape).astype(np.float32)
    values[random.random(shape) < 1 / 3] = -np.inf
    values[..., 0] = np.where(np.isneginf(values[..., 0]), low, values[..., 0])
    return values


@_fill("masked")
def _masked(shape: tuple[int, ...], low: float, high: float, random: np.random.Generator) -> Values:
    """An attention mask with queries that see nothing: all of their row is -inf."""
    values = _mask(shape, low, high, random)
    values[random.random(shape[:-1]) < 1 / 4] = -np.inf
    return values


@_fill("causal")
def _causal(shape: tuple[int, ...], low: float, high: float, random: np.random.Generator) -> Values:
    """0 up to the query's own place, -inf behind it; the last query sees everything."""
    queries, keys = shape[-2:]
    seen = np.arange(keys) <= np.arange(queries)[:, None] + max(keys - queries, 0)
    return np.broadcast_to(np.where(seen, 0, -np.inf), shape).astype(np.float32)


@_fill("windows")
def _windows(shape: tuple[int, ...], low: float, high: float, random: np.random.Generator) -> Values:
    """An attention mask of which whole blocks are -inf, and others 0: each query sees 33 keys in a row."""
    queries, keys = shape[-2:]
    begin = (np.arange(queries) // 8 * 40 % max(keys - 32, 1))[:, None]
    seen = (np.arange(keys) >= begin) & (np.arange(keys) < begin + 33)
    return np.broadcast_to(np.where(seen, 0, -np.inf), shape).astype(np.float32)


@_fill("lower")
def _lower(shape: tuple[int, ...], low: float, high: float, random: np.random.Generator) -> Values:
    """A lower triangle that can be solved without losing digits: its diagonal is the larger."""
    n = shape[-1]
    values = np.tril(random.uniform(low, high, shape) / n, -1) + np.eye(n) * random.uniform(1, 2, shape)
    return values.astype(np.float32)


@_fill("special")
def _special(shape: tuple[int, ...], low: float, high: float, random: np.random.Generator) -> Values:
    """Among values of the range: zeros of both signs, infinities, very large and very small ones."""
    values = random.uniform(low, high, shape).astype(np.float32)
    odd = np.array([0.0, -0.0, np.inf, -np.inf, 1e4, -1e4, 80, -80, 1e-6, -1e-6, 20, -20], np.float32)
    place = random.random(shape) < 0.5
    values[place] = random.choice(odd, int(place.sum()))
    return values


@_fill("huge")
def _huge(shape: tuple[int, ...], low: float, high: float, random: np.random.Generator) -> Values:
    """Of all sizes up to the largest float, of both signs: sums and products overflow. For f32 only."""
    values = 10.0 ** random.uniform(30, 38.5, shape) * random.choice([-1.0, 1.0], shape)
    return np.asarray(values, np.float32)


@_fill("subnormal")
def _subnormal(shape: tuple[int, ...], low: float, high: float, random: np.random.Generator) -> Values:
    """Around the smallest normal float, of both signs: products and differences are subnormal, or 0."""
    values = 10.0 ** random.uniform(-41, -36, shape) * random.choice([-1.0, 1.0], shape)
    return np.asarray(values, np.float32)


@_fill("nan")
def _nan(shape: tuple[int, ...], low: float, high: float, random: np.random.Generator) -> Values:
    """Among values of the range: a NaN here and there."""
    values = random.uniform(low, high, shape).astype(np.float32)
    values[random.random(shape) < 1 / 8] = np.nan
    return values


@_fill("zero")
def _zero(shape: tuple[int, ...], low: float, high: float, random: np.random.Generator) -> Values:
    return np.zeros(shape, np.float32)
