"""The pytest plugin, in test runs of its own."""

import pytest

pytest_plugins = ["pytester"]

PLUGIN = ("-p", "ggml_metal_py.fuzz.plugin", "-p", "no:cacheprovider")


@pytest.fixture(autouse=True)
def _only_this_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the package is installed, pytest would load it twice."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


TEST = """
    import numpy as np
    import ggml_metal_py as gm

    def test_sum(metal_device, metal_backend, metal_context):
        a = metal_context.from_numpy(np.ones(5, np.float32))
        total = gm.ops.apply("sum", a)
        metal_backend.alloc(metal_context)
        metal_backend.compute(total)
        assert total.numpy() == 5
"""


def test_fixtures_run_kernels(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TEST)
    pytester.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=1)


def test_without_a_library_tests_fail_and_say_what_builds_it(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GGML_METAL_PY_LIB", str(pytester.path / "nothing"))
    pytester.makepyfile(TEST)
    result = pytester.runpytest_subprocess(*PLUGIN)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*build it with: ./build.sh build*"])


def test_a_marker_names_the_row(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.metal_upstream("nonsense-1.0")
        def test_row(metal_device):
            pass
        """
    )
    result = pytester.runpytest_subprocess("--strict-markers", *PLUGIN)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*nonsense-1.0*"])
