"""What lanes of a simdgroup and simdgroups of a threadgroup do together."""

import numpy as np
import pytest
from kernel_library import KernelLibrary
from msl_build import build_kernels

SM_KERNEL_SYNC = 1


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    return build_kernels("together", tmp_path_factory.mktemp("kernels"))


@pytest.fixture
def rng():
    return np.random.default_rng(2)


def simdgroups(threads: int) -> list[slice]:
    return [slice(i, min(i + 32, threads)) for i in range(0, threads, 32)]


@pytest.mark.parametrize("threads", [32, 20, 64, 100, 1024])
def test_collectives_see_the_lanes_of_their_simdgroup(together: KernelLibrary, rng, threads: int):
    src = rng.integers(-50, 50, threads).astype(np.float32)
    dst = np.zeros((threads, 8), np.float32)
    together("sums", [src, dst], threads=threads)
    assert together.kernels["sums"].flags & SM_KERNEL_SYNC
    for group in simdgroups(threads):
        a = src[group]
        np.testing.assert_array_equal(dst[group, 0], a.sum())
        np.testing.assert_array_equal(dst[group, 1], a.max())
        np.testing.assert_array_equal(dst[group, 2], a.min())
        np.testing.assert_array_equal(dst[group, 3], np.cumsum(a))
        np.testing.assert_array_equal(dst[group, 4], np.cumsum(a) - a)
        lanes = np.arange(len(a))
        np.testing.assert_array_equal(dst[group, 5], a[lanes ^ 1])
        inside = lanes + 3 < len(a)
        np.testing.assert_array_equal(dst[group, 6][inside], a[lanes[inside] + 3])
        np.testing.assert_array_equal(dst[group, 7], a[3])


def test_collectives_of_whole_vectors(together: KernelLibrary, rng):
    src = rng.integers(-50, 50, (32, 4)).astype(np.float32)
    dst = np.zeros_like(src)
    together("sum_of_vectors", [src, dst])
    np.testing.assert_array_equal(dst, np.tile(src.sum(axis=0), (32, 1)))


def test_lanes_at_different_places_do_not_mix(together: KernelLibrary):
    src = np.arange(64, dtype=np.int32)
    dst = np.zeros_like(src)
    together("divergent", [src, dst], threads=64)
    for group in simdgroups(64):
        even, odd = src[group][::2], src[group][1::2]
        np.testing.assert_array_equal(dst[group][::2], even.sum() + 320000)
        np.testing.assert_array_equal(dst[group][1::2], odd.sum() + 1000 + 320000)


@pytest.mark.parametrize("threads", [32, 50, 96])
def test_lanes_that_have_returned_are_not_waited_for(together: KernelLibrary, threads: int):
    src = np.arange(threads, dtype=np.int32)
    dst = np.full(threads, -1, np.int32)
    together("early_return", [src, dst], threads=threads)
    for group in simdgroups(threads):
        a = src[group]
        stay = a % 3 != 1
        np.testing.assert_array_equal(dst[group][stay], a[stay].sum() + stay.sum())
        np.testing.assert_array_equal(dst[group][~stay], -1)


@pytest.mark.parametrize("order", ["first", "last", "any"])
@pytest.mark.parametrize("threads", [32, 45, 64])
def test_lanes_may_leave_at_any_time(together: KernelLibrary, rng, threads: int, order: str):
    leaves_in = {
        "first": np.arange(threads),
        "last": np.arange(threads)[::-1],
        "any": rng.permutation(threads),
    }
    round_of = leaves_in[order].astype(np.int32)
    dst = np.zeros(threads, np.int32)
    together("leave_one_by_one", [round_of, dst], threads=threads)
    expected = np.zeros(threads, np.int32)
    for now in range(threads):
        for group in simdgroups(threads):
            lanes = np.arange(threads)[group]
            left = lanes[round_of[lanes] > now]
            even = left[left % 2 == 0]
            expected[left] += len(left)
            expected[even] += 100 * max(even, default=0)
    np.testing.assert_array_equal(dst, expected)


@pytest.mark.parametrize("threads", [4, 32, 48, 256, 1024])
def test_threadgroup_memory_dynamic_and_static(together: KernelLibrary, threads: int):
    groups = 3
    src = np.arange(groups * threads, dtype=np.int32).reshape(groups, threads)
    dst = np.zeros_like(src)
    together("reverse", [src, dst], grid=groups, threads=threads, threadgroup_bytes=[4 * threads])
    of_four = np.arange(threads) % 4
    first, last = src[:, of_four], src[:, threads - 4 + of_four]
    np.testing.assert_array_equal(dst, src[:, ::-1] + 10000 * first + 20000 * last + threads)
    assert together.kernels["reverse"].static_tg_bytes >= 36


@pytest.mark.parametrize("simds", [1, 3, 4, 32])
def test_reduction_over_simdgroups(together: KernelLibrary, rng, simds: int):
    groups = 5
    src = rng.integers(-9, 9, (groups, 32 * simds)).astype(np.float32)
    dst = np.zeros((groups, 3), np.float32)
    together("total", [src, dst], grid=groups, threads=32 * simds, threadgroup_bytes=[128])
    np.testing.assert_array_equal(dst, np.repeat(src.sum(axis=1)[:, None], 3, axis=1))


def test_simdgroup_matrices(together: KernelLibrary, rng):
    a, b = rng.integers(-4, 4, (2, 8, 8)).astype(np.float16)
    c = np.zeros((8, 8), np.float32)
    together("multiply_matrices", [a, b, c], threadgroup_bytes=[128])
    np.testing.assert_array_equal(c, a.T.astype(np.float32) @ b.astype(np.float32) + 1)
