"""Draws for flash attention and the lightning indexer."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..c import pad
from ..draws import Arguments, Draw, draws, leaf, near, one_of
from ..recipes import Recipe, changed, op, tensor
from ..rows import Row
from ..tensor_types import TYPES, types_of

# dk and dv; most with kernels of both kinds, then of the full one, then of none.
HEADS = 3 * [(n, n) for n in (64, 32, 96, 128, 192, 256, 512)]
HEADS += 3 * [(192, 128), (576, 512), (320, 256), (96, 64)]
HEADS += [(n, n) for n in (40, 48, 72, 80, 112)] + [(33, 33), (64, 96), (128, 64), (1024, 1024)]
FLAGS = ("has_mask", "has_sinks", "has_bias", "has_scap", "has_kvpad")
WITH_KERNELS = ("f16", "f32", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0")
_BITS = st.integers(0, 2 ** len(FLAGS) - 1)
# From 0.25.3 on: whether k and v were converted before, and their strides; without these, the tensors'.
_STRIDES = st.sampled_from(
    [{}, {}, {"use_kv_f16": True}]
    + [{"use_kv_f16": f16, "ns10": 64, "ns20": 2**31 - 1} for f16 in (False, True)]
    + [{"ns10": -1}, {"ns20": 0}]
)
_VARIANTS = st.sampled_from(
    [{}, {}, {"has_sparse": True}, {"has_sparse": True, "nqpsg": 2}, {"ne": 2**30}]
    + [{"nqpsg": q, "ne": ne} for q in (1, 2, 4) for ne in (1, 2, 4)]
)


def attention(draw: Draw, row: Row, *, masked: bool = False, sinks: bool = False) -> Recipe:
    """A flash_attn_ext of every type and head size, k and v in every layout."""
    type = draw(one_of(*["f16"] * 9, *[*WITH_KERNELS] * 2, *types_of(row)))
    dk, dv = (pad(n, TYPES[type].block) for n in draw(one_of(*HEADS)))
    kv, queries, heads, shared, batch = draw(
        one_of((32, 1, 4, 1, 1), (33, 8, 4, 2, 1), (256, 65, 8, 8, 2), (1, 20, 6, 3, 1))
    )
    q = tensor("f32", dk, queries, heads, batch)
    k = leaf(draw, type, (dk, kv, shared, batch), rows=True)
    v = leaf(draw, type, (dv, kv, shared, batch), rows=True)
    extra = draw(one_of(0, 1, 8, 12) if masked else one_of(None, 0, 1))
    mask = None if extra is None else tensor("f16", kv, pad(queries, 64) + extra, 1, 1)
    made = op("flash_attn_ext", q, k, v, mask, 1.0, 0.0, 0.0)
    return changed(made, src={4: tensor("f32", heads)}) if sinks else made


def _options(draw: Draw, row: Row) -> dict[str, Any]:
    bits = draw(_BITS)
    options: dict[str, Any] = {flag: bool(bits >> i & 1) for i, flag in enumerate(FLAGS)}
    if row >= Row.V0_25_3:
        options |= draw(_STRIDES)
    return options


@draws("flash_attn_ext")
def flash_attn_ext(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        options = _options(draw, row) | {"nsg": draw(one_of(4, 1, 2, 8, 2**20))}
        return attention(draw, row, masked=options["has_mask"], sinks=options["has_sinks"]), options

    return arguments()


@draws("flash_attn_ext_vec")
def flash_attn_ext_vec(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        options = _options(draw, row)
        options["nsg"], options["nwg"] = draw(one_of((1, 32), (2, 1), (4, 16), (8, 2**20)))
        if row >= Row.V0_25_3:
            options |= draw(_VARIANTS)
        masked = options["has_mask"] or options.get("has_sparse", False)
        return attention(draw, row, masked=masked, sinks=options["has_sinks"]), options

    return arguments()


@draws("flash_attn_ext_pad")
def flash_attn_ext_pad(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        has_mask = draw(st.booleans())
        return attention(draw, row, masked=has_mask), has_mask, draw(near(32, 64, 2**20))

    return arguments()


@draws("flash_attn_ext_blk")
def flash_attn_ext_blk(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        return attention(draw, row), draw(near()), draw(near(32, 64, 2**20))

    return arguments()


@draws("flash_attn_ext_kv_f16")
def flash_attn_ext_kv_f16(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        return (attention(draw, row),)

    return arguments()


@draws("flash_attn_ext_vec_idx")
def flash_attn_ext_vec_idx(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        return (attention(draw, row, masked=True),)

    return arguments()


@draws("flash_attn_ext_vec_reduce")
def flash_attn_ext_vec_reduce(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        return attention(draw, row), draw(near(32, 64, 128, 512)), draw(near(16, 32, 2**20))

    return arguments()


@draws("lightning_indexer")
def lightning_indexer(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        type = draw(one_of(*types_of(row)))
        d = pad(draw(near(64, 128)), TYPES[type].block)
        heads, queries, kv, batch = draw(one_of((1, 1, 1, 1), (64, 3, 33, 1), (32, 8, 8, 2)))
        q = leaf(draw, "f32", (d, heads, queries, batch))
        k = leaf(draw, type, (d, 1, kv, batch))
        weights, mask = tensor("f32", heads, queries, 1, batch), tensor("f16", kv, queries, 1, 1)
        return (op("lightning_indexer", q, k, weights, mask),)

    return arguments()
