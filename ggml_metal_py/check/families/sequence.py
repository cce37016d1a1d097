"""State space models, RWKV, gated delta nets, and triangular systems."""

from collections.abc import Iterator

from ..expression import Call, Leaf, Tree, call, leaf


def cases() -> Iterator[tuple[str, Tree]]:
    yield from (("ssm_conv", tree) for tree in _ssm_conv())
    yield from (("ssm_scan", tree) for tree in _ssm_scan())
    # Since ggml 0.20 with the number of states to keep as a further argument.
    yield from (("ssm_scan", call(tree.name, *tree.arguments, 1)) for tree in _ssm_scan())
    yield from (("rwkv_wkv6", tree) for tree in _rwkv6())
    yield from (("rwkv_wkv7", tree) for tree in _rwkv7())
    for separate in (False, True):
        yield from (("gated_delta_net", tree) for tree in _gated_delta_net(separate))
    yield from (("solve_tri", tree) for tree in _solve_tri())


def _ssm_conv() -> Iterator[Call]:
    for width in (3, 4, 8, 9):
        for tokens in (1, 2, 4, 5, 8, 9, 16, 17, 33, 65, 129, 300):
            for rows, sequences in ((1, 1), (33, 3)):
                sx = leaf("f32", width - 1 + tokens, rows, sequences)
                yield call("ssm_conv", sx, leaf("f32", width, rows))
    turned = call("permute", leaf("f32", 12, 3, 33), 0, 2, 1, 3)
    yield call("ssm_conv", turned, leaf("f32", 4, 33))


def _ssm_scan() -> Iterator[Call]:
    for state, dim, heads, groups, tokens, sequences in (
        *((16, 1, 8, 1, 1, 1), (16, 1, 64, 1, 9, 2), (16, 1, 7, 1, 40, 1)),  # Mamba-1
        *((128, 64, 4, 2, 1, 1), (128, 16, 4, 1, 33, 2), (64, 8, 6, 3, 5, 3), (256, 4, 2, 2, 10, 1)),
        *((32, 4, 2, 1, 3, 2), (48, 4, 2, 1, 3, 2), (96, 5, 3, 3, 7, 2), (1024, 1, 1, 1, 4, 1)),
    ):
        yield ssm_scan(state, dim, heads, groups, tokens, sequences)


def ssm_scan(state: int, dim: int, heads: int, groups: int, tokens: int, sequences: int) -> Call:
    """A scan of so many sequences, each from a state of its own."""
    return call(
        "ssm_scan",
        leaf("f32", state, dim, heads, sequences + 1),
        leaf("f32", dim, heads, tokens, sequences),
        leaf("f32", heads, tokens, sequences, low=-1.0, high=2.0),
        leaf("f32", state if dim == 1 else 1, heads, low=-2.0, high=-0.1),
        leaf("f32", state, groups, tokens, sequences),
        leaf("f32", state, groups, tokens, sequences),
        leaf("i32", sequences, fill="distinct", high=sequences + 1),
    )


_HEAD = 64


def _rwkv6() -> Iterator[Call]:
    for heads, tokens, sequences in ((1, 1, 1), (4, 1, 1), (2, 8, 1), (2, 9, 3), (3, 32, 4)):
        yield _six(_HEAD, heads, tokens, sequences)
    yield _six(32, 2, 4, 1)


def _six(head: int, heads: int, tokens: int, sequences: int) -> Call:
    k, v, r = (leaf("f32", head, heads, tokens) for _ in range(3))
    decay = leaf("f32", head, heads, tokens, low=0.1, high=0.9)
    state = leaf("f32", head * head * heads, sequences)
    return call("rwkv_wkv6", k, v, r, leaf("f32", head, heads), decay, state)


def _rwkv7() -> Iterator[Call]:
    for heads, tokens, sequences in ((1, 1, 1), (4, 1, 1), (2, 8, 1), (2, 9, 3), (3, 32, 4)):
        yield _seven(_HEAD, heads, tokens, sequences)
    yield _seven(32, 2, 4, 1)


def _seven(head: int, heads: int, tokens: int, sequences: int) -> Call:
    r, k, v = (leaf("f32", head, heads, tokens) for _ in range(3))
    w = leaf("f32", head, heads, tokens, low=0.1, high=0.9)
    a, b = (leaf("f32", head, heads, tokens, low=-0.1, high=0.1) for _ in range(2))
    state = leaf("f32", head * head * heads, sequences)
    return call("rwkv_wkv7", r, w, k, v, a, b, state)


def _gated_delta_net(separate: bool) -> Iterator[Call]:
    """`separate`: the number of states to keep is an argument, since ggml 0.20, and not an axis."""
    for size in (32, 64, 128):
        for heads, of_keys, tokens, sequences in ((1, 1, 1, 1), (4, 4, 3, 2), (4, 2, 5, 1), (2, 1, 17, 3)):
            for gates in (1, size):
                yield _delta(size, heads, of_keys, tokens, sequences, gates, separate=separate)
        yield _delta(size, 2, 2, 6, 2, 1, slots=4, separate=separate)
        yield _delta(size, 2, 2, 4, 1, size, slots=4, separate=separate)
    for size in (16, 96, 256):
        yield _delta(size, 2, 2, 3, 1, 1, separate=separate)


def _delta(
    size: int,
    heads: int,
    of_keys: int,
    tokens: int,
    sequences: int,
    gates: int,
    slots: int = 1,
    *,
    separate: bool,
) -> Call:
    q, k = (leaf("f32", size, of_keys, tokens, sequences, low=-0.2, high=0.2) for _ in range(2))
    state: tuple[Leaf | int, ...] = (leaf("f32", size * size * heads, slots, sequences),)
    if separate:
        state = leaf("f32", size, size, heads, sequences), slots
    return call(
        "gated_delta_net",
        q,
        k,
        leaf("f32", size, heads, tokens, sequences),
        leaf("f32", gates, heads, tokens, sequences, low=-1.0, high=-0.01),
        leaf("f32", 1, heads, tokens, sequences, low=0.0, high=1.0),
        *state,
    )


def _solve_tri() -> Iterator[Call]:
    for n in (1, 2, 7, 8, 9, 31, 32, 33, 64, 100, 130):
        for k in (1, 8, 17):
            yield call("on_zeros", _system(leaf("f32", n, n, fill="lower"), leaf("f32", k, n)))
    stack = leaf("f32", 20, 20, 3, 2, fill="lower"), leaf("f32", 10, 20, 3, 2)
    yield call("on_zeros", _system(*stack))
    yield _system(*stack)


def _system(a: Leaf, b: Leaf) -> Call:
    return call("solve_tri", a, b, True, True, False)
