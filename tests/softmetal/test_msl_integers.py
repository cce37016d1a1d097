"""Integers of every width. The expectations are Python's own integers, of any length."""

import numpy as np
import pytest
from kernel_library import KernelLibrary
from msl_build import build_kernels

TYPES = {
    "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16,
    "int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64,
}  # fmt: skip


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    return build_kernels("integers", tmp_path_factory.mktemp("kernels"))


class Integer:
    """The arithmetic of one integer type, on Python's integers."""

    def __init__(self, name: str):
        self.dtype = np.dtype(TYPES[name])
        self.low, self.high = int(np.iinfo(self.dtype).min), int(np.iinfo(self.dtype).max)
        self.bits = 8 * self.dtype.itemsize

    def wrap(self, x: int) -> int:
        x &= (1 << self.bits) - 1
        return x - (1 << self.bits) if x > self.high else x

    def unsigned(self, x: int) -> int:
        return x & ((1 << self.bits) - 1)

    def clip(self, x: int) -> int:
        return min(max(x, self.low), self.high)

    def operands(self, n: int, count: int = 2048) -> list[np.ndarray]:
        """Ends of the range with each other, small numbers, and any."""
        rng = np.random.default_rng(11)
        ends = [
            self.low,
            self.low + 1,
            self.low // 2,
            0,
            1,
            2,
            3,
            5,
            self.high // 2,
            self.high - 1,
            self.high,
        ]
        ends += [-1, -2, -7] if self.low else []
        some = rng.choice(np.array(ends, self.dtype), (n, count // 2))
        any_bits = rng.integers(self.low, self.high, (n, count // 2), dtype=self.dtype, endpoint=True)
        any_bits >>= rng.integers(0, self.bits, any_bits.shape).astype(self.dtype)
        return [np.ascontiguousarray(row) for row in np.concatenate([some, any_bits], axis=1)]

    def run(self, kernels: KernelLibrary, name: str, inputs: list[np.ndarray], rows: int) -> np.ndarray:
        dst = np.zeros((rows, len(inputs[0])), self.dtype)
        size = np.array([len(inputs[0])], np.uint32)
        kernels(name, [*inputs, dst, size], grid=len(inputs[0]) // 32)
        return dst

    def check(self, found: np.ndarray, expected: list[int], what: str) -> None:
        np.testing.assert_array_equal(found, np.array([self.wrap(x) for x in expected], self.dtype), what)


@pytest.fixture(params=list(TYPES))
def name(request) -> str:
    return request.param


def quotient(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def test_arithmetic_wraps(kernels: KernelLibrary, name: str):
    t = Integer(name)
    a, b = t.operands(2)
    dst = t.run(kernels, f"arithmetic_{name}", [a, b], 10)
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    overflow_is_defined = t.low == 0 or t.bits < 32  # of int and long, MSL says nothing

    def check(row: int, expected: list[int], what: str) -> None:
        fits = [overflow_is_defined or t.low <= x <= t.high for x in expected]
        t.check(dst[row][fits], [x for x, ok in zip(expected, fits, strict=True) if ok], what)

    check(0, [x + y for x, y in pairs], "sum")
    check(1, [x - y for x, y in pairs], "difference")
    check(2, [x * y for x, y in pairs], "product")
    t.check(dst[3], [x & y for x, y in pairs], "and")
    t.check(dst[4], [x | y for x, y in pairs], "or")
    t.check(dst[5], [x ^ y for x, y in pairs], "xor")
    t.check(dst[6], [~x for x, _ in pairs], "not")
    t.check(dst[7], [min(x, y) for x, y in pairs], "min")
    t.check(dst[8], [max(x, y) for x, y in pairs], "max")
    t.check(dst[9], [quotient(x, y) if y else x for x, y in pairs], "quotient")


def test_a_shift_takes_its_count_modulo_the_width(kernels: KernelLibrary, name: str):
    t = Integer(name)
    (a,) = t.operands(1)
    counts = np.arange(len(a)) % 150 - (20 if t.low else 0)
    b = np.clip(counts, t.low, t.high).astype(t.dtype)
    dst = t.run(kernels, f"shifts_{name}", [a, b], 8)
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    promoted = max(t.bits, 32)
    for row, bits in ((0, promoted), (2, promoted), (4, t.bits), (6, t.bits)):
        t.check(dst[row], [x << y % bits for x, y in pairs], f"left, row {row}")
        t.check(dst[row + 1], [x >> y % bits for x, y in pairs], f"right, row {row + 1}")


def test_functions(kernels: KernelLibrary, name: str):
    t = Integer(name)
    a, b, c = t.operands(3)
    dst = t.run(kernels, f"functions_{name}", [a, b, c], 25)
    triples = list(zip(a.tolist(), b.tolist(), c.tolist(), strict=True))
    u, w = t.unsigned, t.bits

    def rotate(x: int, n: int) -> int:
        n = u(n) % w
        return u(x) << n | u(x) >> (w - n)

    def extract(x: int, offset: int, bits: int) -> int:
        field = u(x) >> offset & ((1 << bits) - 1)
        negative = bits and t.low and field >> (bits - 1)
        return field - (1 << bits) if negative else field

    def insert(x: int, y: int, offset: int, bits: int) -> int:
        mask = ((1 << bits) - 1) << offset
        return (u(x) & ~mask) | (u(y) << offset & mask)

    clz = {x: w - u(x).bit_length() for x, _, _ in triples}
    ctz = {x: (u(x) & -u(x)).bit_length() - 1 if x else w for x, _, _ in triples}
    expected = {
        "abs": [abs(x) for x, y, z in triples],
        "absdiff": [abs(x - y) for x, y, z in triples],
        "addsat": [t.clip(x + y) for x, y, z in triples],
        "subsat": [t.clip(x - y) for x, y, z in triples],
        "hadd": [(x + y) >> 1 for x, y, z in triples],
        "rhadd": [(x + y + 1) >> 1 for x, y, z in triples],
        "mulhi": [x * y >> w for x, y, z in triples],
        "rotate": [rotate(x, y) for x, y, z in triples],
        "popcount": [u(x).bit_count() for x, y, z in triples],
        "clz": [clz[x] for x, y, z in triples],
        "ctz": [ctz[x] for x, y, z in triples],
        "reverse_bits": [int(f"{u(x):0{w}b}"[::-1], 2) for x, y, z in triples],
        "madhi": [(x * y >> w) + z for x, y, z in triples],
        "madsat": [t.clip(x * y + z) for x, y, z in triples],
        "clamp": [min(max(x, min(y, z)), max(y, z)) for x, y, z in triples],
        "extract_bits": [extract(x, 3, 4) for x, y, z in triples],
        "extract_bits, all": [x for x, y, z in triples],
        "insert_bits": [insert(x, y, 2, 5) for x, y, z in triples],
        "insert_bits, all": [y for x, y, z in triples],
        "extract_bits, none": [0 for x, y, z in triples],
    }
    expected["vectors 1"] = [
        abs(x) + abs(x - y) + t.clip(x + y) + t.clip(x - y) for x, y, z in triples
    ]  # fmt: skip
    expected["vectors 2"] = [
        ((x + y) >> 1) + rotate(x, y) + u(x).bit_count() + clz[x] for x, y, z in triples
    ]  # fmt: skip
    expected["vectors 3"] = [
        (x * y >> w) + extract(x, 1, 6) + insert(x, y, 1, 6) for x, y, z in triples
    ]  # fmt: skip
    expected["min3"] = [min(each) for each in triples]
    expected["median3"] = [sorted(each)[1] for each in triples]
    for row, (what, values) in enumerate(expected.items()):
        if row in (20, 21, 22) and t.low and w >= 32:
            continue  # the sums overflow
        t.check(dst[row], values, what)


def test_twenty_four_bit_products(kernels: KernelLibrary):
    rng = np.random.default_rng(12)
    a, b = rng.integers(-(2**15), 2**15, (2, 64)).astype(np.int32)
    dst = np.zeros((2, 64), np.int32)
    kernels("twenty_four_bits", [a, b, dst, np.array([64], np.uint32)], grid=2)
    np.testing.assert_array_equal(dst, [a * b, a * b + 1000])


def test_small_integers_are_promoted_to_int(kernels: KernelLibrary):
    a = np.array([-128, -1, 0, 100, 127], np.int8)
    b = np.array([255, 200, 1, 200, 255], np.uint8)
    dst = np.zeros((5, 8), np.int32)
    kernels("promotions", [a, b, dst], threads=5)
    wide_a, wide_b = a.astype(np.int32), b.astype(np.int32)
    np.testing.assert_array_equal(dst[:, 0], wide_a + wide_b)
    np.testing.assert_array_equal(dst[:, 1], wide_a * wide_b)
    np.testing.assert_array_equal(dst[:, 2], wide_a - wide_b)
    np.testing.assert_array_equal(dst[:, 3], wide_a < wide_b)
    np.testing.assert_array_equal(dst[:, 4], (2 * wide_a).astype(np.int8))
    np.testing.assert_array_equal(dst[:, 5], (3 * wide_b).astype(np.uint8))
    np.testing.assert_array_equal(dst[:, 6], -wide_b)
    np.testing.assert_array_equal(dst[:, 7], 441)


@pytest.mark.parametrize("source", ["float", "half", "bfloat"])
def test_numbers_that_do_not_fit_become_the_nearest_integer(kernels: KernelLibrary, name: str, source: str):
    t = Integer(name)
    near = [float(edge) + step for edge in (t.low, t.high) for step in (-300, -1.5, -0.5, 0, 0.5, 1.5, 300)]
    numbers = [0.0, -0.0, 0.99, -0.99, 2.5, -2.5, 1e3, -1e3, 1e10, -1e10, 3e38, -3e38, *near]
    src = np.resize(np.array([*numbers, np.inf, -np.inf, np.nan], np.float32), 64)
    with np.errstate(over="ignore"):
        stored = src.astype(np.float16) if source == "half" else src
    if source == "bfloat":
        stored = (src.view(np.uint32) >> 16).astype(np.uint16)  # cut off
        src = (stored.astype(np.uint32) << 16).view(np.float32)
    elif source == "half":
        src = stored.astype(np.float32)
    dst = t.run(kernels, f"from_{source}_{name}", [stored], 3)
    limit = 2**70
    expected = [t.clip(int(np.nan_to_num(x, nan=0, posinf=limit, neginf=-limit))) for x in src.astype(float)]
    for row in dst:
        t.check(row, expected, source)
