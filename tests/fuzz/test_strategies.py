"""What strategies draw: graphs that ggml makes, of all ops that the device accepts."""

import importlib
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from check.accepted import accepted
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ggml_metal_py as gm
from ggml_metal_py.check import Case
from ggml_metal_py.check.build import Built
from ggml_metal_py.check.expression import Call, nodes, parse
from ggml_metal_py.check.graph import NOTHING, computed
from ggml_metal_py.fuzz import strategies, types

FEW = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@pytest.mark.parametrize("name", strategies.names())
def test_most_graphs_are_such_that_ggml_makes(name: str, device: gm.Device) -> None:
    made, refused = [], []

    @FEW
    @given(strategies.op_cases(name))
    def draw(case: Case) -> None:
        with device.context(128) as context:
            try:
                Built(context, case.tree)
                made.append(case)
            except (gm.GgmlAbort, ValueError):
                refused.append(case)

    draw()
    assert len(made) >= len(refused), refused[:3]


@FEW
@given(strategies.cases())
def test_a_case_is_its_text(case: Case) -> None:
    assert str(parse(case.text)) == case.text
    assert any(isinstance(node, Call) for node in nodes(case.tree))


def test_every_op_that_the_device_accepts_is_drawn(device: gm.Device) -> None:
    drawn: set[str] = set()
    for name in strategies.names():

        @FEW
        @given(strategies.op_cases(name))
        def draw(case: Case) -> None:
            with device.context(128) as context, suppress(gm.GgmlAbort, ValueError):
                Built(context, case.tree)
                drawn.update(node.kind for node in computed(context))

        draw()
    assert set(accepted(device)) - set(NOTHING) <= drawn


def test_unknown_ops_are_refused_with_those_that_are_known() -> None:
    with pytest.raises(ValueError, match=r"no strategy for 'nonsense'; ops: .*mul_mat"):
        strategies.cases("nonsense")


@given(st.data())
def test_lengths_and_shapes_keep_within_bounds(data: st.DataObject) -> None:
    assert 1 <= data.draw(strategies.lengths(40)) <= 40
    ne = data.draw(strategies.shapes(axes=3, most=64, elements=640, unit=32))
    assert 1 <= len(ne) <= 3
    assert ne[0] % 32 == 0
    assert ne[0] <= 64


def test_hypothesis_knows_how_to_draw_a_case() -> None:
    types.register()

    @FEW
    @given(st.from_type(Case))
    def draw(case: Case) -> None:
        assert case.op in strategies.names()

    draw()


def test_entry_points_name_what_there_is() -> None:
    tomllib = pytest.importorskip("tomllib", reason="since Python 3.11")
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
    for group in ("hypothesis", "pytest11"):
        for place in project["entry-points"][group].values():
            module, _, name = place.partition(":")
            found = importlib.import_module(module)
            assert not name or callable(getattr(found, name))


def test_pytest_loads_no_numpy_for_the_plugin() -> None:
    code = "import sys, ggml_metal_py.fuzz.plugin; sys.exit('numpy' in sys.modules or 'cffi' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
