"""`ggml-metal-py fuzz`: keys, files, exit status, and single graphs."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ggml_metal_py.cli import main
from ggml_metal_py.fuzz import known


def fuzz(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["fuzz", *arguments])
    return result.exit_code, result.output


def test_json_has_the_promised_keys(tmp_path: Path) -> None:
    status, output = fuzz("sqr", "add", "--blocks", "2", "--seed", "3", "--json", "--out", str(tmp_path))
    assert status == 0
    values = json.loads(output)
    assert {"cases", "seconds", "seed", "findings"} <= set(values)
    assert (values["cases"], values["seed"], values["findings"]) == (60, 3, [])
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "kernel_bin_fuse" in page
    assert "http" not in page
    assert json.loads((tmp_path / "findings.json").read_text("utf-8"))["cases"] == 60


def test_what_was_found_is_status_1_with_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "all_listed", lambda: ())
    status, output = fuzz("sum", "--blocks", "1", "--json", "--out", str(tmp_path))
    assert status == 1
    (finding,) = json.loads(output)["findings"]
    assert {"kind", "kernel", "line", "op", "case", "reproducer"} <= set(finding)
    assert (finding["kind"], finding["case"]) == ("threadgroup", "sum(f32(1))")
    assert Path(finding["reproducer"]).is_file()
    assert "sum(f32(1))" in (tmp_path / "report.html").read_text("utf-8")


def test_single_graphs() -> None:
    status, output = fuzz("--case", "add(f32(8), f32(8))", "--case", "rope(f32(3, 5, 2), i32(2), 2, 0)")
    assert status == 0
    assert output.splitlines()[0] == "add(f32(8), f32(8)): ok"
    assert "wrong: " in output
    assert "(listed as rope-odd)" in output


@pytest.mark.parametrize(
    "arguments",
    [("nonsense",), ("--oracle", "nonsense", "--blocks", "1"), ("--case", "add("), ("--workers", "0")],
)
def test_wrong_use_is_status_2(arguments: tuple[str, ...], tmp_path: Path) -> None:
    status, output = fuzz(*arguments, "--out", str(tmp_path))
    assert status == 2
    assert "rror: " in output
