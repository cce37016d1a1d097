"""half and bfloat: every operation is rounded once, to nearest even.

half is compared with numpy's float16. bfloat has no such type: `to_bfloat` rounds exact float64 results.
Zeros are compared without their sign in arithmetic, which Metal's default math leaves open.
"""

import numpy as np
import pytest
from kernel_library import KernelLibrary
from msl_build import build_kernels

# Some of the values are signalling NaNs.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered in cast")

ALL = np.arange(65536, dtype=np.uint16)
N_PAIRS = 1 << 18


def to_bfloat(exact: np.ndarray) -> np.ndarray:
    """The float64 values that bfloats nearest to `exact` have: 8 bits, exponents from -126 to 127."""
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(exact)
        unit = np.ldexp(1.0, np.maximum(exponent - 8, -133))
        rounded = np.rint(exact / unit) * unit
        largest = np.ldexp(255.0, 120)
        return np.where(
            np.abs(rounded) > largest, np.copysign(np.inf, exact), np.where(exact == 0, exact, rounded)
        )


def bfloat_values(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def half_values(bits: np.ndarray) -> np.ndarray:
    return bits.view(np.float16).astype(np.float64)


def to_half(exact: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return exact.astype(np.float16).astype(np.float64)


KINDS = {"half": (half_values, to_half), "bfloat": (bfloat_values, to_bfloat)}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    return build_kernels("rounding", tmp_path_factory.mktemp("kernels"))


@pytest.fixture(params=list(KINDS))
def kind(request) -> str:
    return request.param


def operands(kind: str, n: int = 3) -> list[np.ndarray]:
    """Bits: any, any with exponents close to each other, and the ends of the range with each other."""
    rng = np.random.default_rng(8)
    mantissa = 10 if kind == "half" else 7
    any_bits = rng.integers(0, 65536, (n, N_PAIRS), dtype=np.uint16)
    half = N_PAIRS // 2
    close = (any_bits[0, :half] >> mantissa).astype(np.int32) + rng.integers(-12, 13, (n, half))
    close = (close.astype(np.uint16) << mantissa) | (any_bits[:, :half] & ((1 << mantissa) - 1))
    one = (127 if kind == "bfloat" else 15) << mantissa
    largest = (0xFF if kind == "bfloat" else 0x1F) << mantissa
    ends = np.array(
        [0, 1, 2, 3, (1 << mantissa) - 1, 1 << mantissa, one, one + 1, largest - 1, largest, largest + 1]
    )
    ends = np.concatenate([ends, ends | 0x8000]).astype(np.uint16)
    grid = np.stack(np.meshgrid(*[ends] * n, indexing="ij")).reshape(n, -1)
    bits = np.concatenate([any_bits[:, half:], close, grid], axis=1)
    return [np.ascontiguousarray(row) for row in bits[:, : bits.shape[1] // 128 * 128]]


def expect(kind: str, found: np.ndarray, exact: np.ndarray, what: str) -> None:
    """`found` are bits; NaN is any NaN, and zero any zero."""
    values, rounded = KINDS[kind]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(values(found), rounded(exact), err_msg=what)


def number_wins(choose, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(x), y, np.where(np.isnan(y), x, choose(x, y)))


@pytest.mark.parametrize("form", ["arithmetic", "vector_arithmetic"])
def test_every_operation_is_rounded_once(kernels: KernelLibrary, kind: str, form: str):
    a, b, c = operands(kind)
    dst = np.zeros((13, len(a)), np.uint16)
    threads = len(a) if form == "arithmetic" else len(a) // 4
    kernels(f"{form}_{kind}", [a, b, c, dst, np.array([threads], np.uint32)], grid=threads // 32)
    values, rounded = KINDS[kind]
    x, y, z = map(values, (a, b, c))
    with np.errstate(all="ignore"):
        for offset in (0, 4):
            expect(kind, dst[offset + 0], x + y, "sum")
            expect(kind, dst[offset + 1], x - y, "difference")
            expect(kind, dst[offset + 2], x * y, "product")
            expect(kind, dst[offset + 3], x / y, "quotient")
        expect(kind, dst[8], rounded(x * y) + z, "no fused multiply-add")
        expect(kind, dst[9], rounded(x + y) * z, "product of a rounded sum")
        expect(kind, dst[10], number_wins(np.minimum, x, y), "min")
        expect(kind, dst[11], number_wins(np.maximum, x, y), "max")
        low, high = number_wins(np.minimum, y, z), number_wins(np.maximum, y, z)
        expect(kind, dst[12], number_wins(np.minimum, number_wins(np.maximum, x, low), high), "clamp")


def test_comparisons(kernels: KernelLibrary, kind: str):
    a, b = operands(kind, 2)
    b[::7] = a[::7]
    dst = np.zeros(len(a), np.uint8)
    kernels(f"comparisons_{kind}", [a, b, dst], grid=len(a) // 32)
    x, y = map(KINDS[kind][0], (a, b))
    expected = (x < y) | (x > y) << 1 | (x <= y) << 2 | (x >= y) << 3 | (x == y) << 4 | (x != y) << 5
    np.testing.assert_array_equal(dst, expected)


def floats_around(kind: str) -> np.ndarray:
    """Every value, the middle to the next one, and the floats next to the middle; then floats of any kind."""
    with np.errstate(all="ignore"):
        value = KINDS[kind][0](ALL)
        middle = ((value + KINDS[kind][0](ALL + np.uint16(1))) / 2).astype(np.float32)
        near = [np.nextafter(middle, np.float32(to)) for to in (-np.inf, np.inf)]
        bits = np.random.default_rng(9).integers(0, 2**32, 65536, dtype=np.uint32)
        floats = np.concatenate([value.astype(np.float32), middle, *near, bits.view(np.float32)])
    return np.ascontiguousarray(floats)


@pytest.mark.parametrize("form", ["from_floats", "from_float_vectors"])
def test_floats_become_the_nearest(kernels: KernelLibrary, kind: str, form: str):
    src = floats_around(kind)
    dst = np.zeros(len(src), np.uint16)
    kernels(f"{form}_{kind}", [src, dst], grid=len(src) // 32 // (4 if "vectors" in form else 1))
    values, rounded = KINDS[kind]
    expected = rounded(src.astype(np.float64))
    np.testing.assert_array_equal(values(dst), expected)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(values(dst))[number], np.signbit(expected)[number])


def test_integers_become_the_nearest(kernels: KernelLibrary, kind: str):
    rng = np.random.default_rng(10)
    shifted = rng.integers(0, 2**31, 32 * 4096) >> rng.integers(0, 31, 32 * 4096)
    # Just beside the middle between two neighbours, where rounding twice goes wrong.
    middles = (np.arange(257, 511, 2) << np.arange(1, 23)[:, None]).ravel()
    src = np.concatenate([shifted, -shifted, middles, middles + 1, middles - 1]).astype(np.int32)
    src = np.ascontiguousarray(src[: len(src) // 32 * 32])
    unsigned = src.view(np.uint32)
    dst = np.zeros((4, len(src)), np.uint16)
    kernels(f"from_ints_{kind}", [src, unsigned, dst, np.array([len(src)], np.uint32)], grid=len(src) // 32)
    expect(kind, dst[0], src.astype(np.float64), "int")
    expect(kind, dst[1], unsigned.astype(np.float64), "uint")
    expect(kind, dst[2], src.astype(np.int16).astype(np.float64), "short")
    expect(kind, dst[3], (src.astype(np.int64) << 20).astype(np.float64), "long")


def test_conversions_to_other_types(kernels: KernelLibrary, kind: str):
    floats, ints = np.zeros(65536, np.float32), np.zeros(65536, np.int32)
    negated, magnitude = np.zeros((2, 65536), np.uint16)
    kernels(f"to_others_{kind}", [ALL, floats, ints, negated, magnitude], grid=2048)
    x = KINDS[kind][0](ALL)
    np.testing.assert_array_equal(floats, x.astype(np.float32))
    number = ~np.isnan(x)
    np.testing.assert_array_equal(np.signbit(floats[number]), np.signbit(x[number]))
    expected = np.trunc(np.clip(np.nan_to_num(x, nan=0, posinf=2**40, neginf=-(2**40)), -(2**31), 2**31 - 1))
    np.testing.assert_array_equal(ints, expected)
    expect(kind, negated, -x, "negated")
    np.testing.assert_array_equal(magnitude[number], ALL[number] & 0x7FFF)


def test_half_to_bfloat_and_back(kernels: KernelLibrary):
    dst, back = np.zeros((2, 65536), np.uint16)
    kernels("half_to_bfloat", [ALL, dst, back], grid=2048)
    exact = half_values(ALL)
    expect("bfloat", dst, exact, "to bfloat")
    expect("half", back, to_bfloat(exact), "back to half")


def test_functions_of_halves(kernels: KernelLibrary):
    a, b, c = operands("half")
    a[: len(ALL)] = ALL
    dst = np.zeros((7, len(a)), np.uint16)
    kernels("half_functions", [a, b, c, dst, np.array([len(a)], np.uint32)], grid=len(a) // 32)
    x, y, z = map(half_values, (a, b, c))
    with np.errstate(all="ignore"):
        fused = (x.astype(np.longdouble) * y + z).astype(np.float64)
        expect("half", dst[0], fused, "fma")
        expect("half", dst[1], fused, "fma of vectors")
        expect("half", dst[2], np.sqrt(x), "sqrt")
        fraction = np.minimum(to_half(x - np.floor(x)), 1 - 2**-11)
        expect("half", dst[3], fraction, "fract")
        number = ~np.isnan(x) & ~np.isnan(y)
        np.testing.assert_array_equal(dst[4][number], ((a & 0x7FFF) | (b & 0x8000))[number])
        following = np.nextafter(a.view(np.float16), b.view(np.float16)).astype(np.float64)
        expect("half", dst[5], following, "nextafter")
        np.testing.assert_array_equal(dst[6][number], (a & 0x7FFF)[number])


def test_mixed_types_follow_the_usual_arithmetic_conversions(kernels: KernelLibrary):
    h, f = np.zeros(5, np.float16), np.zeros(5, np.float32)
    b, sizes = np.zeros(5, np.uint16), np.zeros(10, np.uint32)
    kernels("mixed", [h, b, f, sizes], threads=1)
    tenth = np.float16(0.1)
    np.testing.assert_array_equal(h, [2.5, 4.5, tenth, tenth, np.float16(1.5) * tenth])
    tenth_b = float(to_bfloat(np.array(0.1)))
    np.testing.assert_array_equal(bfloat_values(b), [2.5, 4.5, tenth_b, tenth_b, -1.5])
    tenth_f = np.float32(0.1)
    expected = [np.float32(1.5) * tenth_f, np.float32(1.5) * tenth_f, tenth_f - np.float32(1.5), 0.5, 0.5]
    np.testing.assert_array_equal(f, np.array(expected, np.float32))
    assert sizes.tolist() == [2, 2, 2, 2, 4, 4, 2, 2, 8, 1]
