"""The plainest graph: what is left of one when everything that does not count is left out."""

from collections.abc import Callable

import pytest

from ggml_metal_py.check import Case
from ggml_metal_py.check.expression import Call, nodes
from ggml_metal_py.fuzz import Block, Examined
from ggml_metal_py.fuzz.block import shrink
from ggml_metal_py.fuzz.finding import Finding
from ggml_metal_py.fuzz.simplify import simplify


def has(name: str) -> Callable[[Case], bool]:
    return lambda case: any(isinstance(node, Call) and node.name == name for node in nodes(case.tree))


@pytest.mark.parametrize(
    ("text", "name", "plainest"),
    [
        ("add(norm(f32(97, 5), 1e-06), mul(f32(97, 5), f32(97)))", "norm", "norm(f32(1, 1), 1e-06)"),
        ("sqr(cut(f32(72, 5), [64, 3], [4, 1]))", "sqr", "sqr(f32(1))"),
        ("permute(f32(2, 3, 4, 1), 0, 2, 1, 3)", "permute", "permute(f32(1, 1), 0, 0, 0, 0)"),
        ("gelu_inplace(f32(7, fill='special'))", "gelu_inplace", "gelu_inplace(f32(1))"),
    ],
)
def test_what_does_not_count_is_left_out(text: str, name: str, plainest: str) -> None:
    found = simplify(Case.of(text), has(name))
    assert len(found.text) <= len(plainest)
    assert found.text.startswith(f"{name}(")
    assert "1e-06" in found.text or "1e-06" not in plainest


def test_a_case_that_cannot_be_plainer_stays() -> None:
    case = Case.of("add(f32(8, 2), f32(8))")
    assert simplify(case, lambda other: False) is case


class Twice:
    """Finds a mistake in two kernels of a family, in every case."""

    def examine(self, case: Case) -> Examined:
        kernels = ("kernel_cpy_f32_f16", "kernel_cpy_f16_f32")
        found = (Finding("race", case.op, case.text, "", kernel, line="7") for kernel in kernels)
        return Examined(case, "failed", tuple(found))


def test_two_findings_of_one_cause_in_a_case() -> None:
    block = Block("sqr", seed=0, index=0)
    (cause,) = {finding.cause for finding in Twice().examine(Case("sqr", "sqr(f32(1))")).findings}
    found = shrink(block, cause, Twice())
    assert found is not None
    assert found.line == "7"
    assert found.case.startswith("sqr(f32(1")


@pytest.mark.parametrize(
    ("kernel", "case", "cause"),
    [
        ("kernel_mul_mv_q4_K_f32", "mul_mat(q4_k(256), f32(256))", "wrong kernel_mul_mv"),
        ("kernel_flash_attn_ext_vec_f16_dk64_dv64", "f(f32(1))", "wrong kernel_flash_attn_ext_vec"),
        ("kernel_cpy_f32_f16", "cpy(cut(f32(3), [2]), f16(2))", "wrong kernel_cpy views"),
        ("kernel_bin_fuse_f32_f32_f32_4", "add(f32(1, fill='nan'), f32(1))", "wrong kernel_bin_fuse special"),
        ("kernel_mul_mm_id_map0_ne20_16", "f(f32(1))", "wrong kernel_mul_mm_id_map0"),
        ("kernel_conv_2d_f32_f32", "f(f32(1))", "wrong kernel_conv_2d"),
        ("", "f(f32(1))", "wrong op"),
    ],
)
def test_a_cause_is_a_family_of_kernels(kernel: str, case: str, cause: str) -> None:
    assert Finding("wrong", "op", case, "", kernel).cause == cause
