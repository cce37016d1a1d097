"""Checked mode in campaigns and in pytest. Its kernels are compiled here, which takes a few seconds each."""

import pytest

from ggml_metal_py import fuzz
from ggml_metal_py.fuzz import Plan
from ggml_metal_py.fuzz.known import Listed, all_listed
from ggml_metal_py.fuzz.known.accesses import LISTED

pytest_plugins = ["pytester"]

pytestmark = pytest.mark.slow

CHECKED = Plan(checked=True)


@pytest.mark.parametrize("listed", LISTED, ids=lambda listed: listed.name)
def test_a_listed_mistake_shows(listed: Listed) -> None:
    (examined,) = fuzz.examine([listed.example], CHECKED)
    assert examined.status == "finding"
    assert {finding.known for finding in examined.findings} == {listed.name}
    accesses = [finding for finding in examined.findings if finding.kind != "wrong"]
    assert accesses
    assert all(finding.kind in listed.kinds and finding.line for finding in accesses)


@pytest.mark.parametrize(
    "graph",
    ["add(f32(33, 3), f32(33))", "opt_step_sgd(param(f32(1)), f32(1), f32(2, low=0.01, high=0.1))"],
)
def test_a_right_graph_has_no_findings(graph: str) -> None:
    (examined,) = fuzz.examine([graph], CHECKED)
    assert (examined.status, examined.findings) == ("ok", ())


def test_errors_of_the_terms_of_a_sum_are_not_wrong() -> None:
    (examined,) = fuzz.examine(["sum(f32(4, 9, 4, 9))"], CHECKED)  # -0.0044558 for -0.00445901
    assert (examined.status, examined.findings) == ("ok", ())


def test_a_campaign_tells_kernel_and_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz.known, "all_listed", lambda: ())
    report = fuzz.run(["soft_max"], blocks=1, plan=CHECKED)
    races = [finding for finding in report.findings if finding.kind == "race"]
    assert races
    assert all(finding.kernel.startswith("kernel_soft_max") and finding.line.isdigit() for finding in races)
    assert len(all_listed()) > len(LISTED)


def test_a_test_fails_for_what_its_kernels_do(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(
        """
        import numpy as np
        import pytest
        import ggml_metal_py as gm

        @pytest.mark.parametrize("length", [8, 172])
        def test_soft_max(metal_backend, metal_context, length):
            result = gm.ops.soft_max(metal_context.from_numpy(np.zeros(length, np.float32)))
            metal_backend.alloc(metal_context)
            metal_backend.compute(result)
            assert np.allclose(result.numpy(), 1 / length)
        """
    )
    plugin = ("-p", "ggml_metal_py.fuzz.plugin", "-p", "no:cacheprovider")
    pytester.runpytest_subprocess(*plugin).assert_outcomes(passed=2)
    result = pytester.runpytest_subprocess("--metal-checked", *plugin)
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*race in kernel_soft_max_f32*"])
