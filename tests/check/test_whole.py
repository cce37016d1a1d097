"""All cases of the default row: none fails, and no kernel is left out but those that tests run by hand."""

import re

import pytest

from ggml_metal_py.check import run
from ggml_metal_py.check.coverage import UNREACHABLE
from ggml_metal_py.check.known import FINDINGS


@pytest.mark.slow
def test_every_case_of_every_op() -> None:
    report = run()
    assert [(outcome.case.text, outcome.problem) for outcome in report.failures] == []
    absent = [outcome for outcome in report.outcomes if outcome.status == "absent"]
    lacking = ("has no ggml_", "has no tensor type Q2_0", "arguments")  # it is for newer rows
    assert all(any(word in outcome.problem for word in lacking) for outcome in absent)
    assert 40 < len(absent) < 120
    assert set(report.findings) == {finding.name for finding in FINDINGS if finding.exists("0.13.1")}, (
        "a finding that no case shows"
    )
    assert report.coverage.declared is not None
    left = set(report.coverage.declared) - set(report.coverage.ran)
    by_hand = {
        name for name in report.coverage.declared if any(re.fullmatch(p, name) for p, _ in UNREACHABLE)
    }
    assert left == by_hand
    assert len(report.coverage.ran) + len(by_hand) == len(report.coverage.declared) == 611
