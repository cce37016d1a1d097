"""What `./build.sh bench` measures of kernels."""

import json

import pytest

import ggml_metal_py as gm
from benchmarks import checked, kernels
from benchmarks.kernel_cases import Case, cases
from benchmarks.result import KernelResult, as_json


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.name)
def test_every_case_is_an_op_that_the_device_computes(case: Case, context: gm.Context) -> None:
    node = case.node(*case.sources(context))
    assert context.device.supports_op(node)
    assert gm.select.dispatches(node)


@pytest.mark.slow
def test_a_kernel_is_measured_beside_the_cpu_backend() -> None:
    (measured,) = [row for row in kernels.measure("get_rows") if isinstance(row, KernelResult)]
    assert measured.kernels == ("kernel_get_rows_q4_0",)
    assert measured.ratio == pytest.approx(measured.value / measured.cpu)
    (row,) = json.loads(as_json([measured]))["results"]
    assert {"name", "value", "unit", "against", "ratio"} <= row.keys()


@pytest.mark.slow
def test_what_checked_mode_costs_is_measured_beside_plain_mode() -> None:
    (measured,) = checked.measure("get_rows")
    assert measured.name.startswith("get_rows")
    assert measured.against == "plain mode"
    assert measured.ratio is not None
    assert measured.ratio > 1
