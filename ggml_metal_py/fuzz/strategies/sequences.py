"""State space models, RWKV, gated delta nets, triangular systems, steps of optimisers."""

from hypothesis import strategies as st

from ...check.families import sequence
from .registry import op
from .tensors import Draw, Tree, call, leaf, lengths, shapes, some


@op("ssm_conv")
def ssm_conv(draw: Draw, name: str) -> Tree:
    width, tokens = draw(st.integers(2, 9)), draw(lengths(300))
    rows, sequences = draw(lengths(70)), draw(st.integers(1, 3))
    return call(name, leaf("f32", width - 1 + tokens, rows, sequences), leaf("f32", width, rows))


@op("ssm_scan")
def ssm_scan(draw: Draw, name: str) -> Tree:
    state = draw(some(16, 32, 64, 128, 256))
    first = draw(some(False, True)) and state == 16  # Mamba-1
    dim = 1 if first else draw(st.integers(1, 17))
    groups = draw(st.integers(1, 2))
    heads = groups * draw(st.integers(1, 4))
    tokens, sequences = draw(st.integers(1, 40)), draw(st.integers(1, 3))
    return sequence.ssm_scan(state, dim, heads, groups, tokens, sequences)


@op("rwkv_wkv6", "rwkv_wkv7")
def rwkv(draw: Draw, name: str) -> Tree:
    head, heads = 64, draw(st.integers(1, 3))
    sequences = draw(st.integers(1, 3))
    tokens = sequences * draw(st.integers(1, 9))
    a, b, c = (leaf("f32", head, heads, tokens) for _ in range(3))
    decay = leaf("f32", head, heads, tokens, low=0.1, high=0.9)
    state = leaf("f32", head * head * heads, sequences)
    if name == "rwkv_wkv6":
        return call(name, a, b, c, leaf("f32", head, heads), decay, state)
    d, e = (leaf("f32", head, heads, tokens, low=-0.1, high=0.1) for _ in range(2))
    return call(name, a, decay, b, c, d, e, state)


@op("gated_delta_net")
def gated_delta_net(draw: Draw, name: str) -> Tree:
    size = draw(some(32, 64, 128))
    of_keys = draw(st.integers(1, 2))
    heads = of_keys * draw(st.integers(1, 2))
    slots = draw(some(1, 1, 2, 4))  # those of tokens that there are not are left as they are
    tokens, sequences = draw(st.integers(slots, 9)), draw(st.integers(1, 3))
    q, k = (leaf("f32", size, of_keys, tokens, sequences, low=-0.2, high=0.2) for _ in range(2))
    return call(
        name,
        q,
        k,
        leaf("f32", size, heads, tokens, sequences),
        leaf("f32", draw(some(1, size)), heads, tokens, sequences, low=-1.0, high=-0.01),
        leaf("f32", 1, heads, tokens, sequences, low=0.0, high=1.0),
        leaf("f32", size * size * heads, slots, sequences),
    )


@op("solve_tri")
def solve_tri(draw: Draw, name: str) -> Tree:
    n, k = draw(lengths(130)), draw(lengths(40))
    rest = draw(shapes(2, most=3, elements=6))
    system = call(name, leaf("f32", n, n, *rest, fill="lower"), leaf("f32", k, n, *rest), True, True, False)
    return call("on_zeros", system)


@op("opt_step_sgd", "opt_step_adamw")
def optimiser(draw: Draw, name: str) -> Tree:
    ne = draw(shapes())
    weights, gradient = call("param", leaf("f32", *ne)), leaf("f32", *ne)
    if name == "opt_step_sgd":
        return call(name, weights, gradient, leaf("f32", 2, low=0.01, high=0.1))
    moments = leaf("f32", *ne), leaf("f32", *ne, low=0.0, high=1.0)
    return call(name, weights, gradient, *moments, leaf("f32", 7, low=0.1, high=0.9))
