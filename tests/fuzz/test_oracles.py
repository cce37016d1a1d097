"""What each oracle sees, and that right cases go by all of them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import ggml_metal_py as gm
from ggml_metal_py.check import Case
from ggml_metal_py.check.machine import Machine
from ggml_metal_py.check.run import Opened, Snapshot
from ggml_metal_py.fuzz import Examiner, oracles
from ggml_metal_py.fuzz.oracles import ORACLES

RIGHT = "add(mul(rms_norm(f32(64, 5), 1e-06), f32(64)), f32(64, 5))"


def kinds(examiner: Examiner, text: str) -> list[str]:
    return [finding.kind for finding in examiner.examine(Case.of(text)).findings]


@pytest.mark.parametrize(
    "text",
    [
        RIGHT,
        "mul_mat(q4_0(64, 5), f32(64, 3))",
        "soft_max_ext(f32(33, 5), f16(33, 5, fill='mask'), 0.5, 8.0)",
        "cpy(f32(33, 3, fill='nan'), f32(33, 3))",
        "norm_inplace(f32(2, 8, 1, 4, low=99.0, high=101.0), 1e-06)",
        "conv_2d_direct(f32(3, 2, 2, 3), f32(9, 7, 2), 2, 1, 1, 1, 1, 2)",
        "flash_attn_ext(f32(64, 3, 4), f16(64, 40, 2), f16(64, 40, 2), None, 0.125, 0.0, 10.0)",
    ],
)
def test_a_right_case_has_no_findings(text: str, examiner: Examiner) -> None:
    examined = examiner.examine(Case.of(text))
    assert (examined.status, examined.findings) == ("ok", ())
    assert all(base.startswith("kernel_") for base, _ in examined.pipelines)


CANCELLED = "add(rms_norm(f32(1, 1, 1, 1), 1e-05), rms_norm(f32(1, 1, 1), 1e-05))"
"""Of values near 1 and -1 some 1e-05 is left, with the errors of values near 1."""


def test_what_cancels_out_is_not_wrong(examiner: Examiner, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kinds(examiner, CANCELLED) == []
    monkeypatch.setattr(oracles, "exact", lambda *arguments, **options: np.full((1, 1, 1, 1), 1e-3))
    assert kinds(examiner, CANCELLED) == ["wrong"]


LITTLE_LEFT = (
    "gelu(cut(f32(1, 1, 1, 3, low=-5.0, high=5.0), [1, 1, 1, 1], [0, 0, 0, 1]))",
    "geglu_erf(cut(f32(6, 1, 2, 1, low=-5.0, high=5.0), [2, 1, 1, 1], [4, 0, 0, 0]))",
)
"""Something near -1 is added to 1."""


@pytest.mark.parametrize("text", LITTLE_LEFT)
def test_errors_of_the_terms_of_a_sum_are_not_wrong(
    text: str, examiner: Examiner, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kinds(examiner, text) == []
    monkeypatch.setattr(oracles, "_SUMS", frozenset())
    assert kinds(examiner, text) in (["wrong"], ["numpy"])


def test_a_sum_without_one_of_its_values_is_wrong(
    examiner: Examiner, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = oracles.exact

    def one_less(device: gm.Device, case: Case, values: list[bytes], **options: bool) -> object:
        return again(device, case, [bytes(4) + values[0][4:]], **options)

    monkeypatch.setattr(oracles, "exact", one_less)
    assert kinds(examiner, "sum(f32(4, 9, 4, 9))") == ["numpy"]


SPECIAL = "gelu_quick(cut(f32(1, 1, 1, 1, fill='special'), [1, 1, 1, 1], [0, 0, 0, 0]))"
"""A small value, of which the CPU backend's table of halves has a neighbour."""


def test_numpy_may_say_that_special_values_are_right(
    examiner: Examiner, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kinds(examiner, SPECIAL) == []
    monkeypatch.setattr(oracles, "exact", lambda *arguments, **options: None)
    assert kinds(examiner, SPECIAL) == ["wrong"]


ROUNDED = "conv_3d_direct(f16(2, 1, 1, 2), f32(4, 1, 4, 2), 3, 3, 3, 0, 0, 1, 2, 2, 1, 2, 1, 1)"
"""The CPU backend rounds the values to halves first, and what is left of their products is small."""


def test_where_numpy_says_so_the_device_is_right(examiner: Examiner, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kinds(examiner, ROUNDED) == []
    monkeypatch.setattr(oracles, "exact", lambda *arguments, **options: None)
    assert kinds(examiner, ROUNDED) == ["wrong"]


def _changes(of: Callable[..., bool]) -> Callable[..., Snapshot]:
    """Opened.again, with another result when it runs in the way that is asked for."""
    again = Opened.again

    def changed(self: Opened, machine: object, unwritten: int | None = None) -> Snapshot:
        snapshot = again(self, machine, unwritten)  # type: ignore[arg-type]
        if not of(self, machine, unwritten):
            return snapshot
        result = snapshot.result.copy()
        result.ravel()[3] += 1
        return replace(snapshot, result=result)

    return changed


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        ("unwritten memory", lambda opened, machine, unwritten: unwritten is not None),
        ("threads", lambda opened, machine, unwritten: gm.open()._native.softmetal_threads() == 3),
        ("order", lambda opened, machine, unwritten: gm.open()._native.softmetal_order() > 1),
        ("fusion", lambda opened, machine, unwritten: bool(machine._settings)),
    ],
)
def test_a_result_that_depends_on_how_it_is_run(
    kind: str, way: Callable[..., bool], examiner: Examiner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Opened, "again", _changes(way))
    assert kinds(examiner, RIGHT) == [kind]


def test_a_source_that_depends_on_how_it_is_run(examiner: Examiner, monkeypatch: pytest.MonkeyPatch) -> None:
    again = Opened.again

    def changed(self: Opened, machine: Machine, unwritten: int | None = None) -> Snapshot:
        snapshot = again(self, machine, unwritten)
        first, second = snapshot.leaves
        return replace(snapshot, leaves=(first, second[:5] + b"\x01" + second[6:]))

    monkeypatch.setattr(Opened, "again", changed)
    (finding,) = examiner.examine(Case.of("add(f32(3), f32(3, fill='zero'))")).findings
    assert finding.problem.endswith("byte 5 of source 1 is 0x01 for 0x00")


def test_a_result_that_is_not_what_the_op_means(examiner: Examiner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracles, "exact", lambda *arguments, **options: np.zeros((1, 1, 5, 64)))
    assert kinds(examiner, RIGHT) == ["numpy"]


def test_threadgroup_memory_beyond_the_device_s(examiner: Examiner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examiner, "threadgroup_memory", 64)
    assert kinds(examiner, RIGHT) == ["threadgroup"]


def test_a_mistake_of_an_oracle_is_told(examiner: Examiner, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr(oracles, "exact", broken)
    (finding,) = examiner.examine(Case.of(RIGHT)).findings
    assert finding.kind == "error"
    assert "numpy: ZeroDivisionError: of ours" in finding.problem


def test_only_some_oracles(device: gm.Device) -> None:
    with Examiner(device, ["no kernel"]) as examiner:
        assert kinds(examiner, "sum(f32(1))") == []
    with Examiner(device, ["numpy", "order"]) as examiner:
        assert kinds(examiner, "sum(f32(0))") == []  # it does not run, so nothing can be asked
    with pytest.raises(ValueError, match="no oracle 'nonsense'; oracles: no kernel, "):
        Examiner(device, ["nonsense"])
    assert len(ORACLES) == 12
