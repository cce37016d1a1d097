"""mul_mat_id: each token is multiplied by the matrices of the experts that its ids name. And add_id."""

from collections.abc import Iterator

from ..expression import Call, Leaf, Tree, call, leaf
from .matmul import ALL_TYPES, BLOCK, FLOATS, WITHOUT_KERNELS

_USED = (1, 2, 4, 5, 6, 8, 10, 16, 22)
"""Experts for a token, of which there is a kernel that sorts the tokens."""


def cases() -> Iterator[tuple[str, Tree]]:
    for type in ALL_TYPES:
        yield from (("mul_mat_id", tree) for tree in _few_tokens(type))
        yield from (("mul_mat_id", tree) for tree in _many_tokens(type))
    yield from (("mul_mat_id", tree) for tree in _counts())
    yield from (("mul_mat_id", tree) for tree in _layouts())
    for type in (*WITHOUT_KERNELS, "i32"):
        yield "mul_mat_id", _product(type, 256, 8, 4, 2, 3)
        yield "mul_mat_id", _product(type, 256, 8, 4, 2, 32)
    yield from (("add_id", tree) for tree in _add_id())


def _ids(used: int, experts: int, tokens: int) -> Leaf | Call:
    """The ids of a token are the first ones of a row of all experts, as a router sorts them."""
    whole = leaf("i32", experts, tokens, fill="distinct", high=experts)
    return whole if used == experts else call("cut", whole, (used, tokens))


def _product(
    type: str, k: int, m: int, experts: int, used: int, tokens: int, *, each: bool = True, b: str = "f32"
) -> Call:
    """`each`: a token has a row of its own for every expert; else one for all."""
    weights = leaf(type, k, m, experts)
    return call("mul_mat_id", weights, leaf(b, k, used if each else 1, tokens), _ids(used, experts, tokens))


def _few_tokens(type: str) -> Iterator[Call]:
    block = BLOCK[type]
    lengths = (4, 31, 32, 33, 100, 128, 260, 516) if block == 1 else (block, 2 * block, 5 * block)
    for k in lengths:
        for m in (1, 3, 16, 33):
            yield _product(type, k, m, 4, 2, 1)
        yield _product(type, k, 9, 4, 2, 3, each=False)
        yield _product(type, k, 5, 3, 3, 7)
    yield _product(type, max(block, 32), 9, 8, 1, 31)
    if block <= 32:
        yield _product(type, 32, 9, 4, 2, 40)  # rows too short for tiles


def _many_tokens(type: str) -> Iterator[Call]:
    """Tiles of 64 x 32 for each expert."""
    k = max(BLOCK[type], 64)
    for m, tokens in ((1, 32), (33, 33), (64, 40), (65, 70)):
        yield _product(type, k, m, 4, 2, tokens)
        yield _product(type, k, m, 4, 2, tokens, b="f16")
    yield _product(type, 2 * k, 64, 5, 1, 50, each=False)
    yield _product(type, 2 * k, 31, 2, 2, 32, each=False, b="f16")
    if type in FLOATS:
        for k in (65, 68, 100):
            yield _product(type, k, 33, 3, 1, 40)


def _counts() -> Iterator[Call]:
    for used in (*_USED, 3, 7):
        for experts in {used, 32}:
            for tokens in (5, 33, 100):
                yield _product("f16", 64, 16, experts, used, tokens)
                yield _product("q4_0", 64, 16, experts, used, tokens, each=False)
    yield _product("f32", 64, 9, 128, 8, 64)
    yield _product("f32", 64, 9, 256, 2, 33)


def _layouts() -> Iterator[Call]:
    for tokens in (3, 37):
        ids = _ids(2, 4, tokens)
        for type in ("f32", "f16", "q8_0"):
            weights = leaf(type, 96, 9, 4)
            yield call(
                "mul_mat_id",
                call("cut", leaf(type, 128, 11, 4), (96, 9, 4), (32, 1)),
                leaf("f32", 96, 2, tokens),
                ids,
            )
            yield call(
                "mul_mat_id", weights, call("cut", leaf("f32", 104, 3, tokens), (96, 2, tokens), (4, 1)), ids
            )
            turned = call("permute", leaf("f32", 96, tokens, 2), 0, 2, 1, 3)
            yield call("mul_mat_id", weights, turned, ids)


def _add_id() -> Iterator[Call]:
    for n, used, tokens in ((1, 1, 1), (33, 2, 3), (64, 4, 7), (1025, 2, 5), (2880, 4, 1)):
        ids = leaf("i32", used, tokens, high=5)
        yield call("add_id", leaf("f32", n, used, tokens), leaf("f32", n, 5), ids)
        yield call("add_id", leaf("f32", n, used, tokens), leaf("f32", n, 5), _ids(used, 5, tokens))
    rows = call("cut", leaf("f32", 72, 3, 4), (64, 2, 4), (4, 1))
    yield call("add_id", rows, leaf("f32", 64, 5), leaf("i32", 2, 4, high=5))
