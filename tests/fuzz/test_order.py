"""The order of threadgroups and simdgroups, and what threadgroups find in their memory: kernels of ours whose
results depend on it, and some whose do not."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import numpy as np
import pytest

import ggml_metal_py as gm
from ggml_metal_py.check import Case
from ggml_metal_py.check.run import Snapshot
from ggml_metal_py.fuzz import Examiner
from ggml_metal_py.fuzz.oracles import Oracle, Trial, is_the_same_in_any_order, reads_what_was_written

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

// A barrier is missing: of several simdgroups the last one to write wins.
kernel void race(device int * dst [[buffer(0)]], uint group [[threadgroup_position_in_grid]],
        ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup int winner[1];
    winner[0] = simdgroup;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    dst[group] = winner[0];
}

// Right: each simdgroup has a place of its own.
kernel void reduce(device int * dst [[buffer(0)]], uint group [[threadgroup_position_in_grid]],
        uint thread_ [[thread_position_in_threadgroup]], ushort simdgroup [[simdgroup_index_in_threadgroup]],
        ushort simdgroups [[simdgroups_per_threadgroup]]) {
    threadgroup int sums[32];
    sums[simdgroup] = simd_sum(int(thread_));
    threadgroup_barrier(mem_flags::mem_threadgroup);
    int sum = group;
    for (int i = 0; i < simdgroups; ++i) {
        sum += sums[i];
    }
    dst[group] = sum;
}

// The last of 32 values was never written.
kernel void unwritten(device int * dst [[buffer(0)]], uint group [[threadgroup_position_in_grid]],
        uint thread_ [[thread_position_in_threadgroup]]) {
    threadgroup int values[32];
    if (thread_ < 31) {
        values[thread_] = 5;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    dst[group] = values[31];
}
"""
GROUPS = 40
LAST_FIRST = "with threadgroups and simdgroups from last to first"

Says = Callable[..., str]


class Dispatched:
    """A kernel of ours that was dispatched, in the place of a graph that was run."""

    def __init__(
        self, device: gm.Device, pipeline: gm.Pipeline, dst: gm.Tensor, groups: int, threads: int
    ) -> None:
        self._device, self._pipeline, self._dst, self._extent = device, pipeline, dst, (groups, threads)
        dispatch = SimpleNamespace(threadgroups=(groups, 1, 1), threads_per_threadgroup=(threads, 1, 1))
        self.outcome = SimpleNamespace(case=Case.of("sum(f32(1))"), dispatches=(dispatch,))

    def again(self, machine: object = None, unwritten: int | None = None) -> Snapshot:
        self._dst.set(np.zeros(GROUPS, np.int32))
        with self._device.encoder() as encoder:
            encoder.set_pipeline(self._pipeline)
            encoder.set_buffer(self._dst, 0)
            encoder.dispatch_threadgroups(*self._extent)
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
    """What an oracle says of a kernel in so many threadgroups of so many threads."""
    dst = context.from_numpy(np.zeros(GROUPS, np.int32))
    backend.alloc(context)

    def says(
        kernel: str, groups: int = GROUPS, threads: int = 1, oracle: Oracle = is_the_same_in_any_order
    ) -> str:
        opened = Dispatched(device, library.compile_pipeline(kernel), dst, groups, threads)
        trial = Trial(examiner, opened)  # type: ignore[arg-type]
        opened.first = trial.again()
        return oracle(trial)

    return says


@pytest.mark.parametrize(
    ("kernel", "problem"),
    [
        ("chain", f"{LAST_FIRST}: 39 of 40 values differ, the first is 1 for 2 at 1"),
        ("overlap", f"{LAST_FIRST}: 20 of 40 values differ, the first is 0 for 1"),
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


@pytest.mark.parametrize(
    ("groups", "problem"),
    [
        (
            GROUPS,
            f"{LAST_FIRST}: 40 of 40 values differ, the first is 0 for 3",
        ),
        (1, "with simdgroups from last to first: 1 of 40 values differ, the first is 0 for 3 at 0"),
    ],
)
def test_a_kernel_that_depends_on_which_simdgroup_comes_first_is_found(
    groups: int, problem: str, oracle: Says
) -> None:
    assert oracle("race", groups, threads=100).startswith(problem)


@pytest.mark.parametrize("groups", [GROUPS, 1])
def test_one_simdgroup_has_no_order(groups: int, oracle: Says) -> None:
    assert oracle("race", groups, threads=32) == ""


@pytest.mark.parametrize("groups", [GROUPS, 1])
def test_a_kernel_with_its_barriers_is_right(groups: int, oracle: Says) -> None:
    assert oracle("reduce", groups, threads=100) == ""


@pytest.mark.parametrize("groups", [GROUPS, 1])
def test_a_kernel_that_reads_threadgroup_memory_that_nobody_wrote_is_found(groups: int, oracle: Says) -> None:
    for _ in range(2):  # what is left there by then is what it found
        problem = oracle("unwritten", groups, 100, reads_what_was_written)
        assert f"{groups} of 40 values differ, the first is {0x4B4B4B4B} for -1 at 0" in problem


def test_a_kernel_that_reads_what_it_wrote_is_right(oracle: Says) -> None:
    assert oracle("reduce", GROUPS, 100, reads_what_was_written) == ""


def test_nothing_is_filled_afterwards(oracle: Says, device: gm.Device) -> None:
    assert oracle("unwritten", GROUPS, 100, reads_what_was_written) != ""
    assert device._native.softmetal_threadgroup_fill() == -1


def test_the_order_is_the_usual_one_afterwards(oracle: Says, device: gm.Device) -> None:
    assert oracle("chain") != ""
    assert device._native.softmetal_order() == 0
