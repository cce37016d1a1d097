"""Shrinking has so much time and no more; what it did not come to the end of is told as it is."""

import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from ggml_metal_py import fuzz
from ggml_metal_py.check import Case
from ggml_metal_py.check import known as check_known
from ggml_metal_py.check.expression import Leaf, nodes
from ggml_metal_py.fuzz import Block, Examined, Plan, block
from ggml_metal_py.fuzz.block import run, shrink, shrink_all
from ggml_metal_py.fuzz.finding import Finding
from ggml_metal_py.fuzz.reproducer import reproducer

BLOCK = Block("sqr", seed=0, index=0)
CAUSE = "race kernel_sqr 7"


class Examines:
    """Finds a mistake in every case with a long row. It brings its clock along: a case takes a second."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cases: list[Case] = []
        monkeypatch.setattr(block, "time", SimpleNamespace(monotonic=lambda: float(len(self.cases))))

    def examine(self, case: Case) -> Examined:
        self.cases.append(case)
        if not any(isinstance(node, Leaf) and node.ne[0] >= 20 for node in nodes(case.tree)):
            return Examined(case, "ok")
        found = Finding("race", case.op, case.text, "", "kernel_sqr", line="7")
        return Examined(case, "failed", (found,))


@pytest.fixture
def examiner(monkeypatch: pytest.MonkeyPatch) -> Examines:
    return Examines(monkeypatch)


def test_with_time_enough_it_comes_to_the_end(examiner: Examines) -> None:
    found = shrink(BLOCK, CAUSE, examiner, seconds=600.0)
    assert found is not None
    assert not found.unfinished
    assert found.case.startswith("sqr(f32(20")


def test_when_time_is_over_the_plainest_one_until_then_is_told(examiner: Examines) -> None:
    found = shrink(BLOCK, CAUSE, examiner, seconds=12.0)
    assert len(examiner.cases) == 12
    assert found is not None
    assert found.unfinished
    assert found.case in [case.text for case in examiner.cases]


def test_so_is_the_one_after_so_many_cases(examiner: Examines) -> None:
    found = shrink(BLOCK, CAUSE, examiner, most=12)
    assert len(examiner.cases) == 12
    assert found is not None
    assert found.unfinished


def test_without_any_time_nothing_is_examined(examiner: Examines) -> None:
    assert shrink(BLOCK, CAUSE, examiner, seconds=0.0) is None
    assert shrink_all([(BLOCK, CAUSE)] * 2, examiner, seconds=0.0) == [None, None]
    assert examiner.cases == []


def test_causes_share_the_time(examiner: Examines) -> None:
    wanted = [(BLOCK, CAUSE), (replace(BLOCK, op="sqrt"), "a cause that does not show again")]
    first, second = shrink_all(wanted, examiner, seconds=30.0)
    assert [case.op for case in examiner.cases].count("sqr") == 15 + 1  # and whether it shows the other, too
    assert len(examiner.cases) <= 30
    assert first is not None
    assert first.unfinished
    assert second is None


def test_a_block_ends_in_time(examiner: Examines) -> None:
    result = run(BLOCK, examiner, seconds=4.0)
    assert len(examiner.cases) == 4
    assert sum(result.counts.values()) == 4
    assert sum(run(BLOCK, examiner).counts.values()) == BLOCK.size


def test_a_campaign_tells_what_it_did_not_shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_known, "FINDINGS", ())
    report = fuzz.run(["norm"], blocks=3, shrink_seconds=0.0)
    assert report.findings
    assert all(finding.unfinished for finding in report.findings)
    (line,) = [line for line in report.lines() if report.findings[0].case in line]
    assert line.endswith(" (not shrunk to the end)")
    assert f"findings ({len(report.findings)} not shrunk to the end)" in report.summary()
    assert report.as_json()["findings"][0]["unfinished"] is True


def test_a_script_says_that_there_may_be_a_plainer_case() -> None:
    finding = Finding("wrong", "sqr", "sqr(f32(5))", "off", "kernel_sqr")
    assert "plainer" not in reproducer(finding, Plan())
    assert "there may be a plainer one" in reproducer(replace(finding, unfinished=True), Plan())


def test_a_campaign_ends_in_time() -> None:
    fuzz.run(["sum"], blocks=1)  # its kernels are there now
    started = time.monotonic()
    fuzz.run(["sum"], seconds=1.0, shrink_seconds=1.0)
    assert time.monotonic() - started < 10.0  # the machine may be busy
