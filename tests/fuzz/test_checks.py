"""`check --checked`: what it makes of findings, and a few cases that run."""

import json

import pytest
from click.testing import CliRunner

from ggml_metal_py.check import Case
from ggml_metal_py.cli import main
from ggml_metal_py.fuzz import known
from ggml_metal_py.fuzz.checks import Report
from ggml_metal_py.fuzz.examiner import Examined
from ggml_metal_py.fuzz.finding import Finding


def finding(case: str, *, listed: str = "", line: str = "7") -> Finding:
    return Finding("race", "mean", case, "at byte 0", kernel="kernel_mean_f32", line=line, known=listed)


def examined(case: str, status: str, *findings: Finding) -> Examined:
    return Examined(Case("mean", case), status, findings, (("kernel_mean_f32", "kernel_mean_f32_4"),))


REPORT = Report(
    "row",
    ("kernel_mean_f32", "kernel_sum_f32"),
    (
        examined("mean(f32(8, 2))", "failed", finding("mean(f32(8, 2))")),
        examined("mean(f32(8))", "failed", finding("mean(f32(8))"), finding("mean(f32(8))", listed="sums")),
        examined("mean(f32(1))", "ok"),
        Examined(Case("mean", "mean(i32(1))"), "unsupported"),
        Examined(Case("mean", "mean(f32(9), 1)"), "invalid"),
    ),
    1.5,
)


def test_findings_of_one_cause_are_one_with_the_shortest_case() -> None:
    (failure,) = REPORT.as_json()["failures"]
    assert failure["case"] == "mean(f32(8))"
    assert failure["cases"] == ["mean(f32(8))", "mean(f32(8, 2))"]
    assert failure["line"] == "7"


def test_listed_findings_are_apart() -> None:
    (listed,) = REPORT.as_json()["findings"]
    assert (listed["name"], listed["kinds"], listed["cases"]) == ("sums", ["race"], ["mean(f32(8))"])


def test_cases_and_kernels_are_counted() -> None:
    values = REPORT.as_json(kernels=True)
    counts = {key: values[key] for key in ("cases", "ok", "failed", "unsupported", "absent")}
    assert counts == {"cases": 5, "ok": 1, "failed": 3, "unsupported": 1, "absent": 0}
    assert values["host_names"] == {
        "declared": 2,
        "ran": 1,
        "cases": {"kernel_mean_f32": ["mean(f32(8))", "mean(f32(1))", "mean(f32(8, 2))"]},
    }


def test_lines_tell_what_the_values_do() -> None:
    lines = list(REPORT.lines(kernels=True))
    assert lines[0].startswith("known sums (race, 1 cases)")
    assert "FOUND race kernel_mean 7 (2 cases)" in lines
    assert "FAILED mean(f32(9), 1): ggml makes no such graph" in lines
    assert "1 of 2 kernels ran" in lines[-1]


def check(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["check", "--checked", *arguments])
    return result.exit_code, result.output


@pytest.mark.slow
def test_a_fault_is_status_1_unless_it_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = ("--case", "add(f32(8), f32(8))", "--case", "sum(f32(1))", "--json")
    status, output = check(*cases)
    values = json.loads(output)
    assert (status, values["ok"], values["failed"], values["host_names"]["ran"]) == (0, 1, 0, 2)
    assert [listed["name"] for listed in values["findings"]] == ["sum-threadgroup-memory"]
    monkeypatch.setattr(known, "all_listed", lambda: ())
    status, output = check(*cases)
    (failure,) = json.loads(output)["failures"]
    assert (status, failure["kind"], failure["case"]) == (1, "threadgroup-length", "sum(f32(1))")


@pytest.mark.parametrize("arguments", [("nonsense",), ("sum", "--case", "sum(f32(8))"), ("--case", "add(")])
def test_wrong_use_is_status_2(arguments: tuple[str, ...]) -> None:
    status, output = check(*arguments)
    assert status == 2
    assert "error: " in output
