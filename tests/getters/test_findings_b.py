"""Where upstream's getters and its supports_op disagree, and what a name or a kernel's type leaves out."""

from typing import NamedTuple

import pytest

import ggml_metal_py as gm

from .calls import Call, getters_of
from .expected import Abort, Expected
from .host_names import host_names
from .recipes import Recipe, changed, op, permute, sliced, tensor
from .rows import Row
from .test_findings import ALL, call, since

EPS = 1e-5
SCALES = (1e4, 1.0, 0.0, 1.0, 32.0, 1.0)


class Accepted(NamedTuple):
    """supports_op says yes to it on these rows."""

    getter: str
    op: Recipe
    first: Row = Row.V0_9_4
    last: Row = Row.V0_25_3


def on_rows(cases: tuple[Accepted, ...]) -> pytest.MarkDecorator:
    pairs = [
        pytest.param(row, case, id=f"{row.upstream}-{case.op.arguments[0]}")
        for case in cases
        for row in Row
        if case.first <= row <= case.last
    ]
    return pytest.mark.parametrize(("row", "case"), pairs)


def half(*ne: int) -> Recipe:
    return tensor("f16", *ne)


TRAINED = changed(half(8), flags=4)

# ---- ops that are accepted, and for which there is no kernel. On a GPU that ends in a NULL pipeline.

WITHOUT_KERNEL = (
    Accepted("sum", op("sum", half(8))),
    Accepted("sum_rows", op("sum_rows", half(8, 2))),
    Accepted("sum_rows", op("mean", half(8, 2))),
    Accepted("l2_norm", op("l2_norm", half(8, 2), EPS), Row.V0_9_8),
    Accepted("diag", op("diag", tensor("i32", 8)), Row.V0_9_8),
    Accepted("rope", op("rope_ext", tensor("bf16", 8, 1, 2), tensor("i32", 2), None, 8, 0, 0, *SCALES)),
    Accepted("pad", op("pad", half(8, 2), 1, 0, 0, 0), last=Row.V0_20_2),
    Accepted("roll", op("roll", half(8, 2), 1, 0, 0, 0), Row.V0_10_1),
    Accepted("unary", op("scale", half(8, 2), 2.0), last=Row.V0_9_5),
    Accepted("bin", op("add", tensor("f32", 8, 2), half(8, 2)), Row.V0_9_8, Row.V0_13_1),
    Accepted("opt_step_sgd", op("opt_step_sgd", TRAINED, tensor("f32", 8), tensor("f32", 2))),
)


def of(row: Row, case: Accepted) -> Call:
    return Call(row, case.getter, (case.op, 1) if case.getter in ("bin", "norm") else (case.op,))


def accepted(made: Call) -> bool:
    return made.device.supports_op(made.arguments[0])


@on_rows(WITHOUT_KERNEL)
def test_an_accepted_op_has_no_kernel(row: Row, case: Accepted) -> None:
    with of(row, case) as made:
        expected = made.expected()
        assert isinstance(expected, Expected)
        assert expected.base not in host_names(row)
        assert accepted(made)
        with pytest.raises(gm.KernelNotFound) as caught:
            made()
        assert caught.value.name == expected.base


# ---- ops that are accepted, and on which the getter asserts

REFUSED = (
    Accepted("group_norm", op("group_norm", permute(tensor("f32", 8, 3, 2), 0, 2, 1, 3), 1, EPS)),
    Accepted(
        "conv_transpose_1d", op("conv_transpose_1d", tensor("i32", 3, 2, 4), tensor("f32", 8, 4), 1, 0, 1)
    ),
    Accepted("count_equal", op("count_equal", tensor("i32", 2**31), tensor("i32", 2**31)), Row.V0_9_5),
    Accepted("sum_rows", op("sum_rows", permute(tensor("f32", 5, 1), 1, 0, 2, 3)), last=Row.V0_9_5),
    Accepted("unary", op("scale", sliced("f32", (8, 2), extra=(1, 0, 0)), 2.0), last=Row.V0_9_5),
)


@on_rows(REFUSED)
def test_the_getter_asserts_on_an_accepted_op(row: Row, case: Accepted) -> None:
    with of(row, case) as made:
        assert isinstance(made.expected(), Abort)
        assert accepted(made)
        with pytest.raises(gm.GgmlAbort):
            made()


# ---- ops that are accepted, and that run as if their values were f32

OF_ANOTHER_TYPE = (
    Accepted("norm", op("norm", half(8, 2), EPS)),
    Accepted("norm", op("rms_norm", half(8, 2), EPS)),
    Accepted("group_norm", op("group_norm", half(8, 2), 1, EPS)),
    Accepted("soft_max", op("soft_max", half(8, 2))),
    Accepted("l2_norm", op("l2_norm", half(8, 2), EPS), last=Row.V0_9_5),
)


@on_rows(OF_ANOTHER_TYPE)
def test_f16_values_are_given_to_a_kernel_for_f32(row: Row, case: Accepted) -> None:
    # It reads and writes twice as many bytes as there are.
    with of(row, case) as made:
        assert made.views[0].type == made.views[0].src[0].type == "f16"
        assert accepted(made)
        assert "f32" in made().base
        assert "f16" not in made().base


# ---- rows of which not every one lies where Metal wants a float4: at a multiple of 16

CROOKED = sliced("f32", (4, 3), extra=(1, 0, 0))
UNALIGNED_ROWS = (
    Accepted("unary", op("sqr", CROOKED), Row.V0_9_8),
    Accepted("bin", op("add", CROOKED, tensor("f32", 4, 3)), Row.V0_9_8),
    Accepted("sum_rows", op("sum_rows", CROOKED), Row.V0_9_8),
    Accepted("l2_norm", op("l2_norm", CROOKED, EPS), Row.V0_9_8),
    Accepted("norm", op("rms_norm", CROOKED, EPS)),
)


@on_rows(UNALIGNED_ROWS)
def test_four_values_at_a_time_are_read_from_rows_that_are_not_aligned(row: Row, case: Accepted) -> None:
    with of(row, case) as made:
        assert made.views[0].src[0].nb[1] == 20
        assert accepted(made)
        assert made().base.endswith("_4")


# ---- asserts, names and constants


@ALL
def test_rope_takes_a_quarter_of_the_positions_that_it_needs(row: Row) -> None:
    # Upstream wants 4 positions for each token there and says so; what it asserts is 1 for 4 tokens.
    mrope, tokens = 8, 8
    whole = op("rope_ext", tensor("f32", 8, 1, tokens), tensor("i32", 4 * tokens), None, 8, mrope, 0, *SCALES)
    assert "multi" in call(row, "rope", changed(whole, src={1: tensor("i32", tokens // 4)})).base
    with pytest.raises(gm.GgmlAbort):
        call(row, "rope", changed(whole, src={1: tensor("i32", tokens // 4 - 1)}))


@since(Row.V0_9_8)
def test_bin_one_leaves_a_constant_unset_that_its_kernel_reads(row: Row) -> None:
    one = call(row, "bin_one", "ADD")
    full = call(row, "bin", op("add", tensor("f32", 3, 2), tensor("f32", 3, 2)), 1)
    assert one.base == full.base
    indices = [constant.index for constant in full.constants]
    assert indices == [1300, 1301, 1302, 1303]
    assert [constant.index for constant in one.constants] == indices[:-1]


@since(Row.V0_9_8)
def test_diag_names_a_length_that_changes_nothing(row: Row) -> None:
    # Every length is a pipeline of its own: the cache grows without need.
    short, long = (call(row, "diag", op("diag", tensor("f32", n))) for n in (5, 6))
    assert (short.name, long.name) == ("kernel_diag_f32_n=5", "kernel_diag_f32_n=6")
    assert short.constants == long.constants == ()


def test_every_case_is_of_a_getter_that_its_rows_have() -> None:
    for case in (*WITHOUT_KERNEL, *REFUSED, *OF_ANOTHER_TYPE, *UNALIGNED_ROWS):
        assert all(case.getter in getters_of(row) for row in Row if case.first <= row <= case.last)
