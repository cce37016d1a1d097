"""Simdgroup functions: every type, every way in which lanes can be missing.

Expectations are written out lane by lane. Lanes are together where a GPU has them together: those that took
one branch, then those that took the other, and all of them behind it and at a loop's next turn.
"""

import re

import numpy as np
import pytest
from kernel_library import KernelLibrary
from msl_build import KERNELS, build_kernels

from ggml_metal_py.softmetal.msl.preprocess import preprocess
from ggml_metal_py.softmetal.msl.translate import translate
from ggml_metal_py.softmetal.toolchain import find_toolchain

SIZES = [1, 31, 32, 33, 40, 1000]
INTEGERS = {
    "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16,
    "int": np.int32, "uint": np.uint32, "long": np.int64,
}  # fmt: skip
SCALARS = {**INTEGERS, "half": np.float16, "float": np.float32}
SHAPES = {
    **{name: (dtype, 1) for name, dtype in SCALARS.items()},
    "half4": (np.float16, 4),
    "float2": (np.float32, 2),
    "float4": (np.float32, 4),
    "char4": (np.int8, 4),
    "int2": (np.int32, 2),
}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    return build_kernels("collectives", tmp_path_factory.mktemp("kernels"))


@pytest.fixture(params=SIZES)
def threads(request) -> int:
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(14)


def simdgroups(threads: int) -> list[np.ndarray]:
    """The numbers of the lanes of each."""
    return [np.arange(i, min(i + 32, threads)) for i in range(0, threads, 32)]


def run(kernels: KernelLibrary, name: str, src: np.ndarray) -> np.ndarray:
    dst = np.zeros_like(src)
    kernels(name, [src, dst], threads=len(src))
    return dst


def run_rows(kernels: KernelLibrary, name: str, src: np.ndarray, rows: int, threads: int) -> np.ndarray:
    dst = np.zeros((rows, *src.shape), src.dtype)
    kernels(name, [src, dst, np.array([threads], np.uint32)], threads=threads)
    return dst


@pytest.mark.parametrize("kind", list(SHAPES))
def test_reductions(kernels: KernelLibrary, rng, kind: str, threads: int):
    dtype, elements = SHAPES[kind]
    low = -2 if np.dtype(dtype).kind != "u" else 0
    # Small enough that no order of adding rounds; products of -1, 0, 1 and now and then a 2.
    src = rng.integers(low, 3, (threads, elements)).astype(dtype)
    src[rng.random(src.shape) < 0.8] = 1
    dst = run_rows(kernels, f"reductions_{kind}", src, 8, threads)
    for lanes in simdgroups(threads):
        a = src[lanes]
        zero, one = np.zeros((1, elements), dtype), np.ones((1, elements), dtype)
        np.testing.assert_array_equal(dst[0, lanes], np.tile(a.sum(axis=0, dtype=dtype), (len(a), 1)))
        np.testing.assert_array_equal(dst[1, lanes], np.tile(a.prod(axis=0, dtype=dtype), (len(a), 1)))
        np.testing.assert_array_equal(dst[2, lanes], np.tile(a.min(axis=0), (len(a), 1)))
        np.testing.assert_array_equal(dst[3, lanes], np.tile(a.max(axis=0), (len(a), 1)))
        sums, products = a.cumsum(axis=0, dtype=dtype), a.cumprod(axis=0, dtype=dtype)
        np.testing.assert_array_equal(dst[4, lanes], sums)
        np.testing.assert_array_equal(dst[5, lanes], np.concatenate([zero, sums[:-1]]))
        np.testing.assert_array_equal(dst[6, lanes], products)
        np.testing.assert_array_equal(dst[7, lanes], np.concatenate([one, products[:-1]]))


@pytest.mark.parametrize("kind", list(SHAPES))
def test_shuffles_take_from_lanes_that_are_there_and_else_keep(
    kernels: KernelLibrary, rng, kind: str, threads: int
):
    dtype, elements = SHAPES[kind]
    src = rng.integers(0, 100, (threads, elements)).astype(dtype)
    dst = run_rows(kernels, f"shuffles_{kind}", src, 10, threads)
    following = np.roll(src, -1, axis=0)
    for lanes in simdgroups(threads):
        a, fill, lane = src[lanes], following[lanes], np.arange(len(lanes))

        def taken(source: np.ndarray, of=a, lane=lane) -> np.ndarray:
            there = (source >= 0) & (source < len(lane))
            return of[np.where(there, source, lane)]

        np.testing.assert_array_equal(dst[0, lanes], taken((7 * lane + 3) % 32))
        np.testing.assert_array_equal(dst[1, lanes], taken(lane ^ 5))
        np.testing.assert_array_equal(dst[2, lanes], taken(lane + 3))
        np.testing.assert_array_equal(dst[3, lanes], taken(lane - 3))
        np.testing.assert_array_equal(dst[4, lanes], taken((lane + 9) % 32))
        np.testing.assert_array_equal(dst[5, lanes], taken((lane - 9) % 32))
        np.testing.assert_array_equal(dst[6, lanes], taken(np.full_like(lane, 11)))
        np.testing.assert_array_equal(dst[7, lanes], np.tile(a[:1], (len(a), 1)))
        down = np.where((lane + 2 < 32)[:, None], taken((lane + 2) % 32), taken((lane + 2) % 32, fill))
        np.testing.assert_array_equal(dst[8, lanes], down)
        source = lane // 8 * 8 + (lane - 3) % 8
        up = np.where((lane % 8 >= 3)[:, None], taken(source), taken(source, fill))
        np.testing.assert_array_equal(dst[9, lanes], up)


@pytest.mark.parametrize("kind", list(INTEGERS))
def test_bitwise_reductions(kernels: KernelLibrary, rng, kind: str, threads: int):
    info = np.iinfo(INTEGERS[kind])
    src = rng.integers(info.min, info.max, (threads, 1), dtype=INTEGERS[kind], endpoint=True)
    dst = run_rows(kernels, f"bitwise_{kind}", src, 3, threads)
    for lanes in simdgroups(threads):
        for row, combine in enumerate((np.bitwise_and, np.bitwise_or, np.bitwise_xor)):
            assert (dst[row, lanes] == combine.reduce(src[lanes])).all()


def test_bfloats_are_summed_and_shuffled(kernels: KernelLibrary):
    values = np.arange(-16, 16, dtype=np.float32)
    src = (values.view(np.uint32) >> 16).astype(np.uint16)
    dst = run_rows(kernels, "reductions_bfloat", src, 8, 32)
    found = (dst.astype(np.uint32) << 16).view(np.float32)
    np.testing.assert_array_equal(found[0], -16)
    np.testing.assert_array_equal(found[2:4, 0], [-16, 15])
    np.testing.assert_array_equal(
        run_rows(kernels, "shuffles_bfloat", src, 10, 32)[1], src[np.arange(32) ^ 5]
    )


@pytest.mark.parametrize("threads", [32, 20])
def test_a_number_wins_over_nan(kernels: KernelLibrary, threads: int):
    src = np.full(threads, np.nan, np.float32)
    dst = np.zeros((threads, 4), np.float32)
    kernels("nan_and_infinity", [src, dst], threads=threads)
    assert np.isnan(dst).all()
    src[[3, 9, 17]] = [-np.inf, 2, -5]
    kernels("nan_and_infinity", [src, dst], threads=threads)
    np.testing.assert_array_equal(dst, np.tile([2, -np.inf, 2, 2], (threads, 1)))


@pytest.mark.parametrize("here", [0xFFFFFFFF, 0x80000000, 0xFFFFFFFE, 0x00FF0FF0, 0x55555554, 0x00010001])
@pytest.mark.parametrize("threads", [32, 50, 17])
def test_lanes_that_returned_have_no_part(kernels: KernelLibrary, rng, here: int, threads: int):
    src = rng.integers(-9, 10, threads).astype(np.int32)
    src[::5] = 0
    dst = np.full((threads, 8), 77, np.uint32)
    kernels("votes", [np.array([here], np.uint32), src, dst], threads=threads)
    for group in simdgroups(threads):
        stay = np.array([i for i in group if here >> i % 32 & 1], int)
        for i in set(group) - set(stay):
            assert (dst[i] == 77).all()
        if len(stay) == 0:
            continue
        positive = src[stay] > 0
        ballot = sum(1 << int(i) % 32 for i in stay[positive])
        active = sum(1 << int(i) % 32 for i in stay)
        for i in stay:
            partner = i ^ 1 if (i ^ 1) in stay else i
            expected = [ballot, positive.all(), positive.any(), active, i == stay[0], src[stay[0]]]
            expected += [src[stay].sum(), src[partner]]
            np.testing.assert_array_equal(dst[i], np.array(expected, np.int64).astype(np.uint32))


def total(values: np.ndarray, here: np.ndarray) -> np.ndarray:
    """simd_sum for each lane of `here`, 0 for others."""
    return np.where(here, np.where(here, values, 0).sum(), 0)


def each_group(src: np.ndarray, expected) -> np.ndarray:
    """What `expected(lane numbers, values)` gives for each simdgroup."""
    return np.concatenate([expected(lanes, src[lanes]) for lanes in simdgroups(len(src))])


@pytest.fixture
def src(rng, threads: int) -> np.ndarray:
    return rng.integers(0, 9, threads).astype(np.int32)


def test_nested_branches(kernels: KernelLibrary, src: np.ndarray):
    def expected(i: np.ndarray, x: np.ndarray) -> np.ndarray:
        one = np.ones_like(x)
        fourth, second, eighth = i % 4 == 0, i % 4 == 2, i % 8 == 2
        third = (i % 2 == 1) & (i % 3 == 0)
        r = total(x, fourth) + 1000 * total(one, second)
        r += np.where(eighth, x[eighth].max(initial=0), 0) + 10000 * total(one, i % 2 == 0)
        r += np.where(third, x[third].min(initial=99), 0)
        return r + 1000000 * len(i)

    np.testing.assert_array_equal(run(kernels, "nested", src), each_group(src, expected))


def test_loops_with_different_numbers_of_turns(kernels: KernelLibrary, src: np.ndarray):
    trips = src % 4

    def expected(i: np.ndarray, x: np.ndarray) -> np.ndarray:
        r = np.zeros_like(x)
        for k in range(4):
            r = np.where(k < x, 100 * r + (k < x).sum(), r)
        return (r + len(i) * 1000000).astype(np.int32)

    np.testing.assert_array_equal(run(kernels, "different_trips", trips), each_group(trips, expected))


def test_a_branch_in_a_loop_ends_before_the_next_turn(kernels: KernelLibrary, src: np.ndarray):
    def expected(i: np.ndarray, x: np.ndarray) -> np.ndarray:
        return 3 * len(i) + sum(100 * total(x, (i + k) % 2 == 0) for k in range(3))

    np.testing.assert_array_equal(run(kernels, "branch_in_loop", src), each_group(src, expected))


def test_a_place_is_come_to_again_after_a_branch(kernels: KernelLibrary, src: np.ndarray):
    def expected(i: np.ndarray, x: np.ndarray) -> np.ndarray:
        even, third = i % 2 == 0, i % 3 == 0
        r = np.where(even, 1000 * x[even].max(initial=0), 0) + 3 * x.sum()
        return r + np.where(third, 100000 * x[third].min(initial=99), 0)

    np.testing.assert_array_equal(run(kernels, "branch_then_loop", src), each_group(src, expected))


def test_lanes_that_continue_wait_for_the_others(kernels: KernelLibrary, src: np.ndarray):
    def expected(i: np.ndarray, x: np.ndarray) -> np.ndarray:
        r = np.zeros_like(x) + 4 * len(i) + 20000 * len(i)
        for k in range(1, 5):
            r += 100 * total(np.ones_like(x), x % (k + 1) != 0)
        for m in range(2):
            r += 1000000 * total(np.ones_like(x), x % 3 != m)
        return r

    np.testing.assert_array_equal(run(kernels, "continue_in_loop", src), each_group(src, expected))


def test_an_inner_loop_ends_before_the_outer_ones_next_turn(kernels: KernelLibrary, src: np.ndarray):
    trips = src % 5

    def expected(i: np.ndarray, x: np.ndarray) -> np.ndarray:
        r = np.zeros_like(x) + 20000 * len(i)
        for k in range(2):
            for m in range(5):
                r += total(np.ones_like(x), m < x - k)
        return r

    np.testing.assert_array_equal(run(kernels, "inner_loop", trips), each_group(trips, expected))


def test_lanes_that_break_wait_behind_the_loop(kernels: KernelLibrary, src: np.ndarray):
    trips = src + 2

    def expected(i: np.ndarray, x: np.ndarray) -> np.ndarray:
        r = np.zeros_like(x)
        for k in range(8):
            r += total(np.ones_like(x), k < x)
        return r + 1000 * len(i)

    np.testing.assert_array_equal(run(kernels, "break_in_loop", trips), each_group(trips, expected))


def test_a_function_called_on_two_ways_is_run_for_each_alone(kernels: KernelLibrary, src: np.ndarray):
    def expected(i: np.ndarray, x: np.ndarray) -> np.ndarray:
        even = i % 2 == 0
        return total(x, even) + total(x, ~even) + np.where(even, 0, 1000)

    np.testing.assert_array_equal(run(kernels, "function_on_two_paths", src), each_group(src, expected))


def test_a_function_behind_a_branch_is_run_for_all_together(kernels: KernelLibrary, src: np.ndarray):
    def expected(i: np.ndarray, x: np.ndarray) -> np.ndarray:
        return 1000 * total(np.ones_like(x), i % 2 == 0) + len(i)

    np.testing.assert_array_equal(run(kernels, "function_after_branch", src), each_group(src, expected))


def test_lanes_that_return_early_from_a_function_wait_before_the_next_call(
    kernels: KernelLibrary, src: np.ndarray
):
    src = src - 4

    def expected(i: np.ndarray, x: np.ndarray) -> np.ndarray:
        return total(x, x > 0) + total(x, x < 0) + 100000 * len(i)

    np.testing.assert_array_equal(run(kernels, "function_with_early_return", src), each_group(src, expected))


def test_functions_in_branches_of_a_loop(kernels: KernelLibrary, src: np.ndarray):
    trips = src % 6

    def expected(i: np.ndarray, x: np.ndarray) -> np.ndarray:
        r = np.zeros_like(x) + 100 * sum(range(5)) * len(i)
        return r + sum(total(np.ones_like(x), k < x) for k in range(5))

    np.testing.assert_array_equal(run(kernels, "function_in_loop", trips), each_group(trips, expected))


def test_a_template_with_two_types_on_two_ways(kernels: KernelLibrary, src: np.ndarray):
    def expected(i: np.ndarray, x: np.ndarray) -> np.ndarray:
        even = i % 2 == 0
        return np.where(even, (-x[even]).max(initial=-99), x[~even].max(initial=-99))

    np.testing.assert_array_equal(run(kernels, "template_on_two_paths", src), each_group(src, expected))


def test_cases_of_a_switch(kernels: KernelLibrary, src: np.ndarray):
    def expected(i: np.ndarray, x: np.ndarray) -> np.ndarray:
        one, case = np.ones_like(x), x % 3
        r = total(one, case == 0) + 100 * total(one, case == 1) + 10000 * total(one, case != 0)
        return r + 1000000 * len(i)

    np.testing.assert_array_equal(run(kernels, "cases", src), each_group(src, expected))


def test_operators_that_choose(kernels: KernelLibrary, src: np.ndarray):
    src = src + 45

    def expected(i: np.ndarray, x: np.ndarray) -> np.ndarray:
        even = i % 2 == 0
        r = total(x, even) + total(x, ~even) + np.where(even, 0, 1000)
        return r + np.where(even & (x[even] < 50).all(), 10000, 0) + 100000 * len(i)

    np.testing.assert_array_equal(run(kernels, "choices", src), each_group(src, expected))


def test_many_calls_on_one_line(kernels: KernelLibrary, src: np.ndarray):
    def expected(i: np.ndarray, x: np.ndarray) -> np.ndarray:
        even, third = i % 2 == 0, i % 3 == 0
        r = total(x, even) + total(x, ~even) + np.where(even, 0, 1000)
        one = np.ones_like(x)
        return r + 10000 * (total(one, third) + 100 * total(one, ~third))

    np.testing.assert_array_equal(run(kernels, "on_one_line", src), each_group(src, expected))


def test_whole_simdgroups_may_go_different_ways(kernels: KernelLibrary, src: np.ndarray):
    def expected(i: np.ndarray, x: np.ndarray) -> np.ndarray:
        group = i[0] // 32
        return np.full_like(x, (x.sum() if group % 2 == 0 else 0) + 100000 * group * len(i))

    np.testing.assert_array_equal(run(kernels, "uniform_branch", src), each_group(src, expected))


@pytest.mark.parametrize("most", [1, 2, 1000, 2**30])
def test_barriers_in_a_loop_that_ends_when_data_says_so(kernels: KernelLibrary, rng, threads: int, most: int):
    src = rng.integers(0, most, threads, endpoint=True).astype(np.int32)
    src[-1] = most
    dst = np.zeros_like(src)
    kernels("halving", [src, dst], threads=threads, threadgroup_bytes=[128])
    np.testing.assert_array_equal(dst, most.bit_length() - 1)


def test_places_to_wait_at_are_put_only_where_lanes_may_have_parted():
    source = KERNELS / "collectives.metal"
    preprocessed = preprocess(source.read_text(), source.name, {}, source.parent, find_toolchain())
    text = translate(preprocessed).text
    bodies = re.split(r"static (?:void|int|T) (\w+)\(", text)
    places = {
        name: body.count("softmetal::converge(")
        for name, body in zip(bodies[1::2], bodies[2::2], strict=True)
        if "softmetal::converge(" in body
    }
    assert places == {
        "different_trips": 1,
        "branch_in_loop": 1,
        "branch_then_loop": 1,
        "continue_in_loop": 2,
        "inner_loop": 2,
        "break_in_loop": 1,
        "function_on_two_paths": 2,
        "function_after_branch": 1,
        "function_with_early_return": 3,
        "function_in_loop": 3,
        "template_on_two_paths": 2,
    }
