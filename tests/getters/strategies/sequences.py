"""Draws for state-space and recurrent models, triangular systems, transforms, hyper-connections."""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..draws import Arguments, Draw, draws, leaf, near, one_of
from ..recipes import Recipe, changed, op, tensor
from ..rows import Row
from ..tensor_types import TYPES, types_of

_MOSTLY_F32 = one_of(*["f32"] * 12, "f16", "i32")


def _convolution(draw: Draw) -> tuple[Recipe, int]:
    """An ssm_conv, now and then of what the kernel refuses, and its filter's length."""
    width, channels = draw(near(12, 16)), draw(near())
    tokens, sequences = draw(one_of((1, 1), (8, 2), (130, 3)))
    x_ne, filter_ne = (width - 1 + tokens, channels, sequences), (width, channels)
    if draw(one_of(True, False)):
        return op("ssm_conv", tensor("f32", *x_ne), tensor("f32", *filter_ne)), width
    x = leaf(draw, draw(_MOSTLY_F32), x_ne)
    return op("ssm_conv", x, leaf(draw, draw(_MOSTLY_F32), filter_ne)), width


def _filter_options(draw: Draw, row: Row, width: int) -> Arguments:
    if row < Row.V0_25_3:
        return draw(one_of((), (width,), (width, False)))
    return draw(one_of((), (width,), (width, True), (2**31 - 1, False), (0, True)))


@draws("ssm_conv")
def ssm_conv(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        made, width = _convolution(draw)
        return made, *_filter_options(draw, row, width)

    return arguments()


@draws("ssm_conv_batched")
def ssm_conv_batched(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        made, width = _convolution(draw)
        return made, draw(near(256, 2**15, 2**16)), *_filter_options(draw, row, width)

    return arguments()


def _scan(draw: Draw, row: Row) -> Recipe:
    """An ssm_scan; the state's type is free."""
    type = draw(one_of(*["f32"] * 60, *types_of(row)))
    block = TYPES[type].block
    d_state = -(-draw(near(32, 64, 128, 256, 7712, 8192)) // block) * block
    d, heads, tokens, sequences, groups = draw(one_of((1, 1, 1, 1, 1), (64, 4, 7, 2, 1), (33, 6, 3, 1, 3)))
    s = tensor(type, d_state, d, heads, sequences)
    x = tensor("f32", d, heads, tokens, sequences)
    dt = tensor("f32", heads, tokens, sequences)
    a = tensor("f32", draw(one_of(1, d_state)), heads)
    b, c = (tensor("f32", d_state, groups, tokens, sequences) for _ in "bc")
    last = (1,) if row >= Row.V0_20_2 else ()
    return op("ssm_scan", s, x, dt, a, b, c, tensor("i32", sequences), *last)


@draws("ssm_scan")
def ssm_scan(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        options = draw(one_of((), (False,), (True,)) if row >= Row.V0_25_3 else one_of((), (False,)))
        return _scan(draw, row), *options

    return arguments()


@draws("ssm_scan_ssd_mma")
def ssm_scan_ssd_mma(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        return (_scan(draw, row),)

    return arguments()


@draws("rwkv")
def rwkv(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        size, heads = draw(one_of(*[64] * 6, 1, 32, 63, 65, 128)), draw(near())
        tokens, sequences = draw(near()), draw(one_of(1, 2))
        first, state_type = draw(_MOSTLY_F32), draw(_MOSTLY_F32)
        state = tensor(state_type, size * size * heads, sequences)
        version = draw(one_of(6, 7))
        inputs = [tensor(first, size, heads, tokens) for _ in range(5 if version == 6 else 6)]
        made = op(f"rwkv_wkv{version}", *inputs, state)
        if draw(one_of(*[False] * 6, True)):
            made = changed(made, ne=(size * heads + 1, 1, 1, 1))  # C % H != 0: no constructor makes it
        return (made,)

    return arguments()


@draws("gated_delta_net")
def gated_delta_net(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        size, heads = draw(one_of(*[32, 64, 96, 128] * 3, 1, 33, 160, 256, 2**15 + 32)), draw(near())
        tokens, sequences = draw(one_of((1, 1), (5, 2)))
        snapshots = draw(one_of(1, 2, 4, 2**15)) if size < 2**15 else 1
        qkv = [leaf(draw, "f32", (size, heads, tokens, sequences), rows=True) for _ in range(3)]
        gate = tensor("f32", draw(one_of(1, size)), heads, tokens, sequences)
        beta = tensor("f32", 1, heads, tokens, sequences)
        made = _delta_net(row, qkv, gate, beta, (size, heads, sequences, snapshots))
        fault = draw(one_of(*[None] * 10, "state", "result"))
        if fault == "state":
            made = changed(made, src={5: tensor("f16", size, size, heads, sequences)})
        elif fault == "result":
            made = changed(made, ne=(size * heads + 32, 1, 1, 1))
        return (made,)

    return arguments()


def _delta_net(
    row: Row, qkv: list[Recipe], gate: Recipe, beta: Recipe, sizes: tuple[int, int, int, int]
) -> Recipe:
    size, heads, sequences, snapshots = sizes
    if row < Row.V0_15_3:
        kept = snapshots if row >= Row.V0_13_1 else 1
        state = tensor("f32", size * size * heads, kept, sequences)
        return op("gated_delta_net", *qkv, gate, beta, state)
    return op("gated_delta_net", *qkv, gate, beta, tensor("f32", size, size, heads, sequences), snapshots)


@draws("solve_tri")
def solve_tri(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        n, k = draw(near(32, 64, 1024, 2**15, 2**16)), draw(near(32, 2**15, 2**16))
        more = draw(one_of((1, 1), (2, 1), (2, 3)))
        made = op("solve_tri", tensor("f32", n, n, *more), tensor("f32", k, n, *more), True, True, False)
        return (
            made if draw(one_of(True, True, True, False)) else changed(made, src={0: tensor("f16", n, n)}),
        )

    return arguments()


@draws("fwht")
def fwht(row: Row) -> SearchStrategy[Arguments]:
    lengths = near(16, 32, 64, 128, 256, 512, 1024)
    if row < Row.V0_25_3:
        return st.one_of(st.tuples(lengths), st.tuples(lengths, st.just("f32")))
    return st.tuples(lengths, one_of("f32", "f32", "f16", "f16", *types_of(row)))


@draws("dsv4_hc")
def dsv4_hc(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        width, lanes, tokens = draw(near(64)), draw(near(16)), draw(near(32))
        modern = row >= Row.V0_25_3
        step = draw(one_of("comb", "pre", "pre_gated", "post", "post_nocomb") if modern else _OLD_STEPS)
        x = leaf(draw, "f32", (width, lanes, tokens))
        if step == "comb":
            mixes = leaf(draw, "f32", (24, tokens))
            return (op("dsv4_hc_comb", mixes, tensor("f32", 3), tensor("f32", 24), 1e-6, 2),)
        if step == "pre":
            return (op("dsv4_hc_pre", x, tensor("f32", lanes, tokens)),)
        if step == "pre_gated":
            return (op("dsv4_hc_pre_gated", x, tensor("f32", width, lanes, tokens), 0.5),)
        comb = tensor("f32", lanes, lanes, tokens) if step == "post" else None
        return (op("dsv4_hc_post", tensor("f32", width, tokens), x, tensor("f32", lanes, tokens), comb),)

    return arguments()


_OLD_STEPS = one_of("comb", "pre", "post")
