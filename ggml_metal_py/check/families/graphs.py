"""Graphs of many ops: what models are made of, and orders of reading and writing that must be kept.

The device runs ops at the same time, unless one needs what another one writes.
"""

from collections.abc import Iterator

from ..expression import Call, Leaf, Tree, call, leaf

_SCALES = (10000.0, 1.0, 0.0, 1.0, 32.0, 1.0)


def cases() -> Iterator[tuple[str, Tree]]:
    for type in ("f16", "q8_0", "q4_0"):
        for tokens in (1, 5, 33):
            yield "graph", _layer(type, tokens, flash=True)
            yield "graph", _layer(type, tokens, flash=False)
    yield from (("graph", tree) for tree in _orders())


def _layer(type: str, tokens: int, *, flash: bool) -> Call:
    """A layer of a transformer with two heads of 32 values."""
    width, head, heads, hidden = 64, 32, 2, 96
    x = leaf("f32", width, tokens)
    positions = leaf("i32", tokens, high=200)
    normed = call("mul", call("rms_norm", x, 1e-5), leaf("f32", width))

    def projected(rotate: bool) -> Call:
        flat = call("mul_mat", leaf(type, width, width), normed)
        rows = call("reshape_3d", flat, head, heads, tokens)
        if not rotate:
            return rows
        return call("rope_ext", rows, positions, None, head, 0, 512, *_SCALES)

    q, k, v = projected(True), projected(True), projected(False)
    attention = (_flash if flash else _by_soft_max)(q, k, v, tokens)
    summed = call("add", call("mul_mat", leaf(type, width, width), attention), x)
    inner = call("mul", call("rms_norm", summed, 1e-5), leaf("f32", width))
    gate, up = (call("mul_mat", leaf(type, width, hidden), inner) for _ in range(2))
    down = call("mul_mat", leaf(type, hidden, width), call("swiglu_split", gate, up))
    return call("add", down, summed)


def _flash(q: Call, k: Call, v: Call, tokens: int) -> Call:
    """By one op, of keys and values that were just written into a cache of halves."""
    cached = [call("permute", call("cpy", rows, leaf("f16", 32, 2, tokens)), 0, 2, 1, 3) for rows in (k, v)]
    mask = leaf("f16", tokens, tokens, fill="causal")
    result = call("flash_attn_ext", call("permute", q, 0, 2, 1, 3), *cached, mask, 0.17678, 0.0, 0.0)
    return call("reshape_2d", result, 64, tokens)


def _by_soft_max(q: Call, k: Call, v: Call, tokens: int) -> Call:
    """By products and soft_max."""
    keys, queries = (call("permute", rows, 0, 2, 1, 3) for rows in (k, q))
    mask = leaf("f32", tokens, tokens, fill="causal")
    weights = call("soft_max_ext", call("mul_mat", keys, queries), mask, 0.17678, 0.0)
    values = call("cont", call("permute", v, 1, 2, 0, 3))
    return call("cont_2d", call("permute", call("mul_mat", values, weights), 0, 2, 1, 3), 64, tokens)


def _orders() -> Iterator[Call]:
    n = 5000
    x = leaf("f32", n)
    # Read, then written; written, then read; written twice.
    yield call("add", call("mul", x, leaf("f32", n)), call("scale_inplace", x, 3.0))
    yield call("mul", call("add_inplace", x, leaf("f32", n)), call("sqr", x))
    yield call("add", call("scale_inplace", call("add_inplace", x, leaf("f32", n)), 0.5), x)
    table: Leaf = leaf("f32", 64, 40)
    rows = leaf("i64", 30, fill="distinct", high=40)
    written = call("set_rows", table, leaf("f32", 64, 30), rows)
    yield call("get_rows", written, leaf("i32", 50, high=40))
    yield call("add", call("cpy", leaf("f32", n), x), call("neg", x))
    # Halves of one tensor, one of which is written: no order is needed, and none may be lost.
    whole = leaf("f32", n, 2)
    first, second = call("cut", whole, (n, 1)), call("cut", whole, (n, 1), (0, 1))
    yield call("add", call("add_inplace", first, leaf("f32", n)), call("neg", second))
    # Wide, and put together in the end.
    parts = [call("mul_mat", leaf("f16", 64, 33), leaf("f32", 64, 3 + i)) for i in range(8)]
    result = parts[0]
    for part in parts[1:]:
        result = call("concat", result, part, 1)
    yield call("soft_max", result)
