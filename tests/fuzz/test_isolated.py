"""Cases that end the process they run in, or never end, are findings; the next ones run."""

import multiprocessing
import os
import time

import pytest

from ggml_metal_py import fuzz
from ggml_metal_py.check import Case
from ggml_metal_py.fuzz import Examiner, Plan
from ggml_metal_py.fuzz.isolated import Isolated, _serve


def serve(pipe: object, plan: Plan) -> None:
    """In a process that dies of one op, and hangs in another."""
    examine = Examiner.examine

    def fragile(self: Examiner, case: Case) -> object:
        if case.op == "neg":
            os.abort()
        if case.op == "abs":
            time.sleep(60)
        return examine(self, case)

    Examiner.examine = fragile  # type: ignore[method-assign, assignment]
    _serve(pipe, plan)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_process_that_dies_or_hangs_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ggml_metal_py.fuzz.isolated._serve", serve)
    with Isolated(Plan(isolate=True), patience=8) as examiner:
        found = [examiner.examine(Case.of(f"{op}(f32(4))")) for op in ("sqr", "neg", "sqr", "abs", "sqr")]
    assert [examined.status for examined in found] == ["ok", "failed", "ok", "failed", "ok"]
    crash, hang = found[1].findings[0], found[3].findings[0]
    assert (crash.kind, crash.problem) == ("crash", "the process died of SIGABRT")
    assert (hang.kind, hang.problem) == ("hang", "no answer within 8 s")


def test_what_cannot_be_opened_is_an_error_here() -> None:
    with Isolated(Plan("nonsense-1.0", isolate=True)) as examiner, pytest.raises(Exception, match="nonsense"):
        examiner.examine(Case.of("sqr(f32(4))"))


def test_no_process_is_left_behind() -> None:
    before = set(multiprocessing.active_children())
    fuzz.run(["sqr"], blocks=2, workers=2, plan=Plan(isolate=True))
    assert set(multiprocessing.active_children()) <= before
