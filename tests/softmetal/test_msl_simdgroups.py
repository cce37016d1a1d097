"""Which simdgroup of a threadgroup comes first: the first one, or the last one, as a dispatch asks."""

import numpy as np
import pytest
from kernel_library import KernelLibrary
from msl_build import build_kernels

IN_ORDER = {"last_first": False}
LAST_FIRST = {"last_first": True}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    return build_kernels("simdgroups", tmp_path_factory.mktemp("kernels"))


def logged(kernels: KernelLibrary, name: str, how: dict[str, bool], **extent) -> list[int]:
    log = np.zeros(1000, np.int32)
    kernels(name, [log], **extent, **how)
    return log[1 : 1 + log[0]].tolist()


@pytest.mark.parametrize("threads", [128, 100])
def test_simdgroups_begin_and_go_on_in_the_order_asked_for(kernels: KernelLibrary, threads: int):
    usual = [0, 1, 2, 3, 100, 102, 103]
    assert logged(kernels, "simdgroups", IN_ORDER, threads=threads) == usual
    assert logged(kernels, "simdgroups", LAST_FIRST, threads=threads) == [3, 2, 1, 0, 103, 102, 100]
    assert logged(kernels, "simdgroups", IN_ORDER, threads=threads) == usual


@pytest.mark.parametrize(("how", "last"), [(IN_ORDER, 31), (LAST_FIRST, 0)])
def test_without_a_barrier_the_order_shows(kernels: KernelLibrary, how: dict[str, bool], last: int):
    dst = np.full(1024, -1, np.int32)
    kernels("last_writer", [dst], threads=1024, threadgroup_bytes=[16], **how)
    np.testing.assert_array_equal(dst, last)


@pytest.mark.parametrize("how", [IN_ORDER, LAST_FIRST])
@pytest.mark.parametrize("threads", [1, 32, 33, 1024])
def test_with_barriers_it_does_not(kernels: KernelLibrary, how: dict[str, bool], threads: int):
    src = np.random.default_rng(17).integers(-5, 6, threads).astype(np.int32)
    dst = np.zeros_like(src)
    kernels("sums", [src, dst], threads=threads, threadgroup_bytes=[128], **how)
    np.testing.assert_array_equal(dst, np.cumsum(src) - src)


@pytest.mark.parametrize("how", [IN_ORDER, LAST_FIRST])
def test_threads_that_never_wait_always_ascend(kernels: KernelLibrary, how: dict[str, bool]):
    assert logged(kernels, "threads", how, threads=100) == list(range(100))
