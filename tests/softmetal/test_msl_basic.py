"""What single threads of a kernel compute: arguments, constants, arithmetic, positions."""

import struct

import numpy as np
import pytest
from kernel_library import DispatchError, KernelLibrary
from msl_build import build_kernels


@pytest.fixture(scope="module")
def basic(tmp_path_factory):
    return build_kernels("basic", tmp_path_factory.mktemp("kernels"))


def test_table_lists_kernels_by_name_with_their_arguments(basic: KernelLibrary):
    names = list(basic.kernels)
    assert names == sorted(names)
    assert {"scale", "divide_int", "divide_uint", "divide_short", "positions"} <= set(names)
    scale = basic.kernels["scale"]
    arguments = [
        (scale.args[i].name, scale.args[i].index, scale.args[i].writable) for i in range(scale.n_args)
    ]
    assert arguments == [(b"args", 0, 0), (b"src", 1, 0), (b"dst", 2, 1)]
    assert scale.flags == 0


def test_kernel_reads_its_arguments_and_stays_inside(basic: KernelLibrary):
    src = np.arange(100, dtype=np.float32)
    dst = np.full(128, -1, np.float32)
    basic("scale", [struct.pack("if", 100, 2.5), src, dst], grid=4)
    np.testing.assert_array_equal(dst[:100], src * 2.5)
    np.testing.assert_array_equal(dst[100:], -1)


@pytest.mark.parametrize("grid", [(8, 1, 1), (9, 3, 2), (3, 5, 1)])
def test_parts_of_a_grid_together_are_the_grid(basic: KernelLibrary, grid):
    groups = int(np.prod(grid))
    whole, parts = np.zeros((2, groups, 32, 8), np.uint32)
    basic("positions", [whole], grid=grid)
    dispatch = basic.prepare("positions", [parts], grid=grid)
    for first in range(0, groups, 5):
        assert np.count_nonzero(parts[:, 0, 7]) == first
        basic.run(dispatch, first, min(5, groups - first))
    np.testing.assert_array_equal(parts, whole)


@pytest.mark.parametrize(
    ("grid", "threads"),
    [((1, 1, 1), (1, 1, 1)), ((3, 2, 2), (5, 3, 2)), ((2, 1, 3), (32, 2, 1)), ((9, 3, 2), (2, 1, 1))],
)
def test_positions(basic: KernelLibrary, grid, threads):
    groups, lanes = np.prod(grid), np.prod(threads)
    dst = np.zeros((groups, lanes, 8), np.uint32)
    basic("positions", [dst], grid=grid, threads=threads)
    group, lane = np.indices((groups, lanes))
    x = lane % threads[0]
    y = lane // threads[0] % threads[1]
    z = lane // (threads[0] * threads[1])
    group_x, group_y = group % grid[0], group // grid[0] % grid[1]
    expected = [x, y, z, group_x * threads[0] + x, group_y * threads[1] + y, lane % 32, lane // 32]
    np.testing.assert_array_equal(dst[:, :, :7], np.stack(expected, axis=-1))
    assert (dst[:, :, 7] == (lanes + 31) // 32).all()


def test_function_constants_belong_to_the_dispatch(basic: KernelLibrary):
    given, unset = np.zeros(5, np.float32), np.zeros(5, np.float32)
    one = basic.prepare("constants", [given], threads=1, constants={3: 1.5, 7: True})
    other = basic.prepare("constants", [unset], threads=1)
    basic.run(one)
    basic.run(other)
    np.testing.assert_array_equal(given, [1.5, 2, 1, 1, 1.5])
    np.testing.assert_array_equal(unset, [0, 1, 0, 0, 100])


DIVISIONS = [
    ("divide_int", "i4"),
    ("divide_uint", "u4"),
    ("divide_short", "i2"),
    ("divide_long", "i8"),
    ("divide_waiting_int", "i4"),
    ("divide_waiting_uint", "u4"),
    ("divide_waiting_long", "i8"),
]


@pytest.mark.parametrize(("name", "dtype"), DIVISIONS)
def test_integer_division_never_traps(basic: KernelLibrary, name: str, dtype: str):
    low = np.iinfo(dtype).min
    a = np.array([7, -7 if low else 7, 9, low, low, 5], dtype)
    b = np.array([2, 2, 0, np.array(-1).astype(dtype), 1, 7], dtype)
    quotient, rest = np.zeros(6, dtype), np.zeros(6, dtype)
    basic(name, [a, b, quotient, rest], threads=6)
    good = [0, 1, 4, 5]
    expected = np.trunc(a[good] / b[good]).astype(dtype)
    np.testing.assert_array_equal(quotient[good], expected)
    np.testing.assert_array_equal(rest[good], a[good] - expected * b[good])
    if dtype in ("i4", "i8"):
        assert (quotient[3], rest[3]) == (low, 0)


@pytest.mark.parametrize(("name", "dtype"), DIVISIONS)
def test_integer_division_is_exact(basic: KernelLibrary, name: str, dtype: str):
    limits = np.iinfo(dtype)
    near = [-3, -2, 2, 3, 5, 641, 2**15 - 1, 2**16 + 1, 2**31 - 1, 2**31, 2**32 - 1, 2**53 + 1, 2**62]
    near += [limits.max, limits.max - 1, limits.min + 1]
    values = sorted({value for value in near if limits.min <= value <= limits.max and value})
    pairs = [(a, b) for a in values for b in values]
    a, b = (np.array(side, dtype) for side in zip(*pairs, strict=True))
    quotient, rest = np.zeros_like(a), np.zeros_like(a)
    basic(name, [a, b, quotient, rest], threads=len(pairs))
    expected = [abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x, y in pairs]
    assert quotient.tolist() == expected
    assert rest.tolist() == [x - y * q for (x, y), q in zip(pairs, expected, strict=True)]


def test_vector_division_never_traps(basic: KernelLibrary):
    a = np.array([[9, 8, -(2**31), 6]], np.int32)
    b = np.array([[2, 0, -1, -3]], np.int32)
    quotient = np.zeros_like(a)
    basic("divide_vectors", [a, b, quotient], threads=1)
    np.testing.assert_array_equal(quotient, [[4, 8, -(2**31), -2]])


def test_packed_vectors_convert_to_other_elements(basic: KernelLibrary):
    src = np.array([[1, -2, 127, -128], [0, 3, -5, 7]], np.int8)
    wide, dst = np.zeros((2, 4), np.float32), np.zeros((2, 4), np.int8)
    basic("packed_vectors", [src, wide, dst], threads=2)
    np.testing.assert_array_equal(wide, src.astype(np.float32) / 2)
    np.testing.assert_array_equal(dst, (src.astype(np.int16) + 1).astype(np.int8))


def ulps(found: np.ndarray, exact: np.ndarray) -> float:
    """The largest distance in units of the exact value's last place."""
    return float(
        np.max(np.abs(found.astype(np.float64) - exact) / np.spacing(np.abs(exact.astype(np.float32))))
    )


def test_exp_is_accurate(basic: KernelLibrary):
    x = np.concatenate([np.linspace(-87, 88.7, 60000), np.linspace(-1, 1, 4032)]).astype(np.float32)
    y = np.zeros_like(x)
    basic("exponential", [x, y], grid=len(x) // 32)
    assert ulps(y, np.exp(x.astype(np.float64))) <= 2


def test_exp_at_the_ends_of_the_range(basic: KernelLibrary):
    x = np.array([-np.inf, np.inf, np.nan, 0, 89, -104, -150, 1000, -95], np.float32)
    y = np.zeros_like(x)
    basic("exponential", [x, y], threads=len(x))
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_allclose(y, np.exp(x), rtol=1e-3)


def test_tanh_is_accurate(basic: KernelLibrary):
    x = np.linspace(-10, 10, 32 * 4 * 500).astype(np.float32)
    y = np.zeros_like(x)
    basic("hyperbolic_tangent", [x, y], grid=500)
    assert ulps(y, np.tanh(x.astype(np.float64))) <= 3


def test_of_a_number_and_nan_min_and_max_give_the_number(basic: KernelLibrary):
    a = np.array([1, np.nan, 1, np.nan], np.float32)
    b = np.array([np.nan, 2, 2, np.nan], np.float32)
    dst = np.zeros((4, 2), np.float32)
    basic("nan_rule", [a, b, dst], threads=4)
    np.testing.assert_array_equal(dst, [[1, 1], [2, 2], [1, 2], [np.nan, np.nan]])


def test_literals_are_single_precision(basic: KernelLibrary):
    dst = np.zeros(4, np.float32)
    basic("literals", [dst], threads=1)
    np.testing.assert_array_equal(dst, np.array([1.5, np.float32(1e-3) * 3, 17, 4], np.float32))


def test_bfloat_rounds_to_nearest_even(basic: KernelLibrary):
    bits = np.array([0x3F800000, 0x3F808000, 0x3F818000, 0x3F808001, 0x7FC00000, 0xFF800000], np.uint32)
    dst, total = np.zeros(6, np.uint16), np.zeros(4, np.float32)
    basic("bfloats", [bits.view(np.float32), dst, total], threads=6)
    np.testing.assert_array_equal(dst, [0x3F80, 0x3F80, 0x3F82, 0x3F81, 0x7FC0, 0xFF80])
    np.testing.assert_array_equal(total, 2)


def test_a_wrong_dispatch_is_refused(basic: KernelLibrary):
    dst = np.zeros(5, np.float32)
    with pytest.raises(DispatchError, match="1024"):
        basic("constants", [dst], threads=(1024, 2))
    with pytest.raises(DispatchError, match="threadgroup memory"):
        basic("constants", [dst], threads=1, threadgroup_bytes=[2**20])
    with pytest.raises(DispatchError, match="grid"):
        basic.run(basic.prepare("constants", [dst], grid=2), first=1, count=2)
