"""That there are cases: of every op that the device accepts, of every type, and always the same ones."""

from contextlib import suppress

import pytest

import ggml_metal_py as gm
from ggml_metal_py.check import all_cases, chosen
from ggml_metal_py.check.build import Built, values_of
from ggml_metal_py.check.case import Case
from ggml_metal_py.check.expression import Leaf, nodes
from ggml_metal_py.check.graph import NOTHING, computed
from ggml_metal_py.check.known import FINDINGS

from .accepted import accepted


@pytest.fixture(scope="module")
def examples() -> list[Case]:
    """A case for every function that there is in any."""
    found: dict[str, Case] = {}
    for case in all_cases():
        for name in sorted({getattr(node, "name", "") for node in nodes(case.tree)}):
            found.setdefault(name, case)
    return list(found.values())


def test_every_op_that_the_device_accepts_has_cases(device: gm.Device, examples: list[Case]) -> None:
    tested: set[str] = set()
    for case in examples:
        with device.context(128) as context, suppress(gm.NotInUpstream):
            Built(context, case.tree)
            tested.update(node.kind for node in computed(context))
    wanted = set(accepted(device)) - set(NOTHING)
    assert len(wanted) > 90
    assert wanted <= tested


def test_every_type_of_the_row_that_products_know_has_cases() -> None:
    types = {
        node.type
        for case in chosen(["mul_mat"])
        for node in nodes(case.tree)
        if isinstance(node, Leaf) and "mul_mat(" in case.text
    }
    integers = {"i8", "i16", "i32", "i64", "f64"}
    inside = {"q8_1", "q8_k"}  # what ggml turns the other source into
    newer = {"nvfp4"}
    assert types == {kind.name.lower() for kind in gm.Type} - integers - inside - newer | {"i32"}


def test_the_same_text_has_the_same_values(device: gm.Device) -> None:
    case = Case.of("add(f32(64, 3), mul_mat(q4_0(64, 64), f32(64, 3, high=5.0)))")
    with device.context() as context:
        once, again = (values_of(context, case.text, case.tree) for _ in range(2))
        other = values_of(context, case.text + " ", case.tree)
    assert once == again
    assert len(set(once)) == 3
    assert not set(once) & set(other)


def test_choosing_by_op_or_function() -> None:
    assert {case.op for case in chosen(["SUM_ROWS"])} == {"sum_rows"}
    assert {case.op for case in chosen(["rms_norm"])} == {"rms_norm", "graph"}
    assert all("gelu_inplace(" in case.text for case in chosen(["gelu_inplace"]))
    assert chosen() == all_cases()
    with pytest.raises(ValueError, match="no cases of 'nonsense'; ops: add, sub"):
        chosen(["nonsense"])


def test_no_case_is_there_twice_and_there_are_thousands() -> None:
    texts = [case.text for case in all_cases()]
    assert len(set(texts)) == len(texts) > 8000


def test_findings_have_names_and_readings() -> None:
    names = [finding.name for finding in FINDINGS]
    assert len(set(names)) == len(names)
    assert all(len(finding.reading) > 20 for finding in FINDINGS)
