"""What the runner says of a case: right, wrong, missing, aborting; and that it goes on after each."""

from collections.abc import Iterator

import numpy as np
import pytest

import ggml_metal_py as gm
from ggml_metal_py.check import Case, Outcome, Runner
from ggml_metal_py.check import run as run_checks
from ggml_metal_py.check.findings import apply
from ggml_metal_py.check.reference import Reference


@pytest.fixture(scope="module")
def runner(device: gm.Device) -> Iterator[Runner]:
    with Runner(device) as opened:
        yield opened


def outcome(runner: Runner, text: str) -> Outcome:
    return runner.run(Case.of(text))


RIGHT = "mul_mat(q4_0(64, 5), f32(64, 3))"


def test_a_right_case(runner: Runner) -> None:
    found = outcome(runner, RIGHT)
    assert (found.status, found.problem) == ("ok", "")
    assert found.kernels == ("kernel_mul_mv_q4_0_f32",)
    assert found.error is not None
    assert 0 <= found.error < 1e-6
    assert [node.op for node in found.nodes] == ["MUL_MAT"]


@pytest.mark.parametrize(
    ("text", "factor"), [(RIGHT, 1.01), ("gelu(f32(64, 3))", 1.01), ("add(f32(64), f32(64))", 1.001)]
)
def test_a_tampered_result_is_wrong(
    runner: Runner, monkeypatch: pytest.MonkeyPatch, text: str, factor: float
) -> None:
    assert outcome(runner, text).status == "ok"
    store = Reference.store

    def tampered(self: Reference, values: list[bytes]) -> None:
        store(self, values)
        _, tensor = self.leaves[-1]
        tensor.set(tensor.numpy() * np.float32(factor))

    monkeypatch.setattr(Reference, "store", tampered)
    found = outcome(runner, text)
    assert found.status == "failed"
    assert "wrong" in found.problem


def test_a_write_into_a_source_is_seen(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Reference.store

    def another_leaf(self: Reference, values: list[bytes]) -> None:
        store(self, [*values[:-1], bytes(len(values[-1]))])

    text = "cpy(f32(64, 3), cut(f32(64, 5), [64, 3]))"
    assert outcome(runner, text).status == "ok"
    monkeypatch.setattr(Reference, "store", another_leaf)  # the rest of the target is not what it was
    assert "was written" in outcome(runner, text).problem


def test_the_device_goes_on_after_everything(runner: Runner) -> None:
    for text, status, problem in (
        ("sum(f16(8))", "finding", "no kernel: kernel_op_sum_f16"),
        ("mul_mat(i32(64, 2), f32(64))", "finding", "abort: "),
        ("reglu_split(f32(1, 4), f32(1, 4))", "finding", "device: "),
        ("norm(f32(33, 2), 1e-06)", "finding", "wrong: "),
        ("group_norm(permute(f32(8, 6, 4), 0, 2, 1, 3), 3, 1e-06)", "finding", "abort: "),
        ("out_prod(f32(5, 4), f32(6, 4))", "unsupported", ""),
        ("no_such_function(f32(8))", "absent", ""),
        ("add(f32(8))", "absent", "invalid: add takes 2 arguments"),
        ("add(f32(8, 3), f32(5))", "failed", "invalid: "),
        ("add(f32(8), f32(8, fill='nonsense'))", "failed", "invalid: "),
        ("add(f32(8), f32(8, wide=3))", "failed", "invalid: "),
        ("cut(f32(8), [9])", "failed", "invalid: "),
        ("scale(cut(f32(72, 5), [64, 3], [8, 1]), 2.5)", "failed", "invalid: "),
    ):
        found = outcome(runner, text)
        assert (found.status, found.problem[: len(problem)]) == (status, problem), text
        assert outcome(runner, RIGHT).status == "ok", f"after {text}"


def test_a_finding_that_goes_right_is_a_failure(device: gm.Device, runner: Runner) -> None:
    found = outcome(runner, "norm(f32(33, 2), 1e-06)")
    assert found.finding == "norm-last-simdgroup"
    from dataclasses import replace

    right = apply(device, replace(found, status="ok", problem="", finding=""))
    assert right.status == "failed"
    assert "norm-last-simdgroup" in right.problem
    other = apply(device, replace(found, status="failed", problem="no kernel: x", finding=""))
    assert other.status == "failed"


def test_empty_tensors_are_no_trouble(runner: Runner) -> None:
    assert outcome(runner, "add(f32(0, 3), f32(0, 3))").status == "ok"


def test_a_reference_in_f32_where_the_cpu_backend_does_less(runner: Runner) -> None:
    found = outcome(runner, "mul_mat(q4_0(64, 33), f16(64, 9))")
    assert (found.status, found.wide) == ("ok", True)
    assert not outcome(runner, "add(f32(64), f32(64))").wide


def test_a_wide_reference_is_quantised_as_ops_do(runner: Runner) -> None:
    # They do not look for better scales, as ggml_quantize_chunk does.
    text = "cpy(f32(32, 2), cut(iq4_nl(64, 2, 1, 1), [32, 2, 1, 1], [0, 0, 0, 0]))"
    assert (outcome(runner, text).status, outcome(runner, text).wide) == ("ok", True)


# ---- in all


def test_a_run_of_some_ops() -> None:
    seen: list[tuple[int, int]] = []
    report = run_checks(["sum", "count_equal"], progress=lambda done, total: seen.append((done, total)))
    assert not report.failures
    assert seen[-1] == (len(report.outcomes), len(report.outcomes))
    assert {"kernel_op_sum_f32", "kernel_count_equal_i32", "kernel_memset_i64"} <= set(report.coverage.ran)
    assert set(report.worst()) == {"sum", "count_equal"}
    assert "reduction-types" in report.findings


def test_what_the_encoder_says_ran_did_run(device: gm.Device) -> None:
    # softmetal counts by itself; the report asks upstream's encoder.
    native = device._native
    if not native.has("softmetal_stats_reset"):
        pytest.skip("softmetal's own counters")
    native.softmetal_stats_reset()
    report = run_checks(["flash_attn_ext"])
    name, names = native.ffi.new("char[]", 256), set()
    index = 0
    while native.softmetal_get_pipeline_stats(index, name, 256, native.ffi.NULL, native.ffi.NULL) >= 0:
        names.add(native.text(name).split("{")[0])
        index += 1
    refused = {k for o in report.outcomes if o.problem.startswith("device:") for k in o.kernels}
    assert names - refused == set(report.coverage.ran) | report.coverage.wrong
