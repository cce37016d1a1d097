"""The order of threadgroups: kernels of ours whose results depend on it, and some whose do not."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import numpy as np
import pytest

import ggml_metal_py as gm
from ggml_metal_py.check import Case
from ggml_metal_py.check.run import Snapshot
from ggml_metal_py.fuzz import Examiner
from ggml_metal_py.fuzz.oracles import Trial, is_the_same_in_any_order

SOURCE = """
#include <metal_stdlib>
using namespace metal;

// What the one before wrote: right only if that has run.
kernel void chain(device int * dst [[buffer(0)]], uint group [[threadgroup_position_in_grid]]) {
    dst[group] = group == 0 ? 1 : dst[group - 1] + 1;
}

// Two write to the same place: the later one wins.
kernel void overlap(device int * dst [[buffer(0)]], uint group [[threadgroup_position_in_grid]]) {
    dst[group / 2] = group;
}

// One of two values is there, from first to last as well as from last to first.
kernel void between(device int * dst [[buffer(0)]], uint group [[threadgroup_position_in_grid]]) {
    dst[group] = group < 15 || group >= 25 ? 7 : dst[group - 15] + dst[group + 15];
}

kernel void apart(device int * dst [[buffer(0)]], uint group [[threadgroup_position_in_grid]]) {
    dst[group] = group * group;
}

kernel void sum(device atomic_int * dst [[buffer(0)]], uint group [[threadgroup_position_in_grid]]) {
    atomic_fetch_add_explicit(dst, group, memory_order_relaxed);
}
"""
GROUPS = 40

Says = Callable[..., str]


class Dispatched:
    """A kernel of ours that was dispatched, in the place of a graph that was run."""

    def __init__(self, device: gm.Device, pipeline: gm.Pipeline, dst: gm.Tensor, groups: int) -> None:
        self._device, self._pipeline, self._dst, self._groups = device, pipeline, dst, groups
        dispatch = SimpleNamespace(threadgroups=(groups, 1, 1))
        self.outcome = SimpleNamespace(case=Case.of("sum(f32(1))"), dispatches=(dispatch,))
        self.first = self.again()

    def again(self, machine: object = None, unwritten: int | None = None) -> Snapshot:
        self._dst.set(np.zeros(GROUPS, np.int32))
        with self._device.encoder() as encoder:
            encoder.set_pipeline(self._pipeline)
            encoder.set_buffer(self._dst, 0)
            encoder.dispatch_threadgroups(self._groups, 1)
        return Snapshot(self._dst.numpy(), ())


@pytest.fixture(scope="module")
def library(device: gm.Device) -> Iterator[gm.Library]:
    with gm.Library.from_source(device, SOURCE) as made:
        yield made


@pytest.fixture
def _one_thread(device: gm.Device) -> Iterator[None]:
    device._native.softmetal_set_threads(1)
    yield
    device._native.softmetal_set_threads(0)


@pytest.fixture
def oracle(
    _one_thread: None,
    device: gm.Device,
    examiner: Examiner,
    library: gm.Library,
    backend: gm.Backend,
    context: gm.Context,
) -> Says:
    """What the oracle says of a kernel in so many threadgroups."""
    dst = context.from_numpy(np.zeros(GROUPS, np.int32))
    backend.alloc(context)

    def says(kernel: str, groups: int = GROUPS) -> str:
        opened = Dispatched(device, library.compile_pipeline(kernel), dst, groups)
        return is_the_same_in_any_order(Trial(examiner, opened))  # type: ignore[arg-type]

    return says


@pytest.mark.parametrize(
    ("kernel", "problem"),
    [
        ("chain", "with threadgroups from last to first: 39 of 40 values differ, the first is 1 for 2 at 1"),
        (
            "overlap",
            "with threadgroups from last to first: 20 of 40 values differ, the first is 0 for 1",
        ),
        ("between", "with threadgroups shuffled: "),
    ],
)
def test_a_kernel_that_depends_on_the_order_is_found(kernel: str, problem: str, oracle: Says) -> None:
    assert oracle(kernel).startswith(problem)


@pytest.mark.parametrize("kernel", ["apart", "sum"])
def test_a_kernel_that_does_not_is_right(kernel: str, oracle: Says) -> None:
    assert oracle(kernel) == ""


def test_one_threadgroup_has_no_order(oracle: Says) -> None:
    assert oracle("chain", groups=1) == ""


def test_the_order_is_the_usual_one_afterwards(oracle: Says, device: gm.Device) -> None:
    assert oracle("chain") != ""
    assert device._native.softmetal_order() == 0
