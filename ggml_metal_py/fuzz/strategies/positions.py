"""Encodings of positions."""

from hypothesis import strategies as st

from .registry import op
from .tensors import Draw, Tree, call, laid_out, leaf, lengths, shapes, some, types

_MROPE, _VISION, _IMROPE = 8, 24, 40
_NUMBERS = (
    (10000.0, 1.0, 0.0, 1.0, 32.0, 1.0),
    (10000.0, 0.25, 0.75, 1.2, 32.0, 1.0),
    (500000.0, 1.5, 0.0, 0.9, 32.0, 1.0),
)
"""freq_base, freq_scale, ext_factor, attn_factor, beta_fast, beta_slow."""


@op("rope")
def rope(draw: Draw, name: str) -> Tree:
    half = draw(lengths(130))
    heads, tokens, batch = draw(st.integers(1, 5)), draw(st.integers(1, 9)), draw(some(1, 1, 2))
    rotated = 2 * draw(some(half, half, draw(st.integers(1, half))))
    n = 2 * half + draw(some(0, 0, 0, 1))
    type = draw(types("f32", "f16"))
    a = laid_out(draw, type, (n, heads, tokens, batch), rows=draw(some(True, True, False)))
    positions = leaf("i32", tokens, high=500)
    mode = draw(some(0, 2))
    factors = draw(some(None, None, leaf("f32", rotated // 2, low=0.9, high=1.4)))
    suffix = draw(some("", "", "_inplace"))
    return call(f"rope_ext{suffix}", a, positions, factors, rotated, mode, 512, *draw(some(*_NUMBERS)))


@op("rope_multi")
def rope_multi(draw: Draw, name: str) -> Tree:
    quarter = draw(lengths(40))
    n, mode = 4 * quarter, draw(some(_MROPE, _VISION, _IMROPE))
    heads, tokens, batch = draw(st.integers(1, 4)), draw(st.integers(1, 7)), draw(some(1, 1, 2))
    first, second = (draw(st.integers(1, quarter)) for _ in range(2))
    sections = (
        (quarter, quarter, 0, 0) if mode == _VISION else (first, second, quarter, draw(some(0, quarter)))
    )
    rotated = n // 2 if mode == _VISION else draw(some(n, n // 2))
    a = laid_out(draw, draw(types("f32", "f16")), (n, heads, tokens, batch), rows=True)
    factors = draw(some(None, None, leaf("f32", n // 2, low=0.9, high=1.4)))
    positions = leaf("i32", 4 * tokens, high=500)
    return call(name, a, positions, factors, rotated, sections, mode, 512, *draw(some(*_NUMBERS)))


@op("timestep_embedding")
def timesteps(draw: Draw, name: str) -> Tree:
    count, dim = draw(st.integers(1, 9)), draw(lengths(1100))
    return call(name, leaf("f32", count, low=0.0, high=1000.0), dim, draw(some(10000, 100)))


@op("arange")
def arange(draw: Draw, name: str) -> Tree:
    count, step = draw(lengths(3000)), draw(some(1.0, 0.25, 2.0, -1.0))
    start = float(draw(st.integers(-9, 9)))
    return call(name, start, start + step * count, step)


@op("roll")
def roll(draw: Draw, name: str) -> Tree:
    ne = draw(shapes())
    shifts = [draw(st.integers(1 - n, n - 1)) for n in (*ne, 1, 1, 1)[:4]]
    return call(name, leaf("f32", *ne), *shifts)
