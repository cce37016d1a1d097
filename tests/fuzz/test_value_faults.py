"""Value faults: each kernel of ours that computes something else is found by an oracle, at its element.

The kernels, `kernels/*.metal`, stand in for upstream's of the same name and are dispatched by upstream's own
code. What is right and what the fault makes of it is computed here once more, by numpy.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import Phase, given, seed, settings

import ggml_metal_py as gm
from ggml_metal_py.check import Case
from ggml_metal_py.check.expression import Leaf, nodes
from ggml_metal_py.check.values import bytes_of, random_for
from ggml_metal_py.fuzz import Examiner, Finding, strategies

from . import stand_in

Array = npt.NDArray[Any]

_DTYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "i64": np.int64}
_ELEMENT = re.compile(r"(\S+) for (\S+) at (\d+)")
_FAULTS: list["Fault"] = []


@dataclass(frozen=True)
class Fault:
    """A kernel, a case that runs it, and the result: `result(broken, *leaves)`."""

    kernel: str
    case: str
    kind: str
    result: Callable[..., Array]

    def __str__(self) -> str:
        return self.kernel


def _fault(kernel: str, case: str, kind: str = "wrong") -> Callable[[Callable[..., Array]], None]:
    return lambda result: _FAULTS.append(Fault(kernel, case, kind, result))


# ---- constants


@_fault("kernel_geglu_f32", "geglu(f32(66, 5))", "numpy")  # the CPU backend's own is too coarse to tell
def geglu(broken: bool, a: Array) -> Array:
    x, gate = np.split(a.astype(float), 2, -1)
    cubed = (0.04715 if broken else 0.044715) * x**3
    return gate * 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + cubed)))


@_fault("kernel_argmax_f32", "argmax(f32(9, 4, low=-2.0, high=-1.0))")
def largest(broken: bool, a: Array) -> Array:
    return a[:, 0] if broken else a.max(-1)  # the oracle compares the values that are pointed at


@_fault("kernel_timestep_embedding_f32", "timestep_embedding(f32(3, low=0.0, high=90.0), 17, 10000)")
def timesteps(broken: bool, a: Array) -> Array:
    angles = np.outer(a, 10000.0 ** (-np.arange(8) / (8 - broken)))
    return np.hstack([np.cos(angles), np.sin(angles), np.zeros((3, 1))])


@_fault("kernel_l2_norm_f32_f32", "l2_norm(f32(33, 3), 20.0)")
def l2_norm(broken: bool, a: Array) -> Array:
    length = np.linalg.norm(a, axis=-1, keepdims=True)
    return a / np.maximum(length, 1e-12 if broken else 20)


@_fault("kernel_arange_f32", "arange(-2.0, 7.0, 0.25)")
def arange(broken: bool) -> Array:
    return -2 + 0.25 * (np.arange(36) + broken)


# ---- strides and lengths


@_fault("kernel_repeat_f32", "repeat(f32(5, 3, 2), f32(10, 6, 4))")
def repeat(broken: bool, a: Array, like: Array) -> Array:
    if broken:
        a = np.stack([a[0], a.ravel()[5:20].reshape(3, 5)])
    return np.tile(a, (2, 2, 2))


@_fault("kernel_concat", "concat(f32(7, 4, 2), cut(f32(9, 4, 2), [3]), 0)")
def concat(broken: bool, a: Array, b: Array) -> Array:
    return np.concatenate([a, b[..., 3:6] if broken else b[..., :3]], -1)


@_fault("kernel_upscale_nearest_f32", "interpolate(f32(5, 4, 2), 15, 8, 2, 1, 0)")
def upscale(broken: bool, a: Array) -> Array:
    rows = np.arange(8) // (3 if broken else 2)
    return a[:, rows][:, :, np.arange(15) // 3]


@_fault("kernel_roll_f32", "roll(f32(9, 5, 2), 3, 0, 0, 0)")
def roll(broken: bool, a: Array) -> Array:
    return a[..., (np.arange(9) - 3) % (5 if broken else 9)]


@_fault("kernel_add_id", "add_id(f32(6, 2, 3), f32(6, 4), i32(2, 3, high=4))")
def add_id(broken: bool, a: Array, b: Array, ids: Array) -> Array:
    return a + b[np.indices(ids.shape)[1] if broken else ids]


@_fault("kernel_pool_2d_avg_f32", "pool_2d(f32(9, 6, 2), 'avg', 3, 2, 2, 1, 1.0, 0.0)")
def averages(broken: bool, a: Array) -> Array:
    v, u = np.indices((6, 9))
    images = np.pad(a.reshape(2, -1)[:, v * (6 if broken else 9) + u], ((0, 0), (0, 0), (1, 1)))
    return np.lib.stride_tricks.sliding_window_view(images, (2, 3), (1, 2))[:, :, ::2].mean((-1, -2))


# ---- types and conversions


@_fault("kernel_sum_rows_f32_f32", "sum_rows(f32(333, 4))")
def sums(broken: bool, a: Array) -> Array:
    total = np.zeros(4, np.float16 if broken else float)
    for column in a.T:
        total = (total + column).astype(total.dtype)
    return total


@_fault("kernel_cpy_f32_f16", "cpy(f32(33, 3), f16(33, 3))")
def to_halves(broken: bool, a: Array, to: Array) -> Array:
    halves = a.astype(np.float16)
    too_large = broken & (abs(halves.astype(float)) > abs(a))
    return np.where(too_large, np.nextafter(halves, np.float16(0)), halves)


@_fault("kernel_cpy_f32_i32", "cpy(f32(33, 3, low=-50.0, high=50.0), i32(33, 3))")
def to_whole_numbers(broken: bool, a: Array, to: Array) -> Array:
    return (np.rint(a) if broken else np.trunc(a)).astype(np.int32)


@_fault("kernel_cpy_i32_f32", "cpy(i32(33, 3), f32(33, 3))")
def to_floats(broken: bool, a: Array, to: Array) -> Array:
    return a.view(np.float32) if broken else a.astype(np.float32)


@_fault("kernel_get_rows_f32", "get_rows(f32(3, 70000), i32(9, low=65000, high=70000))")
def get_rows(broken: bool, a: Array, rows: Array) -> Array:
    return a[rows % 65536 if broken else rows]


@_fault("kernel_set_rows_f32_i64", "set_rows(f32(6, 9), f32(6, 4), i64(4, fill='distinct', high=9))")
def set_rows(broken: bool, a: Array, b: Array, rows: Array) -> Array:
    a = a.copy()
    a[rows.view(np.int32)[:4] if broken else rows] = b
    return a


# ---- are they found?


def leaves(device: gm.Device, text: str) -> list[Array]:
    """What the sources of a case hold."""
    found = [node for node in nodes(Case.of(text).tree) if isinstance(node, Leaf)]
    data = [bytes_of(device._native, leaf, random_for(text, i)) for i, leaf in enumerate(found)]
    return [
        np.frombuffer(values, _DTYPES[leaf.type]).reshape(leaf.ne[::-1])
        for leaf, values in zip(found, data, strict=True)
    ]


@pytest.fixture(scope="module")
def right(device: gm.Device, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Examiner]:
    folder: Path = tmp_path_factory.mktemp("right")
    with stand_in.opened(device, folder, faults=False) as own, Examiner(own) as examiner:
        yield examiner


@pytest.fixture(scope="module")
def broken(device: gm.Device, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Examiner]:
    folder: Path = tmp_path_factory.mktemp("broken")
    with stand_in.opened(device, folder, faults=True) as own, Examiner(own) as examiner:
        yield examiner


@pytest.mark.parametrize("fault", _FAULTS, ids=str)
def test_a_fault_is_found_with_kernel_and_element(fault: Fault, broken: Examiner) -> None:
    (finding,) = broken.examine(Case.of(fault.case)).findings
    assert (finding.kind, finding.kernel, finding.known) == (fault.kind, fault.kernel, "")
    said = _ELEMENT.search(finding.problem)
    assert said, finding.problem
    got, wanted, at = float(said[1]), float(said[2]), int(said[3])
    values = leaves(broken.device, fault.case)
    expected, faulty = (fault.result(is_broken, *values).ravel() for is_broken in (False, True))
    assert wanted == pytest.approx(expected[at], rel=1e-5, abs=1e-5)
    assert got == pytest.approx(faulty[at], rel=1e-5, abs=1e-5)
    assert got != wanted


@pytest.mark.parametrize("fault", _FAULTS, ids=str)
def test_without_its_fault_a_kernel_is_right(fault: Fault, right: Examiner) -> None:
    examined = right.examine(Case.of(fault.case))
    assert (examined.status, examined.findings) == ("ok", ())
    assert fault.kernel in {base for base, _ in examined.pipelines}


def test_each_kernel_has_one_fault_and_a_case() -> None:
    found: list[str] = []
    for path in stand_in.KERNELS.glob("*.metal"):
        for kernel in re.split(r"^kernel void ", path.read_text(), flags=re.MULTILINE)[1:]:
            assert kernel.count("FAULT(") == 1, kernel
            found.append(kernel.partition("(")[0])
    assert sorted(found) == sorted(fault.kernel for fault in _FAULTS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("op", "kernel"),
    [
        ("geglu", "kernel_geglu_f32"),
        ("argmax", "kernel_argmax_f32"),
        ("timestep_embedding", "kernel_timestep_embedding_f32"),
        ("arange", "kernel_arange_f32"),
        ("repeat", "kernel_repeat_f32"),
        ("concat", "kernel_concat"),
        ("interpolate", "kernel_upscale_nearest_f32"),
        ("roll", "kernel_roll_f32"),
        ("add_id", "kernel_add_id"),
        ("pool_2d", "kernel_pool_2d_avg_f32"),
        ("sum_rows", "kernel_sum_rows_f32_f32"),
        ("l2_norm", "kernel_l2_norm_f32_f32"),
    ],
)
def test_strategies_draw_cases_that_show_a_fault(
    op: str, kernel: str, right: Examiner, broken: Examiner
) -> None:
    findings: list[Finding] = []

    @seed(1)
    @settings(max_examples=60, deadline=None, database=None, phases=[Phase.generate])
    @given(strategies.cases(op))
    def examine(case: Case) -> None:
        assert not [finding for finding in right.examine(case).findings if not finding.known]
        findings.extend(finding for finding in broken.examine(case).findings if not finding.known)

    examine()
    assert {finding.kernel for finding in findings} == {kernel}
    assert all(_ELEMENT.search(finding.problem) for finding in findings)
