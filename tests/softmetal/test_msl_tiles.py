"""Simdgroup matrices."""

import numpy as np
import pytest
from kernel_library import KernelLibrary
from msl_build import build_kernels


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    return build_kernels("tiles", tmp_path_factory.mktemp("kernels"))


@pytest.mark.parametrize("name", ["float", "half", "bfloat"])
def test_matrices_are_loaded_and_stored_with_stride_origin_and_transposed(kernels: KernelLibrary, name: str):
    dtype = {"float": np.float32, "half": np.float16, "bfloat": np.uint16}[name]
    src = np.arange(256).astype(dtype)  # of bfloats, any bits will do
    dst = np.zeros(384, dtype)
    kernels(f"move_{name}", [src, dst], threadgroup_bytes=[256])
    np.testing.assert_array_equal(dst[:64], src[:64])
    rows, columns = np.indices((8, 8))
    np.testing.assert_array_equal(
        dst[64:192][11 + 10 * rows + columns], src[(rows + 2) * 20 + columns + 3]
    )  # fmt: skip
    assert np.count_nonzero(dst[64:192]) == 64
    np.testing.assert_array_equal(dst[192:256].reshape(8, 8), src[rows * 9 + columns].T)
    np.testing.assert_array_equal(dst[256:320].reshape(8, 8), src[:64].reshape(8, 8).T)
    np.testing.assert_array_equal(dst[320:], src[:64][::-1])


@pytest.mark.parametrize(
    ("name", "factor", "result"),
    [
        ("float", np.float32, np.float32),
        ("half", np.float16, np.float16),
        ("mixed", np.float16, np.float32),
    ],
)
def test_products(kernels: KernelLibrary, name: str, factor: type, result: type):
    rng = np.random.default_rng(17)
    a, b = rng.integers(-4, 5, (2, 8, 8)).astype(factor)
    c = rng.integers(-9, 10, (8, 8)).astype(result)
    dst = np.zeros((5, 8, 8), result)
    kernels(f"products_{name}", [a, b, c, dst])
    product = a.astype(np.float64) @ b.astype(np.float64)
    expected = [product + c, 2 * product + c, product, 3 * np.eye(8), np.full((8, 8), 5)]
    np.testing.assert_array_equal(dst, np.array(expected))


def test_elements_of_half_matrices_are_halves(kernels: KernelLibrary):
    """The sum of a row times a column is rounded when it is stored in the matrix."""
    rng = np.random.default_rng(18)
    a, b = rng.standard_normal((2, 8, 8)).astype(np.float16)
    c = np.zeros((8, 8), np.float16)
    dst = np.zeros((5, 8, 8), np.float16)
    kernels("products_half", [a, b, c, dst])
    exact = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_array_equal(dst[0], exact.astype(np.float32).astype(np.float16))
    again = (dst[0].astype(np.float64) + exact).astype(np.float32).astype(np.float16)
    assert np.count_nonzero(dst[1] != again) <= 2  # the order of float additions is open


@pytest.mark.parametrize("simdgroups", [1, 3, 8])
def test_each_simdgroup_has_its_own(kernels: KernelLibrary, simdgroups: int):
    src = np.arange(simdgroups * 64, dtype=np.float32).reshape(simdgroups, 64)
    dst = np.zeros_like(src)
    kernels("several", [src, dst], threads=32 * simdgroups)
    np.testing.assert_array_equal(dst, src * np.arange(1, simdgroups + 1)[:, None])
