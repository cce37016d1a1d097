"""Counting kernels, and what a report says of them."""

from collections import Counter

import pytest

import ggml_metal_py as gm
from ggml_metal_py.check import Case, Outcome, Report
from ggml_metal_py.check.coverage import Coverage, coverage, host_names


def made(text: str, status: str, *kernels: str, **fields: object) -> Outcome:
    return Outcome(Case.of(text), status, kernels=kernels, error=0.5, limit=1.0, **fields)  # type: ignore[arg-type]


OUTCOMES = (
    made("add(f32(8), f32(8))", "ok", "kernel_a", "kernel_b"),
    made("add(f32(9), f32(9))", "ok", "kernel_a"),
    made("norm(f32(33), 0.1)", "finding", "kernel_c", finding="norm-last-simdgroup"),
    made("sum(f32(9))", "failed", "kernel_b", "kernel_d", problem="wrong: error 1 > 0"),
    made("sum(f16(9))", "unsupported"),
)


def test_only_kernels_of_right_cases_count(device: gm.Device) -> None:
    found = coverage(device, OUTCOMES)
    assert found.ran == {
        "kernel_a": ("add(f32(8), f32(8))", "add(f32(9), f32(9))"),
        "kernel_b": ("add(f32(8), f32(8))",),
    }
    assert found.wrong == {"kernel_c", "kernel_d"}


def test_every_kernel_that_did_not_run_has_a_reason() -> None:
    names = ("kernel_a", "kernel_c", "kernel_e", "kernel_pad_f32_4", "kernel_tri_bf16_3")
    found = Coverage(names, {"kernel_a": ("x",)}, frozenset({"kernel_c"}))
    assert set(found.unreached) == set(names) - {"kernel_a"}
    assert found.unreached["kernel_c"] == "in no case that was right"
    assert found.unreached["kernel_e"] == "in no case"
    assert "f32 only" in found.unreached["kernel_tri_bf16_3"]


def test_without_a_list_of_kernels_those_that_were_wrong_are_told() -> None:
    found = Coverage(None, {"kernel_a": ("x",)}, frozenset({"kernel_c"}))
    assert set(found.unreached) == {"kernel_c"}


def test_the_row_s_kernels(device: gm.Device) -> None:
    names = host_names(device)
    if names is None:
        pytest.skip("nobody tells the names of the kernels here")
    assert len(names) == device.kernel_counts()["declared"] == 611
    assert "kernel_flash_attn_ext_vec_reduce" in names


def test_a_report_adds_up() -> None:
    names = ("kernel_a", "kernel_b", "kernel_c", "kernel_d", "kernel_e")
    found = Coverage(names, {"kernel_a": ("x",), "kernel_b": ("y",)}, frozenset({"kernel_c", "kernel_d"}))
    report = Report("row", OUTCOMES, found, 1.25)
    assert report.counts == Counter(ok=2, finding=1, failed=1, unsupported=1)
    values = report.as_json(kernels=True)
    assert [values[key] for key in ("cases", "ok", "failed", "unsupported")] == [5, 2, 1, 1]
    assert [finding["name"] for finding in values["findings"]] == ["norm-last-simdgroup"]
    assert values["host_names"]["declared"] == 5
    assert values["host_names"]["ran"] == 2
    assert set(values["host_names"]["unreached"]) == {"kernel_c", "kernel_d", "kernel_e"}
    assert values["failures"][0]["case"] == "sum(f32(9))"
    lines = list(report.lines(kernels=True))
    assert "FAILED sum(f32(9))" in lines
    assert "kernel_e: not run: in no case" in lines
    assert lines[-1].startswith("5 cases on row: 2 right, 1 failed, 1 not supported, 1 known findings")
    assert "2 of 5 kernels" in lines[-1]
