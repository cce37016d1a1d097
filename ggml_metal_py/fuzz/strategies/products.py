"""Products of matrices, by experts too, and attention."""

from hypothesis import strategies as st

from .registry import op
from .tensors import WEIGHTS, Draw, Tree, block, call, laid_out, leaf, lengths, some, types


@st.composite
def _ks(draw: Draw, type: str, most: int = 520) -> int:
    """Lengths of rows: whole blocks."""
    unit = block(type)
    return draw(lengths(max(most // unit, 3))) * unit


@op("mul_mat", weight=6)
def mul_mat(draw: Draw, name: str) -> Tree:
    type = draw(types(*WEIGHTS))
    k, m = draw(_ks(type)), draw(lengths(70))
    n = draw(st.one_of(st.integers(1, 9), lengths(66)))
    stacks = draw(some((), (), (2,), (1, 2), (3, 2)))
    more = tuple(s * draw(st.integers(1, 3)) for s in stacks)
    if not stacks:
        more = draw(some((), (), (3,), (2, 2)))
    a = laid_out(draw, type, (k, m, *stacks), rows=draw(some(*[True] * 9, False)))
    return call(
        name, a, laid_out(draw, _other(draw, type), (k, n, *more), rows=draw(some(True, True, False)))
    )


def _other(draw: Draw, type: str) -> str:
    """The type of what weights are multiplied with."""
    return draw(types("f32", "f32", "f32", "f32", "f16", *([type] if type in ("f16", "bf16") else [])))


@op("mul_mat_id", weight=5)
def mul_mat_id(draw: Draw, name: str) -> Tree:
    type = draw(types(*WEIGHTS))
    k, m = draw(_ks(type)), draw(lengths(70))
    experts = draw(st.integers(1, 8))
    used = draw(st.integers(1, experts))
    tokens = draw(st.one_of(st.integers(1, 9), lengths(70)))
    whole = leaf("i32", experts, tokens, fill="distinct", high=experts)
    ids = whole if used == experts else call("cut", whole, (used, tokens))
    rows = draw(some(1, used))
    weights = laid_out(draw, type, (k, m, experts), rows=True)
    return call(
        name, weights, laid_out(draw, draw(types("f32", "f32", "f16")), (k, rows, tokens), rows=True), ids
    )


_HEADS = (
    *((64, 64), (32, 32), (40, 40), (48, 48), (72, 72), (80, 80), (96, 96), (112, 112), (128, 128)),
    *((192, 192), (192, 128), (256, 256), (320, 256), (512, 512), (576, 512)),
)


@op("flash_attn_ext", weight=8)
def attention(draw: Draw, name: str) -> Tree:
    dk, dv = draw(some(*_HEADS, (64, 64), (128, 128)))
    type = draw(types("f16", "f32", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1"))
    n = draw(st.one_of(st.integers(1, 3), lengths(40)))
    kv = draw(lengths(260))
    heads = draw(st.integers(1, 2))
    queries = heads * draw(st.integers(1, 3))
    batch = draw(some(1, 1, 2))
    q = laid_out(draw, "f32", (dk, n, queries, batch), rows=True)
    k, v = (_cache(draw, type, d, kv, heads, batch) for d in (dk, dv))
    mask = None
    if draw(some(True, True, False)):
        rows = n + draw(some(0, 0, 5))
        stacks = draw(some(1, queries, heads)), draw(some(1, batch))
        mask = leaf("f16", kv, rows, *stacks, fill=draw(some("mask", "causal", "windows", "zero", "masked")))
    bias = draw(some(0.0, 0.0, 8.0)) if mask is not None else 0.0
    result = call(name, q, k, v, mask, round(dk**-0.5, 6), bias, draw(some(0.0, 0.0, 10.0)))
    if draw(some(False, False, True)):
        return call("with_sinks", result, leaf("f32", queries, low=-2.0, high=2.0))
    return result


def _cache(draw: Draw, type: str, d: int, kv: int, heads: int, batch: int) -> Tree:
    """Keys or values: as they are, heads beside each other in a token's row, or parts of longer rows."""
    unit = block(type)
    long = -(-d // unit) * unit
    how = draw(some("plain", "heads", "longer"))
    if long == d and how == "plain":
        return leaf(type, d, kv, heads, batch)
    if long == d and how == "heads":
        return call("permute", leaf(type, d, heads, kv, batch), 0, 2, 1, 3)
    extra = unit if long == d else 0
    if unit == 1:
        extra = draw(some(4, 8, 1))
    return call("cut", leaf(type, long + extra, kv + draw(some(0, 3)), heads, batch), (d, kv, heads, batch))
