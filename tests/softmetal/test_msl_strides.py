"""Loops that the threads of a threadgroup share, `for (i = thread; i < n; i += threads)`.

One thread takes all turns where that is the same; where it is not, each takes its own.
"""

import numpy as np
import pytest
from kernel_library import KernelLibrary
from msl_build import KERNELS, build_kernels

from ggml_metal_py.softmetal.msl.preprocess import preprocess
from ggml_metal_py.softmetal.msl.translate import translate
from ggml_metal_py.softmetal.toolchain import find_toolchain

N = 50


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    return build_kernels("strides", tmp_path_factory.mktemp("kernels"))


@pytest.fixture
def src():
    return np.random.default_rng(3).standard_normal(3 * N, dtype=np.float32)


def args(n: int = N, stride: int = 4 * N) -> np.ndarray:
    return np.array([n, stride], np.int32)


def turns(threads: int) -> list[np.ndarray]:
    """The indices that each thread takes."""
    return [np.arange(thread, N, threads) for thread in range(threads)]


def test_which_kernels_share_their_loops(tmp_path):
    source = (KERNELS / "strides.metal").read_text()
    program = translate(preprocess(source, "strides.metal", {}, tmp_path, find_toolchain())).program
    assert {k.host_name for k in program.kernels if k.function.shares_loops} == {"product", "pairs", "choice"}


@pytest.mark.parametrize("threads", [1, 7, 32, 64])
def test_rows(kernels: KernelLibrary, src: np.ndarray, threads: int):
    other, dst = src[::-1].copy(), np.zeros_like(src)
    kernels("product", [args(), src, other, dst], grid=3, threads=threads)
    np.testing.assert_allclose(dst, src / (1 + np.exp(-src)) * other, rtol=1e-5)


def test_rows_in_place(kernels: KernelLibrary, src: np.ndarray):
    expected = src / (1 + np.exp(-src)) * src
    kernels("product", [args(), src, src, src], grid=3, threads=32)
    np.testing.assert_allclose(src, expected, rtol=1e-5)


@pytest.mark.parametrize("threads", [1, 5, 64])
def test_pairs(kernels: KernelLibrary, src: np.ndarray, threads: int):
    dst = np.zeros(5 * N, np.float32)
    kernels("pairs", [args(), src, dst], grid=5, threads=threads)
    sums = src.reshape(-1, 2).sum(1)
    np.testing.assert_allclose(dst[: 3 * N], np.stack([sums, -sums], 1).ravel(), rtol=1e-5, atol=1e-6)
    assert not dst[3 * N :].any()


@pytest.mark.parametrize("twice", [False, True])
def test_a_choice_of_loops(kernels: KernelLibrary, src: np.ndarray, twice: bool):
    dst = np.zeros_like(src)
    kernels("choice", [args(stride=N), src, dst], threads=8, constants={0: np.bool_(twice)})
    expected = 2 * src[:N] if twice else np.where(np.arange(N) % 3, src[:N], 0)
    np.testing.assert_array_equal(dst[:N], expected)
    assert not dst[N:].any()


def test_atomics_count_each_turn_once(kernels: KernelLibrary):
    dst = np.zeros(1, np.int32)
    kernels("count_up", [dst, args()], threads=32)
    assert dst[0] == np.arange(N).sum()


def test_a_second_dimension_of_threads_takes_the_turns_again(kernels: KernelLibrary):
    dst = np.zeros(1, np.int32)
    kernels("count_up", [dst, args()], threads=(16, 2))
    assert dst[0] == 2 * np.arange(N).sum()


@pytest.mark.parametrize(
    "name",
    ["last_of_thread", "member_of_thread", "element_of_thread", "reference_of_thread", "address_of_thread"],
)
def test_what_a_turn_leaves_to_the_next_stays_with_its_thread(
    kernels: KernelLibrary, src: np.ndarray, name: str
):
    dst, expected = np.zeros(N, np.float32), np.zeros(N, np.float32)
    kernels(name, [args(), src, dst], threads=8)
    for own in turns(8):
        expected[own[1:]] = src[own[:-1]]
    np.testing.assert_array_equal(dst, expected)


@pytest.mark.parametrize("name", ["pointer_of_thread", "group_of_thread"])
def test_each_thread_counts_its_own_turns(kernels: KernelLibrary, src: np.ndarray, name: str):
    dst = np.zeros(N, np.float32)
    kernels(name, [args(), src, dst], threads=8)
    np.testing.assert_array_equal(dst, src[np.arange(N) // 8])


def test_each_thread_has_its_sum(kernels: KernelLibrary, src: np.ndarray):
    dst = np.zeros(8, np.float32)
    kernels("sum_of_thread", [args(), src, dst], threads=8)
    np.testing.assert_allclose(dst, [src[own].sum() for own in turns(8)], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("name", "added"), [("turns_of_thread", 8), ("grid_of_thread", 16)])
def test_the_number_of_threads_is_what_was_dispatched(
    kernels: KernelLibrary, src: np.ndarray, name: str, added: int
):
    dst = np.zeros(N, np.float32)
    kernels(name, [args(), src, dst], grid=2, threads=8)
    np.testing.assert_array_equal(dst, src[:N] + np.float32(added))


def test_turns_that_overlap(kernels: KernelLibrary, src: np.ndarray):
    dst = np.zeros(N, np.float32)
    kernels("other_factor", [args(), src, dst], threads=4)
    np.testing.assert_array_equal(dst, np.where(np.arange(N) % 2, 0, src[:N]))


def test_each_thread_does_what_stands_before_the_loop(kernels: KernelLibrary):
    dst = np.zeros(1, np.int32)
    kernels("all_threads", [dst, args()], threads=32)
    assert dst[0] == 32


def test_each_thread_leaves_the_loop_for_itself(kernels: KernelLibrary, src: np.ndarray):
    dst = np.zeros(N, np.float32)
    kernels("first_turn", [args(), src, dst], threads=8)
    np.testing.assert_array_equal(dst, np.where(np.arange(N) < 8, src[:N], 0))
