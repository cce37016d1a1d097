"""Triangles and diagonals, steps of optimisers; and ops that, so far, no device of this backend does."""

from collections.abc import Iterator

from ..expression import Call, Tree, call, leaf


def cases() -> Iterator[tuple[str, Tree]]:
    shape: tuple[int, ...]
    for kind in range(4):
        for shape in ((1, 1), (5, 5), (32, 32, 3), (65, 65, 2, 2), (1100, 1100)):
            yield "tri", call("tri", leaf("f32", *shape), kind)
    for shape in ((1,), (5,), (33, 1, 3), (64, 1, 2, 2)):
        yield "diag", call("diag", leaf("f32", *shape))
    yield "diag", call("diag", leaf("i32", 8))
    for type in ("f32", "f16"):
        for shape in ((1,), (33, 5), (1025, 2), (10, 5, 4, 3)):
            yield "opt_step_sgd", _sgd(type, *shape)
            yield "opt_step_adamw", _adamw(type, *shape)
    yield from _elsewhere()


def _sgd(type: str, *ne: int) -> Call:
    params = leaf("f32", 2, low=0.01, high=0.1)
    return call("opt_step_sgd", call("param", leaf(type, *ne)), leaf("f32", *ne), params)


def _adamw(type: str, *ne: int) -> Call:
    return call(
        "opt_step_adamw",
        call("param", leaf(type, *ne)),
        leaf("f32", *ne),
        leaf("f32", *ne),
        leaf("f32", *ne, low=0.0, high=1.0),
        leaf("f32", 7, low=0.1, high=0.9),
    )


def _elsewhere() -> Iterator[tuple[str, Tree]]:
    """One case each: a row that does them is noticed."""
    a, b = leaf("f32", 32, 4), leaf("f32", 32, 4)
    for name in ("silu_back", "cross_entropy_loss"):
        yield name, call(name, a, b)
    yield "add1", call("add1", a, leaf("f32", 1))
    yield "rms_norm_back", call("rms_norm_back", a, b, 1e-6)
    yield "soft_max_back", call("soft_max_ext_back", a, b, 1.0, 0.0)
    yield "repeat_back", call("repeat_back", a, leaf("f32", 16, 2))
    yield "out_prod", call("out_prod", leaf("f32", 5, 4), leaf("f32", 6, 4))
    yield "diag_mask_inf", call("diag_mask_inf", leaf("f32", 8, 8), 0)
    yield "diag_mask_zero", call("diag_mask_zero", leaf("f32", 8, 8), 0)
    yield "get_rows_back", call("get_rows_back", leaf("f32", 8, 3), leaf("i32", 3, high=4), leaf("f32", 8, 4))
    numbers = (10000.0, 1.0, 0.0, 1.0, 32.0, 1.0)
    rope = leaf("f32", 32, 2, 3), leaf("i32", 3, high=50)
    yield "rope_back", call("rope_ext_back", *rope, None, 32, 0, 0, *numbers)
    yield "win_part", call("win_part", leaf("f32", 4, 6, 6), 3)
    yield "get_rel_pos", call("get_rel_pos", leaf("f32", 8, 7), 4, 4)
    image, window = leaf("f32", 9, 9, 2, 1), leaf("f32", 3, 3, 1, 2)
    yield "conv_2d_dw", call("conv_2d_dw_direct", window, image, 1, 1, 1, 1, 1, 1)
    three = (1, 1, 1, 0, 0, 0, 1, 1, 1)
    yield "im2col_3d", call("im2col_3d", leaf("f32", 2, 2, 2, 3), leaf("f32", 5, 5, 5, 3), 3, *three, "f32")
    head = leaf("f32", 32, 2, 4), leaf("f32", 32, 2, 4), leaf("f32", 32, 2, 4), leaf("f32", 32, 2, 4)
    yield "gated_linear_attn", call("gated_linear_attn", *head, leaf("f32", 2048, 1), 0.5)
    yield (
        "pool_2d_back",
        call("pool_2d_back", leaf("f32", 4, 4), leaf("f32", 8, 8), "avg", 2, 2, 2, 2, 0.0, 0.0),
    )
