"""Which getter chose a kernel, by its host name; and what is counted."""

import pytest

import ggml_metal_py as gm
from ggml_metal_py.check import Case
from ggml_metal_py.check.coverage import host_names
from ggml_metal_py.fuzz import Examiner
from ggml_metal_py.fuzz.coverage import Branches, Ran, by_getter, by_host_name, getter


def test_every_host_name_has_a_getter_of_upstream_s(device: gm.Device) -> None:
    names = host_names(device)
    assert names
    upstream = {
        name.rpartition("_get_pipeline_")[2] for name in device._native.functions("ggml_metal_library_")
    }
    by_base = {"concat"}  # this row's get_pipeline_base chooses it, by the op
    assert {getter(name) for name in names} - by_base <= upstream


@pytest.mark.parametrize(
    ("host_name", "expected"),
    [
        ("kernel_mul_mm_id_map0_ne20_1", "mul_mm_id_map0"),
        ("kernel_mul_mm_id_q4_K_f32", "mul_mm_id"),
        ("kernel_mul_mv_ext_q4_0_f32_r1_2", "mul_mv_ext"),
        ("kernel_flash_attn_ext_vec_reduce", "flash_attn_ext_vec_reduce"),
        ("kernel_rms_norm_mul_add_f32_4", "norm"),
        ("kernel_bin_fuse_f32_f32_f32", "bin"),
        ("kernel_op_sum_f32", "sum"),
        ("kernel_sum_rows_f32_f32", "sum_rows"),
        ("kernel_swiglu_oai_f32", "glu"),
    ],
)
def test_a_getter(host_name: str, expected: str) -> None:
    assert getter(host_name) == expected


def test_specialisations_of_a_host_name_are_counted() -> None:
    pipelines = {
        ("kernel_a", "kernel_a_n=1"): 3,
        ("kernel_a", "kernel_a_n=2"): 1,
        ("kernel_b", "kernel_b"): 2,
    }
    assert by_host_name(pipelines) == [Ran("kernel_a", 4, 2), Ran("kernel_b", 2, 1)]


def test_branches_of_a_getter_are_host_names_and_values_of_constants() -> None:
    pipelines = {
        ("kernel_mul_mv_f32_f32", "kernel_mul_mv_f32_f32_nsg=2_ne12=1"): 5,
        ("kernel_mul_mv_f32_f32", "kernel_mul_mv_f32_f32_nsg=1_ne12=1"): 2,
        ("kernel_mul_mv_q4_0_f32", "kernel_mul_mv_q4_0_f32_nsg=4_ne12=3"): 1,
    }
    declared = [
        "kernel_mul_mv_f32_f32",
        "kernel_mul_mv_q4_0_f32",
        "kernel_mul_mv_q8_0_f32",
        "kernel_argmax_f32",
    ]
    argmax, product = by_getter(pipelines, declared)
    assert argmax == Branches("argmax", 0, (), ("kernel_argmax_f32",), {}, 0)
    assert product == Branches(
        name="mul_mv",
        cases=8,
        ran=("kernel_mul_mv_f32_f32", "kernel_mul_mv_q4_0_f32"),
        missing=("kernel_mul_mv_q8_0_f32",),
        constants={"ne12": (1, 3), "nsg": (1, 2, 4)},
        specialisations=3,
    )


def test_function_constants_are_read_off_pipelines_that_ran(examiner: Examiner) -> None:
    examined = examiner.examine(Case.of("mul_mat(f16(80, 9), f32(80, 17))"))  # no whole tiles
    (branches,) = by_getter(dict.fromkeys(examined.pipelines, 1))
    assert branches.name == "mul_mm"
    assert branches.constants["bci"] == (1,)
    assert branches.constants["bco"] == (1,)
