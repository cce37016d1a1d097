"""Mistakes of upstream's that campaigns found: each still shows, in the case that is listed with it."""

import pytest

import ggml_metal_py as gm
from ggml_metal_py.check import Case
from ggml_metal_py.fuzz import Examiner
from ggml_metal_py.fuzz.known import Listed, all_listed
from ggml_metal_py.fuzz.oracles import ORACLES

PLAIN = [listed for listed in all_listed() if set(listed.kinds) & {*ORACLES, "crash"}]


@pytest.mark.parametrize("listed", PLAIN, ids=lambda listed: listed.name)
def test_a_listed_mistake_shows(listed: Listed, device: gm.Device) -> None:
    with Examiner(device, may_die=True) as examiner:  # the examples are too small to
        examined = examiner.examine(Case.of(listed.example))
    assert [finding.known for finding in examined.findings] == [listed.name]
    assert examined.status == "finding"


def test_what_may_end_the_process_is_refused(examiner: Examiner) -> None:
    assert examiner.examine(Case.of("diag(cut(f32(3), [2]))")).status == "refused"
    assert examiner.examine(Case.of("diag(f32(3))")).status == "ok"


def test_they_have_names_and_readings() -> None:
    names = [listed.name for listed in all_listed()]
    assert len(set(names)) == len(names)
    assert all(len(listed.reading) > 40 for listed in all_listed())
