"""Mistakes of upstream's that campaigns found: each still shows, in the case that is listed with it."""

import pytest

import ggml_metal_py as gm
from ggml_metal_py.check import Case
from ggml_metal_py.fuzz import Examiner, Finding
from ggml_metal_py.fuzz.known import Listed, all_listed
from ggml_metal_py.fuzz.oracles import ORACLES

PLAIN = [listed for listed in all_listed() if set(listed.kinds) & {*ORACLES, "crash"}]


@pytest.mark.parametrize("listed", PLAIN, ids=lambda listed: listed.name)
def test_a_listed_mistake_shows(listed: Listed, device: gm.Device) -> None:
    with Examiner(device, may_die=True) as examiner:  # the examples are too small to
        examined = examiner.examine(Case.of(listed.example))
    assert [finding.known for finding in examined.findings] == [listed.name]
    assert examined.status == "finding"


def test_what_may_end_the_process_is_refused(examiner: Examiner) -> None:
    assert examiner.examine(Case.of("diag(cut(f32(3), [2]))")).status == "refused"
    assert examiner.examine(Case.of("diag(f32(3))")).status == "ok"


def test_they_have_names_and_readings() -> None:
    names = [listed.name for listed in all_listed()]
    assert len(set(names)) == len(names)
    assert all(len(listed.reading) > 40 for listed in all_listed())


@pytest.mark.parametrize(
    ("kernel", "does", "known"),
    [
        ("kernel_mul_mv_q4_0_f32", "reads", "product-row-tail"),
        ("kernel_mul_mv_q4_0_f32", "writes", ""),
        ("kernel_mul_mv_ext_q4_0_f32_r1_2", "reads", ""),
    ],
)
def test_what_a_listed_mistake_does_not_do_is_a_finding(
    kernel: str, does: str, known: str, device: gm.Device
) -> None:
    case = "mul_mat(q4_0(32, 3), f32(32))"
    access = f"{kernel} at byte 54 of leaf_0, which is outside (54 bytes)\n  lane 0 of simdgroup 0 in "
    problem = f"{access}threadgroup (0, 0, 0) {does} 2 bytes in line 1: ..."
    finding = Finding("out-of-bounds", "mul_mat", case, problem, kernel)
    with Examiner(device) as examiner:
        assert examiner.named(finding).known == known
