"""Calls that went wrong for people elsewhere, and what upstream's getters do wrong today."""

import pytest

import ggml_metal_py as gm

from .calls import Call, device_of
from .findings import METAL_ALIGNMENT
from .recipes import Recipe, changed, op, permute, tensor
from .rows import Row


def since(first: Row, last: Row = Row.V0_25_3) -> pytest.MarkDecorator:
    rows = [row for row in Row if first <= row <= last]
    return pytest.mark.parametrize("row", rows, ids=[row.upstream for row in rows])


ALL = since(Row.V0_9_4)


def call(row: Row, getter: str, *arguments: object) -> gm.Pipeline:
    with Call(row, getter, arguments) as made:
        return made()


def works(row: Row) -> None:
    """The library still answers."""
    product = op("mul_mat", tensor("f32", 64, 32), tensor("f32", 64, 2))
    assert call(row, "mul_mv", product).base == "kernel_mul_mv_f32_f32_4"


# ---- R9: a getter whose kernel does not exist


@ALL
def test_r9_a_product_without_a_kernel_is_named(row: Row) -> None:
    product = op("mul_mat", tensor("q8_0", 64, 32), tensor("f16", 64, 1))
    with pytest.raises(gm.KernelNotFound, match="kernel_mul_mv_q8_0_f16") as caught:
        call(row, "mul_mv", product)
    assert caught.value.name == "kernel_mul_mv_q8_0_f16"
    works(row)


@ALL
def test_r9_a_copy_without_a_kernel_is_named(row: Row) -> None:
    with pytest.raises(gm.KernelNotFound, match="kernel_cpy_q8_0_q8_0"):
        call(row, "cpy", "q8_0", "q8_0")
    works(row)


@ALL
def test_r9_a_number_of_experts_without_a_kernel_is_named(row: Row) -> None:
    with pytest.raises(gm.KernelNotFound, match="kernel_mul_mm_id_map0_ne20_3"):
        call(row, "mul_mm_id_map0", 8, 3)
    works(row)


# ---- R10: a getter that asserts


def upstream_file(error: gm.GgmlAbort) -> str:
    assert error.file is not None
    assert error.line is not None
    assert error.line > 0
    return error.file.rpartition("/")[2]


@ALL
def test_r10_a_type_that_is_not_implemented_aborts_with_upstreams_words(row: Row) -> None:
    product = op("mul_mat", tensor("i8", 64, 32), tensor("f32", 64, 1))
    with pytest.raises(gm.GgmlAbort, match="not implemented") as caught:
        call(row, "mul_mv", product)
    assert caught.value.message == "not implemented"
    assert upstream_file(caught.value) == "ggml-metal-device.cpp"
    works(row)


@ALL
def test_r10_pooling_a_transposed_image_aborts_with_upstreams_words(row: Row) -> None:
    image = permute(tensor("f32", 8, 6, 2, 1), 1, 0, 2, 3)
    pooled = op("pool_2d", image, 1, 2, 2, 2, 2, 0.0, 0.0)
    with pytest.raises(gm.GgmlAbort, match="ggml_is_contiguous") as caught:
        call(row, "pool_2d", pooled, "AVG")
    assert caught.value.message == "GGML_ASSERT(ggml_is_contiguous(op->src[0])) failed"
    assert upstream_file(caught.value) == "ggml-metal-device.cpp"
    works(row)


# ---- R11: parameters that are kept from another call


@since(Row.V0_9_5)
def test_r11_memory_for_the_experts_is_that_of_each_call(row: Row) -> None:
    few, many = (call(row, "mul_mm_id_map0", ne02, 8) for ne02 in (8, 128))
    assert (few.smem, many.smem) == (128, 2048)


def test_r11_0_9_4_keeps_the_memory_of_the_first_call() -> None:
    # An upstream finding: the name lacks ne02, and smem is set when the pipeline is compiled, only.
    few, many = (call(Row.V0_9_4, "mul_mm_id_map0", ne02, 10) for ne02 in (8, 128))
    assert few.name == many.name == "kernel_mul_mm_id_map0_ne20_10"
    assert few.smem == many.smem
    assert many.smem != 128 * 10 * 2 or few.smem != 8 * 10 * 2


# ---- threadgroup memory that Metal would refuse


def triangle(n: int) -> Recipe:
    return op("solve_tri", tensor("f32", n, n), tensor("f32", 8, n), True, True, False)


@since(Row.V0_9_8)
def test_solve_tri_wants_more_memory_than_there_is(row: Row) -> None:
    # An upstream finding: supports_op accepts any size, and nothing checks before the dispatch.
    limit = device_of(row).props.max_theadgroup_memory_size
    assert limit == 32768
    assert call(row, "solve_tri", triangle(1024)).smem == limit
    assert call(row, "solve_tri", triangle(1025)).smem > limit


@since(Row.V0_9_5, Row.V0_20_2)
def test_memory_lengths_are_not_multiples_of_16_before_0_25_3(row: Row) -> None:
    # An upstream finding: setThreadgroupMemoryLength wants multiples of 16.
    assert call(row, "mul_mm_id_map0", 1, 1).smem % METAL_ALIGNMENT == 2


def test_memory_lengths_are_multiples_of_16_since() -> None:
    assert call(Row.V0_25_3, "mul_mm_id_map0", 1, 1).smem == 16


# ---- numbers wider than the constant that carries them


@since(Row.V0_9_8)
def test_solve_tri_cuts_lengths_to_16_bits(row: Row) -> None:
    # An upstream finding: the name shows n and k whole, the kernel is specialised with their lower halves.
    wide = op("solve_tri", tensor("f32", 4, 4), tensor("f32", 2**16 + 5, 4), True, True, False)
    pipeline = call(row, "solve_tri", wide)
    assert pipeline.name.endswith(f"_k={2**16 + 5}")
    assert pipeline.constants[-1].value == 5


@ALL
def test_an_abort_leaves_nothing_behind(row: Row) -> None:
    refused = op("argsort", tensor("f32", 8, 2), 0)
    for _ in range(100):
        with pytest.raises(gm.GgmlAbort, match="fatal error"):
            call(row, "argsort", changed(refused, params={0: 7}))
    works(row)
