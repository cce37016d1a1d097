"""Convolutions, pooling, scaling, padding: what works on windows of one to three axes."""

from hypothesis import strategies as st

from .registry import op
from .tensors import Draw, Shape, Tree, call, laid_out, leaf, lengths, padded, shapes, some, types


def _few(draw: Draw, most: int, least: int = 1) -> int:
    return draw(st.integers(least, most))


def _window(draw: Draw, axes: int, image: Shape) -> tuple[list[int], list[int], list[int], list[int]]:
    """Kernel, strides, padding and dilation that fit into the image."""
    kernel, strides, padding, dilation = [], [], [], []
    for n in image[:axes]:
        p = draw(st.integers(0, 3))
        d = draw(some(1, 1, 2, 3))
        k = draw(st.integers(1, max(1, min(7, (n + 2 * p - 1) // d + 1))))
        kernel.append(k)
        strides.append(draw(st.integers(1, 3)))
        padding.append(p)
        dilation.append(d)
    return kernel, strides, padding, dilation


@op("im2col")
def im2col(draw: Draw, name: str) -> Tree:
    target = draw(types("f32", "f16"))
    kernel_type = "f16" if target == "f16" else draw(types("f32", "f16"))
    two = draw(some(False, True))
    image = tuple(draw(lengths(33)) for _ in range(1 + two))
    kernel, s, p, d = _window(draw, 1 + two, image)
    channels, batch, out = _few(draw, 5), _few(draw, 3), _few(draw, 4)
    a, b = leaf(kernel_type, *kernel, channels, out), leaf("f32", *image, channels, batch)
    numbers = [n for pair in (s, p, d) for n in (pair if two else (*pair, 0))]
    return call(name, a, b, *numbers, two, target)


@op("conv_2d_direct")
def conv_2d(draw: Draw, name: str) -> Tree:
    image = tuple(draw(lengths(24)) for _ in range(2))
    kernel, s, p, d = _window(draw, 2, image)
    channels, batch, out = _few(draw, 5), _few(draw, 3), _few(draw, 5)
    b = laid_out(draw, "f32", (*image, channels, batch))
    return call(name, leaf(draw(types("f32", "f16")), *kernel, channels, out), b, *s, *p, *d)


@op("conv_3d_direct")
def conv_3d(draw: Draw, name: str) -> Tree:
    volume = tuple(draw(st.integers(1, 9)) for _ in range(3))
    kernel, s, p, d = _window(draw, 3, volume)
    channels, batch, out = _few(draw, 3), _few(draw, 2), _few(draw, 3)
    a = leaf(draw(types("f32", "f16")), *kernel, channels * out)
    return call(name, a, leaf("f32", *volume, channels * batch), *s, *p, *d, channels, batch, out)


@op("conv_transpose_1d")
def conv_transpose_1d(draw: Draw, name: str) -> Tree:
    channels = _few(draw, 5)
    a = leaf(draw(types("f32", "f16")), _few(draw, 8), _few(draw, 5), channels)
    return call(name, a, leaf("f32", draw(lengths(70)), channels), _few(draw, 4), 0, 1)


@op("conv_transpose_2d_p0")
def conv_transpose_2d(draw: Draw, name: str) -> Tree:
    channels = _few(draw, 4)
    a = leaf(draw(types("f32", "f16")), _few(draw, 5), _few(draw, 5), _few(draw, 4), channels)
    return call(name, a, leaf("f32", draw(lengths(17)), draw(lengths(17)), channels), _few(draw, 3))


@op("pool_1d")
def pool_1d(draw: Draw, name: str) -> Tree:
    ne = draw(shapes())
    p = draw(st.integers(0, 2))
    k = draw(st.integers(1, max(1, min(6, ne[0] + 2 * p))))
    return call(name, laid_out(draw, "f32", ne, rows=True), draw(some("max", "avg")), k, _few(draw, 3), p)


@op("pool_2d")
def pool_2d(draw: Draw, name: str) -> Tree:
    ne = padded(draw(shapes(most=70)))
    p = [draw(st.integers(0, 2)) for _ in range(2)]
    k = [draw(st.integers(1, max(1, min(5, n + 2 * q)))) for n, q in zip(ne[:2], p, strict=True)]
    s = [_few(draw, 3), _few(draw, 3)]
    return call(name, leaf("f32", *ne), draw(some("max", "avg")), *k, *s, *map(float, p))


_BILINEAR, _BICUBIC, _ALIGNED, _ANTIALIAS = 1, 2, 256, 512


@op("interpolate")
def interpolate(draw: Draw, name: str) -> Tree:
    ne = padded(draw(shapes(most=40)))
    target = [draw(lengths(40)) for _ in range(2)]
    rest = [n * draw(some(1, 1, 2)) for n in ne[2:]]
    mode = draw(
        some(0, _BILINEAR, _BICUBIC, _BILINEAR | _ALIGNED, _BICUBIC | _ALIGNED, _BILINEAR | _ANTIALIAS)
    )
    return call(name, laid_out(draw, "f32", ne), *target, *rest, mode)


@op("pad")
def pad(draw: Draw, name: str) -> Tree:
    ne = padded(draw(shapes(elements=2000)))
    a = laid_out(draw, "f32", ne, rows=draw(some(True, True, False)))
    pads = [draw(st.integers(0, 5)) for _ in range(8)]
    if draw(some(True, False)):
        return call("pad", a, *pads[:4])
    if draw(some(True, False)):
        return call("pad_ext", a, *pads)
    return call("pad_circular", a, *(min(p, n) for p, n in zip(pads[:4], ne, strict=True)))


@op("pad_reflect_1d")
def pad_reflect(draw: Draw, name: str) -> Tree:
    ne = draw(shapes())
    before, behind = (draw(st.integers(0, min(ne[0] - 1, 9))) for _ in range(2))
    return call(name, laid_out(draw, "f32", ne), before, behind)
