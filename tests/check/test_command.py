"""`ggml-metal-py check`: keys, exit status, and cases that are run again by their text."""

import json

import pytest
from click.testing import CliRunner

from ggml_metal_py.check import known
from ggml_metal_py.cli import main


def check(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["check", *arguments])
    return result.exit_code, result.output


def test_json_has_the_promised_keys() -> None:
    status, output = check("sum", "mean", "--json")
    assert status == 0
    values = json.loads(output)
    assert {"cases", "ok", "failed", "unsupported", "findings", "host_names"} <= set(values)
    assert {"declared", "ran"} <= set(values["host_names"])
    assert values["failed"] == 0
    assert values["cases"] == values["ok"] + values["unsupported"] + sum(
        len(finding["cases"]) for finding in values["findings"]
    )
    worst = values["ops"]["mean"]["worst"]
    assert {"case", "error", "limit", "kernels"} <= set(worst)


def test_a_shown_case_runs_again() -> None:
    _, output = check("mean", "--json")
    worst = json.loads(output)["ops"]["mean"]["worst"]
    status, output = check("--case", worst["case"], "--json")
    assert status == 0
    again = json.loads(output)["ops"]["mean"]["worst"]
    assert again == worst


def test_what_failed_is_status_1_with_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "FINDINGS", ())
    status, output = check("--case", "norm(f32(33, 2), 1e-06)")
    assert status == 1
    assert "FAILED norm(f32(33, 2), 1e-06)" in output
    assert "[kernel_norm_f32]" in output


@pytest.mark.parametrize(
    "arguments",
    [("nonsense",), ("--case", "add("), ("sum", "--case", "sum(f32(8))"), ("--upstream", "nonsense", "sum")],
)
def test_wrong_use_is_status_2(arguments: tuple[str, ...]) -> None:
    status, output = check(*arguments)
    assert status == 2
    assert "error: " in output


def test_a_row_without_kernel_source_says_so() -> None:
    status, output = check("sum", "--upstream", "whisper.rn-0.5.2")
    assert status == 2
    assert "ships no kernel source" in output


def test_coverage_lists_kernels() -> None:
    status, output = check("sum", "--coverage")
    assert status == 0
    assert "kernel_op_sum_f32: " in output
    assert "kernel_pad_f32_4: not run: " in output
