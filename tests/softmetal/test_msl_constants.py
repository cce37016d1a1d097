"""Function constants: values of every type, unset ones, and constants computed from them."""

from collections.abc import Mapping

import numpy as np
import pytest
from kernel_library import KernelLibrary
from msl_build import build_kernels, build_source

from ggml_metal_py.softmetal.msl.errors import MslError

INDICES = [*range(10), 410]
# MTLDataType
DATA_TYPES = {
    "bool": 53, "char": 45, "uchar": 49, "short": 37, "ushort": 41, "int32_t": 29, "uint": 33, "half": 16,
    "float": 3, "long": 81, "int": 29,
}  # fmt: skip


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    return build_kernels("constants", tmp_path_factory.mktemp("kernels"))


def run(
    kernels: KernelLibrary, name: str, dtype: type, constants: Mapping[int, int | float | bool]
) -> np.ndarray:
    dst = np.zeros(11, dtype)
    kernels(name, [dst], threads=1, constants=constants)
    return dst


def test_the_table_lists_constants_by_index_with_their_type(kernels: KernelLibrary):
    listed = [kernels.table.constants[i] for i in range(kernels.table.n_constants)]
    assert [constant.index for constant in listed] == INDICES
    assert [constant.type for constant in listed] == list(DATA_TYPES.values())


def test_values_of_every_type(kernels: KernelLibrary):
    half = int(np.float16(-0.5).view(np.uint16))
    given = {
        0: True,
        1: -7,
        2: 200,
        3: -30000,
        4: 60000,
        5: -(2**30),
        6: 2**31,
        7: half,
        8: 1.25,
        9: -(2**40),
    }
    dst = run(kernels, "values", np.float32, {**given, 410: 12})
    expected = [1, -7, 200, -30000, 60000, -(2**30), 2**31, -0.5, 1.25, -(2**40), 12]
    np.testing.assert_array_equal(dst, expected)


def test_unset_constants_are_zero(kernels: KernelLibrary):
    np.testing.assert_array_equal(run(kernels, "values", np.float32, {}), np.zeros(11))


@pytest.mark.parametrize("index", INDICES)
def test_which_constants_are_defined_is_known(kernels: KernelLibrary, index: int):
    dst = run(kernels, "defined", np.int32, {index: 0})
    assert dst.tolist() == [int(each == index) for each in INDICES]


@pytest.mark.parametrize("given", [{}, {5: 50}, {5: 101, 0: True, 8: 1.5}, {2: 6, 3: 6, 4: 2}, {4: 1, 5: -3}])
def test_constants_computed_from_others(kernels: KernelLibrary, given: dict):
    dst = run(kernels, "computed_5", np.float32, given)
    value = given.get(5, 0)
    seven = given.get(5, 7)
    table = [10, 20, 30, 40]
    expected = [2 * value, 5 in given, seven, 5 in given and seven > 100]
    expected += [2 * given[8] if given.get(0) else -1, 5 + value, table[given.get(2, 0) % 4]]
    expected += [sum(table[k % 4] for k in range(given.get(3, 0))), {1: 100, 2: 200}.get(given.get(4), 300)]
    np.testing.assert_array_equal(dst[:9], expected)


@pytest.mark.parametrize("value", [True, False])
def test_a_constant_may_decide_where_lanes_wait(kernels: KernelLibrary, value: bool):
    dst = np.zeros(48, np.int32)
    kernels("steered", [dst], threads=48, threadgroup_bytes=[192], constants={0: value})
    i = np.arange(48)
    expected = i[::-1] if value else np.where(i < 32, i[:32].sum(), i[32:].sum())
    np.testing.assert_array_equal(dst, expected)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("constant float3 c [[function_constant(1)]];", "no float3 constants"),
        ("constant int c [[function_constant(70000)]];", "0 to 65535"),
        (
            "constant int c [[function_constant(1)]];\nconstant int d[2] = { c, c };",
            "constant T name = value",
        ),
    ],
)
def test_what_constants_cannot_be(tmp_path, source: str, message: str):
    with pytest.raises(MslError, match=message):
        build_source(source + "\nkernel void k(device float * dst) { dst[0] = 1; }\n", tmp_path)
