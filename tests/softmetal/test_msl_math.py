"""Functions of floats, as accurate as the specification's table asks of precise math, and at their ends."""

import math

import numpy as np
import pytest
from kernel_library import KernelLibrary
from msl_build import build_kernels, build_source

INF, NAN = np.inf, np.nan
SPECIAL = np.array(
    [0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, INF, -INF, NAN, 1e-45, -1e-45, 1e-38, 3e38, -3e38, 1.5, -2.5, 1e7]
)  # fmt: skip


def uniform(low: float, high: float) -> np.ndarray:
    return np.random.default_rng(13).uniform(low, high, 4096)


def any_size(low: float = -37, high: float = 38) -> np.ndarray:
    """Of both signs, of every order of magnitude."""
    x = 10 ** uniform(low, high)
    return np.where(np.arange(len(x)) % 2, x, -x)


def round_half_away(x: np.ndarray) -> np.ndarray:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def fraction(x: np.ndarray) -> np.ndarray:
    return np.minimum((x - np.floor(x)).astype(np.float32), np.float32(1 - 2**-24))


def positive_difference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(x) | np.isnan(y), NAN, np.fmax(x - y, 0))


def sine_pi(x: np.ndarray) -> np.ndarray:
    return np.where(x % 1 == 0, 0, np.sin(np.pi * np.fmod(x, 2)))


def cosine_pi(x: np.ndarray) -> np.ndarray:
    return np.where(x % 1 == 0.5, 0, np.cos(np.pi * np.fmod(x, 2)))


# Reference, the largest error in ulp, arguments. Zeros of sin and the like: see `allowance`.
UNARY = {
    "exp": (np.exp, 2, uniform(-87, 88.7)),
    "exp2": (np.exp2, 4, uniform(-125, 128)),
    "exp10": (lambda x: 10**x, 4, uniform(-37, 38.5)),
    "log": (np.log, 4, np.abs(any_size())),
    "log2": (np.log2, 4, np.abs(any_size())),
    "log10": (np.log10, 4, np.abs(any_size())),
    "sqrt": (np.sqrt, 0.5, np.abs(any_size())),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 2, np.abs(any_size())),
    "sin": (np.sin, 4, any_size(-10, 5)),
    "cos": (np.cos, 4, any_size(-10, 5)),
    "tan": (np.tan, 6, any_size(-10, 5)),
    "sinpi": (sine_pi, 4, any_size(-10, 5)),
    "cospi": (cosine_pi, 4, any_size(-10, 5)),
    "tanpi": (lambda x: sine_pi(x) / cosine_pi(x), 6, any_size(-10, 1.5)),
    "asin": (np.arcsin, 4, uniform(-1, 1)),
    "acos": (np.arccos, 4, uniform(-1, 1)),
    "atan": (np.arctan, 5, any_size()),
    "sinh": (np.sinh, 4, uniform(-88, 88)),
    "cosh": (np.cosh, 4, uniform(-88, 88)),
    "tanh": (np.tanh, 5, uniform(-10, 10)),
    "asinh": (np.arcsinh, 4, any_size()),
    "acosh": (np.arccosh, 4, 1 + np.abs(any_size())),
    "atanh": (np.arctanh, 5, uniform(-1, 1)),
    "fabs": (np.abs, 0, any_size()),
    "floor": (np.floor, 0, any_size(-3, 8)),
    "ceil": (np.ceil, 0, any_size(-3, 8)),
    "round": (round_half_away, 0, np.concatenate([any_size(-3, 6), np.arange(-64, 64) + 0.5])),
    "rint": (np.rint, 0, np.concatenate([any_size(-3, 6), np.arange(-64, 64) + 0.5])),
    "trunc": (np.trunc, 0, any_size(-3, 8)),
    "fract": (fraction, 0, any_size(-12, 6)),
    "sign": (lambda x: np.where(np.isnan(x), 0, np.sign(x)), 0, any_size()),
    "saturate": (lambda x: np.where(np.isnan(x), 0, np.clip(x, 0, 1)), 0, uniform(-2, 2)),
}
BINARY = {
    "pow": (np.power, 16, np.abs(any_size(-4, 4)), uniform(-9, 9)),
    "powr": (np.power, 16, np.abs(any_size(-4, 4)), uniform(-9, 9)),
    "fmod": (np.fmod, 0, any_size(-3, 6), any_size(-3, 3)[::-1]),
    "atan2": (np.arctan2, 6, any_size(-6, 6), any_size(-6, 6)[::-1]),
    "copysign": (np.copysign, 0, any_size(), any_size()[::-1]),
    "fdim": (positive_difference, 0.5, any_size(-5, 5), uniform(-9, 9)),
    "divide": (np.divide, 0.5, any_size(-15, 15), any_size(-15, 15)[::-1]),
    "fmin": (np.fmin, 0, any_size(), any_size()[::-1]),
    "fmax": (np.fmax, 0, any_size(), any_size()[::-1]),
    "step": (lambda edge, x: np.where(x < edge, 0.0, 1.0), 0, uniform(-1, 1), uniform(-1, 1)[::-1]),
    "nextafter": (lambda x, y: np.nextafter(x.astype("f4"), y.astype("f4")), 0, any_size(), any_size()[::-1]),
}  # fmt: skip
# Where the fast variants say nothing, and so does this test.
NOT_AT_SPECIAL = {"powr", "step"}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    return build_kernels("math", tmp_path_factory.mktemp("kernels"))


def floats(*arrays: np.ndarray) -> np.ndarray:
    """As many as whole simdgroups take."""
    x = np.concatenate(arrays).astype(np.float32)
    return np.ascontiguousarray(np.resize(x, -(-len(x) // 32) * 32))


def check(found: np.ndarray, exact: np.ndarray, ulps: float, what: str) -> None:
    with np.errstate(all="ignore"):
        nearest = exact.astype(np.float32)
        finite = np.isfinite(nearest) & np.isfinite(found)
        np.testing.assert_array_equal(found[~finite], nearest[~finite], what)
        # Below the normal numbers the unit is theirs.
        unit = np.maximum(np.spacing(np.abs(nearest)), np.float32(2.0**-149)).astype(np.float64)
        error = np.abs(found.astype(np.float64) - exact)[finite] / unit[finite]
    worst = int(np.argmax(error))
    assert error[worst] <= ulps + 1e-6, f"{what}: {error[worst]} ulp, {found[finite][worst]}"


@pytest.mark.parametrize("name", list(UNARY))
def test_function_of_one_number(kernels: KernelLibrary, name: str):
    reference, ulps, arguments = UNARY[name]
    x = floats(arguments, SPECIAL)
    y, precisely, quickly = np.zeros((3, len(x)), np.float32)
    vectors = np.zeros((len(x), 4), np.float32)
    kernels(f"{name}_of", [x, y, vectors, precisely, quickly], grid=len(x) // 32)
    with np.errstate(all="ignore"):
        exact = reference(x.astype(np.float64))
    check(y, exact, ulps, name)
    for other in (vectors[:, 1], vectors[:, 3], precisely, quickly):
        np.testing.assert_array_equal(other, y)
    np.testing.assert_array_equal(vectors[:, 0], vectors[0, 0])


@pytest.mark.parametrize("name", list(BINARY))
def test_function_of_two_numbers(kernels: KernelLibrary, name: str):
    reference, ulps, a, b = BINARY[name]
    pairs = np.stack(np.meshgrid(SPECIAL, SPECIAL)).reshape(2, -1)
    if name in NOT_AT_SPECIAL:
        pairs = np.zeros((2, 0))
    n = min(len(a), len(b))
    x, y = floats(a[:n], pairs[0]), floats(b[:n], pairs[1])
    z, vectors = np.zeros_like(x), np.zeros((len(x), 4), np.float32)
    kernels(f"{name}_of", [x, y, z, vectors], grid=len(x) // 32)
    with np.errstate(all="ignore"):
        exact = np.asarray(reference(x.astype(np.float64), y.astype(np.float64)), np.float64)
    check(z, exact, ulps, name)
    np.testing.assert_array_equal(vectors[:, 1], z)
    np.testing.assert_array_equal(vectors[:, 3], z)


def test_functions_of_three_numbers(kernels: KernelLibrary):
    x, y, z = (floats(uniform(-3, 3)[i::3][:1344]) for i in range(3))
    dst = np.zeros((11, len(x)), np.float32)
    kernels("ternary", [x, y, z, dst, np.array([len(x)], np.uint32)], grid=len(x) // 32)
    a, b, c = x.astype(np.float64), y.astype(np.float64), z.astype(np.float64)
    for row in (0, 1):
        check(dst[row], a * b + c, 0.5, "fma")
    for row in (2, 3):
        np.testing.assert_allclose(dst[row], a + (b - a) * c, rtol=1e-5, atol=1e-5)
    for row in (4, 5):
        np.testing.assert_array_equal(dst[row], np.clip(x, -1, 2))
    np.testing.assert_array_equal(dst[6], np.clip(x.astype(np.float16), -1, 2))
    t = np.clip((a + 1) / 3, 0, 1)
    for row in (7, 8):
        np.testing.assert_allclose(dst[row], t * t * (3 - 2 * t), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(dst[9], np.maximum(np.maximum(x, y), z))
    np.testing.assert_array_equal(dst[10], np.median([x, y, z], axis=0))


def test_functions_with_two_results(kernels: KernelLibrary):
    x = floats(any_size(-6, 6), [0.0, -0.0, 1, -1, 0.5, 1e-40, 3e38, 3.75])
    dst = np.zeros((11, len(x)), np.float32)
    exponents = np.zeros((3, len(x)), np.int32)
    kernels("two_results", [x, dst, exponents, np.array([len(x)], np.uint32)], grid=len(x) // 32)
    part, whole = np.modf(x)
    mantissa, exponent = np.frexp(x)
    np.testing.assert_array_equal(dst[:4], [part, whole, part, whole])
    np.testing.assert_array_equal(dst[4:6], [mantissa, mantissa])
    np.testing.assert_array_equal(exponents[:2], [exponent, exponent])
    some = x != 0
    np.testing.assert_array_equal(exponents[2][some], exponent[some] - 1)
    np.testing.assert_allclose(dst[6:10:2], [np.sin(x.astype(float))] * 2, atol=1e-6)
    np.testing.assert_allclose(dst[7:10:2], [np.cos(x.astype(float))] * 2, atol=1e-6)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(dst[10], x * 8)


def test_classes_of_numbers(kernels: KernelLibrary):
    x = floats(SPECIAL)
    with np.errstate(over="ignore"):
        h = x.astype(np.float16)
    dst = np.zeros(len(x), np.int32)
    kernels("classes", [x, h, dst], grid=len(x) // 32)
    for i, (a, b) in enumerate(zip(x, h, strict=True)):
        tiny = (np.finfo(np.float32).tiny, np.finfo(np.float16).tiny)
        bits = [
            [math.isnan(v), math.isinf(v), math.isfinite(v), math.copysign(1, v) < 0, t <= abs(v) < math.inf]
            for v, t in zip((a, b), tiny, strict=True)
        ]
        expected = [*bits[0], math.isnan(a), not math.isnan(a), False, *bits[1], False, False, False]
        expected += [math.isnan(a), math.isinf(b)]
        unsigned = 1 << 3 | 1 << 11 if math.isnan(a) else 0  # a NaN's sign is nothing to go by
        word = sum(bit << k for k, bit in enumerate(expected))
        assert dst[i] & ~unsigned == word & ~unsigned, (a, b)


def test_geometry(kernels: KernelLibrary):
    a, b = np.array([1, -2, 2, 0], np.float32), np.array([3, 0, -4, 0], np.float32)
    dst = np.zeros((6, 4), np.float32)
    kernels("geometry", [a, b, dst], threads=1)
    np.testing.assert_array_equal(dst[0], [*np.cross(a[:3], b[:3]), a @ b])
    np.testing.assert_allclose(dst[1], [3, 9, np.sqrt(44), 44], rtol=1e-6)
    np.testing.assert_allclose(dst[2], [1 / 3, -2 / 3, 2 / 3, 5], rtol=1e-6)
    np.testing.assert_array_equal(dst[3], [1, 2, 2, 0])
    incident, normal = a[:3] / 3, np.array([0, -1, 0])
    cosine = normal @ incident
    refracted = 0.5 * incident - (0.5 * cosine + np.sqrt(1 - 0.25 * (1 - cosine**2))) * normal
    np.testing.assert_allclose(dst[4][:3], refracted, atol=1e-6)
    np.testing.assert_array_equal(dst[5][:3], a[:3] if b @ a < 0 else -a[:3])


EXPRESSIONS = """
kernel void k(device const float * x, device float * dst, uint i [[thread_position_in_grid]]) {
    dst[2*i]     = x[0]*x[1] + x[2];
    dst[2*i + 1] = (x[3] + x[4]) - x[3];
}
"""


def test_safe_math_neither_fuses_nor_reorders(tmp_path):
    """The default may do both: Metal's fast math. `a*b + c` is one operation then."""
    safe, fast = (tmp_path / name for name in ("safe", "fast"))
    safe.mkdir()
    fast.mkdir()
    a = np.float32(1 + 2**-12)
    x = np.array([a, a, -1, 2**30, 1], np.float32)
    exact = [float(a) * float(a) - 1, 1]
    dst = np.zeros(2, np.float32)
    build_source("#pragma METAL fp math_mode(safe)\n" + EXPRESSIONS, safe)("k", [x, dst], threads=1)
    np.testing.assert_array_equal(dst, [a * a - np.float32(1), 0])
    build_source(EXPRESSIONS, fast)("k", [x, dst], threads=1)
    assert dst[0] == np.float32(exact[0])
    assert dst[1] in (0, 1)


def test_infinity_and_nan_are_not_optimised_away(tmp_path):
    source = """
    kernel void k(device const float * x, device float * dst) {
        dst[0] = x[0]/x[1];
        dst[1] = x[1]/x[1] == x[1]/x[1];
        dst[2] = max(-INFINITY, x[0]);
        dst[3] = exp(-INFINITY + x[0]);
        dst[4] = x[0] - x[2] == x[0] - x[2];
        dst[5] = isinf(x[2]*2);
    }
    """
    dst = np.zeros(6, np.float32)
    build_source(source, tmp_path)("k", [np.array([1, 0, np.inf], np.float32), dst], threads=1)
    np.testing.assert_array_equal(dst, [np.inf, 0, 1, 0, 1, 1])
