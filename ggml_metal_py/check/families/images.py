"""Convolutions, pooling, scaling, padding, rolling: what works on windows of one to three axes."""

from collections.abc import Iterator

from ..expression import Call, Tree, call, leaf

BILINEAR, BICUBIC = 1, 2
ALIGN_CORNERS, ANTIALIAS = 256, 512
_SCALES = (0, BILINEAR, BICUBIC, BILINEAR | ALIGN_CORNERS, BICUBIC | ALIGN_CORNERS, BILINEAR | ANTIALIAS)


def cases() -> Iterator[tuple[str, Tree]]:
    for name, family in (
        ("im2col", _im2col),
        ("conv_2d", _conv_2d),
        ("conv_3d", _conv_3d),
        ("conv_transpose_1d", _conv_transpose_1d),
        ("conv_transpose_2d", _conv_transpose_2d),
        ("pool_1d", _pool_1d),
        ("pool_2d", _pool_2d),
        ("upscale", _upscale),
        ("pad", _pad),
        ("pad_reflect_1d", _pad_reflect),
        ("roll", _roll),
    ):
        yield from ((name, tree) for tree in family())


def _im2col() -> Iterator[Call]:
    for target in ("f32", "f16"):
        kernel = "f16" if target == "f16" else "f32"
        for k, n, s, p, d in ((3, 20, 1, 1, 1), (1, 7, 1, 0, 1), (4, 33, 2, 3, 2), (3, 3000, 2, 1, 1)):
            for batch in (1, 3):
                a, b = leaf(kernel, k, 4, 5), leaf("f32", n, 4, batch)
                yield call("im2col", a, b, s, 0, p, 0, d, 0, False, target)
        for kernel_ne, image, stride, padding, dilation in (
            ((3, 3, 2, 4), (9, 7, 2, 1), (1, 1), (1, 1), (1, 1)),
            ((3, 2, 4, 1), (12, 10, 4, 3), (2, 1), (0, 2), (1, 2)),
            ((1, 1, 3, 3), (5, 5, 3, 2), (1, 1), (0, 0), (1, 1)),
            ((5, 5, 1, 2), (20, 20, 1, 40), (3, 3), (2, 2), (1, 1)),
        ):
            numbers = [n for pair in (stride, padding, dilation) for n in pair]
            yield call("im2col", leaf(kernel, *kernel_ne), leaf("f32", *image), *numbers, True, target)
        yield call(
            "im2col", leaf(kernel, 33, 33, 1, 1), leaf("f32", 40, 40, 1, 1), 4, 4, 0, 0, 1, 1, True, target
        )
    # Whole convolutions, as graphs of im2col, products and copies.
    yield call("conv_1d", leaf("f16", 3, 4, 8), leaf("f32", 40, 4), 2, 1, 1)
    yield call("conv_1d_dw", leaf("f16", 3, 1, 4), leaf("f32", 40, 4), 1, 1, 1)
    yield call("conv_2d", leaf("f16", 3, 3, 4, 8), leaf("f32", 12, 10, 4, 2), 1, 1, 1, 1, 1, 1)


def _conv_2d() -> Iterator[Call]:
    for type in ("f16", "f32"):
        for kernel, image, numbers in (
            ((3, 3, 2, 4), (9, 7, 2, 1), (1, 1, 1, 1, 1, 1)),
            ((3, 2, 4, 5), (12, 10, 4, 3), (2, 1, 0, 2, 1, 2)),
            ((1, 1, 8, 8), (5, 5, 8, 2), (1, 1, 0, 0, 1, 1)),
            ((5, 5, 1, 2), (33, 20, 1, 2), (3, 2, 2, 2, 1, 1)),
            ((2, 2, 3, 1), (40, 40, 3, 1), (1, 1, 0, 0, 3, 3)),
        ):
            yield call("conv_2d_direct", leaf(type, *kernel), leaf("f32", *image), *numbers)
        rows = call("cut", leaf("f32", 14, 12, 2, 2), (9, 7, 2, 2), (2, 3))
        yield call("conv_2d_direct", leaf(type, 3, 3, 2, 4), rows, 1, 1, 1, 1, 1, 1)


def _conv_3d() -> Iterator[Call]:
    for type in ("f16", "f32"):
        for kernel, volume, numbers, channels in (
            ((3, 3, 3, 2 * 4), (8, 7, 6, 2), (1, 1, 1, 1, 1, 1, 1, 1, 1), (2, 1, 4)),
            ((2, 3, 1, 3 * 2), (9, 8, 5, 6), (2, 1, 2, 0, 1, 0, 1, 2, 1), (3, 2, 2)),
            ((1, 1, 1, 4), (4, 3, 2, 4), (1, 1, 1, 0, 0, 0, 1, 1, 1), (4, 1, 1)),
        ):
            yield call("conv_3d_direct", leaf(type, *kernel), leaf("f32", *volume), *numbers, *channels)


def _conv_transpose_1d() -> Iterator[Call]:
    for type in ("f16", "f32"):
        for k, out, channels, length, stride in (
            *((1, 1, 1, 1, 1), (3, 2, 4, 5, 1), (4, 3, 2, 7, 2), (2, 5, 3, 10, 3), (8, 4, 6, 33, 4)),
        ):
            a, b = leaf(type, k, out, channels), leaf("f32", length, channels)
            yield call("conv_transpose_1d", a, b, stride, 0, 1)
    turned = call("permute", leaf("f32", 3, 4, 2), 0, 2, 1, 3)
    yield call("conv_transpose_1d", turned, leaf("f32", 5, 4), 1, 0, 1)


def _conv_transpose_2d() -> Iterator[Call]:
    for type in ("f16", "f32"):
        for kernel, image, stride in (
            *(
                ((1, 1, 1, 1), (1, 1, 1, 1), 1),
                ((3, 3, 4, 2), (5, 4, 2, 1), 1),
                ((2, 2, 3, 5), (7, 6, 5, 1), 2),
            ),
            *(((3, 2, 4, 3), (10, 10, 3, 1), 3), ((8, 8, 2, 2), (9, 8, 2, 1), 4)),
        ):
            yield call("conv_transpose_2d_p0", leaf(type, *kernel), leaf("f32", *image), stride)
    yield call("conv_transpose_2d_p0", leaf("f16", 3, 3, 4, 2), leaf("f32", 5, 4, 2, 2), 1)


def _pool_1d() -> Iterator[Call]:
    for kind in ("avg", "max"):
        for ne in ((10, 3, 2, 1), (33, 2, 1, 1), (1025, 2, 2, 2)):
            for k, s, p in ((1, 1, 0), (3, 3, 0), (3, 1, 1), (4, 2, 1)):
                yield call("pool_1d", leaf("f32", *ne), kind, k, s, p)
    yield call("pool_1d", call("cut", leaf("f32", 12, 3), (10, 3)), "avg", 2, 2, 0)


def _pool_2d() -> Iterator[Call]:
    for kind in ("avg", "max"):
        for ne in ((10, 9, 3, 1), (33, 8, 2, 2), (64, 64, 1, 1)):
            for k, s, p in (
                ((1, 1), (1, 1), (0, 0)),
                ((3, 3), (3, 3), (0, 0)),
                ((3, 2), (2, 1), (1, 0)),
                ((3, 3), (1, 2), (1, 1)),
            ):
                yield call("pool_2d", leaf("f32", *ne), kind, *k, *s, *map(float, p))
    yield call("pool_2d", call("cut", leaf("f32", 12, 9, 2), (10, 9, 2)), "max", 2, 2, 2, 2, 0.0, 0.0)


def _upscale() -> Iterator[Call]:
    for mode in ("nearest", "bilinear", "bicubic"):
        for ne in ((2, 2, 1, 1), (5, 7, 3, 2), (64, 9, 2, 1)):
            for factor in (2, 3):
                yield call("upscale", leaf("f32", *ne), factor, mode)
    for number in _SCALES:
        for source, target in (
            *(((5, 7, 3, 2), (12, 9, 3, 2)), ((8, 8, 2, 1), (3, 5, 2, 1)), ((1, 1, 2, 1), (4, 3, 2, 1))),
            *(((5, 4, 2, 1), (5, 4, 4, 2)), ((512, 3, 1, 1), (1030, 2, 1, 1)), ((9, 9, 1, 1), (1, 1, 1, 1))),
        ):
            yield call("interpolate", leaf("f32", *source), *target, number)
        views = call("permute", leaf("f32", 6, 5, 4, 2), 1, 0, 3, 2)
        yield call("interpolate", views, 10, 9, 2, 4, number)


def _pad() -> Iterator[Call]:
    for ne in ((1, 1, 1, 1), (10, 5, 3, 2), (64, 3, 2, 1), (1023, 2, 1, 1), (2000, 3, 1, 1)):
        for pads in ((1, 0, 0, 0), (4, 3, 2, 1), (0, 0, 0, 0), (100, 1, 0, 0)):
            yield call("pad", leaf("f32", *ne), *pads)
    yield call("pad", call("cut", leaf("f32", 72, 5), (64, 3), (4, 1)), 3, 2, 0, 0)
    yield call("pad", call("permute", leaf("f32", 9, 4, 5), 0, 2, 1, 3), 3, 2, 1, 0)
    yield call("pad", call("transpose", leaf("f32", 9, 4)), 3, 2, 1, 0)
    yield call("pad_ext", leaf("f32", 9, 4, 3, 2), 0, 3, 0, 2, 0, 1, 0, 1)
    yield call("pad_ext", leaf("f32", 9, 4, 3, 2), 1, 3, 2, 2, 1, 1, 1, 0)
    yield call("pad_circular", leaf("f32", 9, 4, 3, 2), 1, 3, 2, 2)
    yield call("pad", leaf("f16", 8, 2), 1, 0, 0, 0)


def _pad_reflect() -> Iterator[Call]:
    for ne in ((5, 3, 2, 2), (64, 3, 1, 1), (1500, 2, 1, 1)):
        for before, after in ((0, 0), (1, 0), (0, 2), (3, 4)):
            yield call("pad_reflect_1d", leaf("f32", *ne), before, after)


def _roll() -> Iterator[Call]:
    for ne in ((1, 1, 1, 1), (5, 4, 3, 2), (64, 3, 1, 1), (1500, 2, 1, 1)):
        for shifts in ((0, 0, 0, 0), (1, 0, 0, 0), (-1, 2, -2, 1), (3, -3, 1, -1)):
            if all(abs(shift) < n for shift, n in zip(shifts, ne, strict=True)):
                yield call("roll", leaf("f32", *ne), *shifts)
    yield call("roll", call("cut", leaf("f32", 72, 5), (64, 3), (4, 1)), 3, -1, 0, 0)
    yield call("roll", call("permute", leaf("f32", 9, 4, 5), 0, 2, 1, 3), 3, 2, 1, 0)
    yield call("roll", leaf("f16", 8, 2), 1, 0, 0, 0)
