"""Campaigns: the same again for the same seed, wherever they run; findings are shrunk and reproduce alone."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ggml_metal_py import fuzz
from ggml_metal_py.check import known as check_known
from ggml_metal_py.fuzz import Finding, Plan, Report
from ggml_metal_py.fuzz.known import all_listed


@pytest.fixture
def _nothing_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    all_listed()  # some of its entries are made of these
    monkeypatch.setattr(check_known, "FINDINGS", ())


def facts(report: Report) -> tuple[object, ...]:
    return report.counts, report.pipelines, report.all_findings


def test_the_same_seed_is_the_same_campaign() -> None:
    first, again, other = (fuzz.run(["add", "argmax"], blocks=4, seed=seed) for seed in (1, 1, 2))
    assert facts(first) == facts(again)
    assert facts(first) != facts(other)
    assert first.cases == 4 * 30


@pytest.mark.usefixtures("_nothing_is_listed")
def test_a_finding_is_shrunk_and_its_script_shows_it(tmp_path: Path) -> None:
    report = fuzz.run(["norm"], blocks=3)
    wrong = [finding for finding in report.findings if finding.kind == "wrong"]
    assert [finding.case for finding in wrong] == ["norm(f32(33), 1e-06)"]  # one more than a simdgroup
    report.write(tmp_path)
    values = json.loads((tmp_path / "findings.json").read_text())
    assert values["seed"] == 0
    (found,) = [finding for finding in values["findings"] if finding["kind"] == "wrong"]
    assert {"kind", "kernel", "line", "op", "case", "reproducer"} <= set(found)
    script = subprocess.run(
        [sys.executable, found["reproducer"]], capture_output=True, text=True, check=False
    )
    assert script.returncode == 1, script.stderr
    assert "norm(f32(33), 1e-06): f" in script.stdout


def test_a_listed_mistake_has_a_script_with_its_reading(tmp_path: Path) -> None:
    report = fuzz.run(["diag"], blocks=3, plan=Plan(isolate=True))  # it may end the process
    report.write(tmp_path)
    (listed,) = json.loads((tmp_path / "findings.json").read_text())["known"]
    text = Path(listed["reproducer"]).read_text()
    assert "rows of the result are found with the source's nb[1]" in text
    script = subprocess.run(
        [sys.executable, listed["reproducer"]], capture_output=True, text=True, check=False
    )
    assert script.returncode == 1, script.stderr
    assert f"{listed['case']}: finding" in script.stdout


def test_of_a_listed_mistake_the_shortest_case_is_kept_of_others_the_first() -> None:
    long, short = (Finding("wrong", "add", f"add(f32({n}), f32)", "", known="x") for n in (1000, 2))
    assert short.plainer_than(long)
    assert not long.plainer_than(short)
    assert long.plainer_than(None)
    assert not replace(short, known="").plainer_than(replace(long, known=""))


def test_processes_of_their_own_find_the_same() -> None:
    here = fuzz.run(["sum", "gelu"], blocks=2, seed=5)
    apart = fuzz.run(["sum", "gelu"], blocks=2, seed=5, plan=Plan(isolate=True))
    assert facts(here) == facts(apart)


@pytest.mark.slow
def test_processes_find_the_same() -> None:
    here = fuzz.run(["sum", "gelu"], blocks=4, seed=6)
    assert facts(here) == facts(fuzz.run(["sum", "gelu"], blocks=4, seed=6, workers=2))


@pytest.mark.slow
def test_a_dask_cluster_finds_the_same() -> None:
    from distributed import LocalCluster

    here = fuzz.run(["sum", "gelu"], blocks=4, seed=7)
    with LocalCluster(2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:
        there = fuzz.run(["sum", "gelu"], blocks=4, seed=7, scheduler=cluster.scheduler_address)
    assert facts(here) == facts(there)
