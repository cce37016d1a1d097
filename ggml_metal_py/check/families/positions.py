"""rope in its modes, and other encodings of positions."""

from collections.abc import Iterator

from ..expression import Call, Leaf, Tree, call, leaf

NORMAL, NEOX, MROPE, VISION, IMROPE = 0, 2, 8, 24, 40
_PLAIN = (10000.0, 1.0, 0.0, 1.0, 32.0, 1.0)
"""freq_base, freq_scale, ext_factor, attn_factor, beta_fast, beta_slow."""
_YARN = (10000.0, 0.25, 0.75, 1.2, 32.0, 1.0)
_OTHER = (500000.0, 1.5, 0.0, 0.9, 32.0, 1.0)


def cases() -> Iterator[tuple[str, Tree]]:
    for type in ("f32", "f16"):
        for mode in (NORMAL, NEOX):
            yield from (("rope", tree) for tree in _rope(type, mode))
        for mode in (MROPE, VISION, IMROPE):
            yield from (("rope", tree) for tree in _multi(type, mode))
    for name in ("bf16", "q8_0"):
        yield "rope", call("rope", leaf(name, 64, 2, 3), _positions(3), 64, NORMAL)
    yield from (("timestep_embedding", tree) for tree in _timesteps())
    yield from (("arange", tree) for tree in _ranges())


def _positions(count: int) -> Leaf:
    return leaf("i32", count, high=500)


def _rope(type: str, mode: int) -> Iterator[Call]:
    for ne in ((2, 1, 1), (32, 3, 5), (64, 32, 2), (80, 4, 3), (128, 2, 7), (128, 2, 3, 2), (2050, 1, 2)):
        for rotated in {ne[0], ne[0] // 4 * 2} - {0}:
            yield call("rope", leaf(type, *ne), _positions(ne[2]), rotated, mode)
    a = leaf(type, 64, 4, 5)
    for numbers in (_PLAIN, _YARN, _OTHER):
        for factors in (None, leaf("f32", 32, low=0.9, high=1.4)):
            yield call("rope_ext", a, _positions(5), factors, 64, mode, 512, *numbers)
            yield call("rope_ext", a, _positions(5), factors, 48, mode, 512, *numbers)
    yield call("rope_inplace", a, _positions(5), 64, mode)
    yield call("rope_ext_inplace", a, _positions(5), None, 32, mode, 512, *_YARN)
    window = call("cut", leaf(type, 96, 6, 7), (64, 4, 5), (16, 1, 1))
    yield call("rope", window, _positions(5), 64, mode)
    yield call("rope", call("permute", leaf(type, 64, 5, 4), 0, 2, 1, 3), _positions(5), 64, mode)


def _multi(type: str, mode: int) -> Iterator[Call]:
    for ne, sections in (
        ((128, 3, 5), (16, 24, 24, 0)),
        ((64, 2, 7, 2), (8, 8, 8, 8)),
        ((80, 4, 3), (10, 10, 10, 10)),
        ((32, 2, 4), (11, 11, 10, 0)),
        ((32, 1, 1), (4, 4, 4, 4)),
    ):
        positions = _positions(4 * ne[2])
        if mode == VISION:
            sections = (ne[0] // 4, ne[0] // 4, 0, 0)
        for rotated in (ne[0] // 2,) if mode == VISION else (ne[0], ne[0] // 2):
            for numbers in (_PLAIN, _YARN):
                for factors in (None, leaf("f32", ne[0] // 2, low=0.9, high=1.4)):
                    a = leaf(type, *ne)
                    yield call("rope_multi", a, positions, factors, rotated, sections, mode, 512, *numbers)
    window = call("cut", leaf(type, 96, 6, 7), (64, 4, 5), (16, 1, 1))
    sections = (16, 16, 0, 0) if mode == VISION else (8, 12, 12, 0)
    rotated = 32 if mode == VISION else 64
    yield call("rope_multi", window, _positions(20), None, rotated, sections, mode, 512, *_PLAIN)


def _timesteps() -> Iterator[Call]:
    for count, dim, period in (
        (1, 2, 10000),
        (3, 320, 10000),
        (5, 33, 10000),
        (2, 256, 100),
        (1, 3000, 10000),
    ):
        yield call("timestep_embedding", leaf("f32", count, low=0.0, high=1000.0), dim, period)


def _ranges() -> Iterator[Call]:
    for start, stop, step in ((0.0, 1.0, 1.0), (0.0, 10.0, 1.0), (-3.5, 4.0, 0.25), (0.0, 3000.0, 1.0)):
        yield call("arange", start, stop, step)
