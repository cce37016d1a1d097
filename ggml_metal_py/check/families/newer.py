"""What came with rows after the default one: absent in those before, or not supported."""

from collections.abc import Iterator

from ..expression import Call, Tree, call, leaf


def cases() -> Iterator[tuple[str, Tree]]:
    for type in ("q2_0", "tq2_0"):
        yield from _quantised(type)
    for name in ("reglu", "geglu", "swiglu", "geglu_erf", "geglu_quick"):
        for ne in ((10, 3), (64, 3), (66, 5, 2), (2050, 2)):
            yield name, call(name, leaf("f16", *ne, low=-5.0, high=5.0))
            yield name, call(f"{name}_split", leaf("f16", *ne, low=-5.0, high=5.0), leaf("f16", *ne))
    for name in ("add", "mul"):
        for a, b in (((8, 5), (8, 5)), ((33, 4, 2), (33,)), ((64, 4), (64, 1))):
            yield name, call(name, leaf("f16", *a), leaf("f16", *b))
    for type in ("f32", "f16", "bf16"):
        for ne, stride, channels, cropped in (((6, 5), 1, 2, 0), ((32, 40), 2, 4, 1), ((24, 3), 3, 8, 0)):
            yield "col2im_1d", call("col2im_1d", leaf(type, *ne), stride, channels, cropped)
    for type in ("f32", "f16"):
        yield from (("conv_2d_dw", tree) for tree in _each_channel(type))
    yield from (("lightning_indexer", tree) for tree in _indexer())
    yield from _streams()
    yield "graph", _snake("f32", 40, 5)


def _quantised(type: str) -> Iterator[tuple[str, Tree]]:
    for n in (*range(1, 10), 33):
        yield "mul_mat", call("mul_mat", leaf(type, 256, 33), leaf("f32", 256, n))
    yield "mul_mat", call("mul_mat", leaf(type, 512, 65), leaf("f16", 512, 33))
    ids = leaf("i32", 2, 40, fill="distinct", high=4)
    yield "mul_mat_id", call("mul_mat_id", leaf(type, 256, 33, 4), leaf("f16", 256, 2, 40), ids)
    yield "mul_mat_id", call("mul_mat_id", leaf(type, 256, 33, 4), leaf("f32", 256, 2, 40), ids)
    few = leaf("i32", 2, 3, fill="distinct", high=4)
    yield "mul_mat_id", call("mul_mat_id", leaf(type, 256, 9, 4), leaf("f32", 256, 2, 3), few)
    yield "get_rows", call("get_rows", leaf(type, 256, 9), leaf("i32", 4, high=9))
    yield "cpy", call("cpy", leaf("f32", 512, 3), leaf(type, 512, 3))
    for target in ("f32", "f16"):
        yield "cpy", call("cpy", leaf(type, 512, 3), leaf(target, 512, 3))


def _each_channel(type: str) -> Iterator[Call]:
    for window, image, numbers in (
        ((3, 3, 1, 4), (9, 7, 4, 2), (1, 1, 1, 1, 1, 1)),
        ((2, 3, 1, 5), (40, 33, 5, 1), (2, 1, 0, 1, 1, 2)),
    ):
        yield call("conv_2d_dw_direct", leaf(type, *window), leaf("f32", *image), *numbers)


def _indexer() -> Iterator[Call]:
    for type in ("f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1"):
        for keys, queries, sequences in ((64, 3, 1), (75, 33, 2)):
            yield call(
                "lightning_indexer",
                leaf("f32", 128, 64, queries, sequences),
                leaf(type, 128, 1, keys, sequences),
                leaf("f32", 64, queries, 1, sequences),
                leaf("f16", keys, queries, 1, sequences, fill="mask"),
            )


def _streams() -> Iterator[tuple[str, Tree]]:
    for n, tokens in ((64, 3), (100, 33)):
        stream = leaf("f32", n, 4, tokens)
        yield "dsv4_hc_pre", call("dsv4_hc_pre", stream, leaf("f32", 4, tokens))
        post = leaf("f32", 4, tokens), leaf("f32", 4, 4, tokens)
        yield "dsv4_hc_post", call("dsv4_hc_post", leaf("f32", n, tokens), stream, *post)
        mixes = leaf("f32", 24, tokens), leaf("f32", 3), leaf("f32", 24)
        yield "dsv4_hc_comb", call("dsv4_hc_comb", *mixes, 1e-6, 4)


def _snake(type: str, n: int, channels: int) -> Call:
    """x + sin(a x)^2 / b: in one kernel, since ggml 0.20."""
    x, a, b = leaf(type, n, channels), leaf("f32", 1, channels), leaf("f32", 1, channels)
    return call("add", call("mul", call("sqr", call("sin", call("mul", x, a))), b), x)
