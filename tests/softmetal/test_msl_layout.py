"""Where values lie in memory, as the specification says, and how vectors and matrices are put together."""

import math

import numpy as np
import pytest
from kernel_library import KernelLibrary
from msl_build import build_kernels, build_source

from ggml_metal_py.softmetal.msl.errors import MslError

SCALARS = {
    "bool": 1, "char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4,
    "long": 8, "ulong": 8, "half": 2, "bfloat": 2, "float": 4,
}  # fmt: skip


def vector(element: int, n: int) -> tuple[int, int]:
    """Size and alignment: three elements take the room of four."""
    return (element * (4 if n == 3 else n),) * 2


TYPES = {
    **{
        f"{name}{n if n > 1 else ''}": vector(size, n) for name, size in SCALARS.items() for n in (1, 2, 3, 4)
    },
    **{
        f"packed_{name}{n}": (size * n, size)
        for name, size in SCALARS.items()
        if name != "bool"
        for n in (2, 3, 4)
    },
    **{
        f"{name}{columns}x{rows}": (
            columns * vector(SCALARS[name], rows)[0],
            vector(SCALARS[name], rows)[1],
        )
        for name in ("half", "float")
        for columns in (2, 3, 4)
        for rows in (2, 3, 4)
    },
}

MIXED = {
    "a": "float", "b": "float4", "c": "char", "d": "half3", "e": "packed_float3", "f": "char2", "g": "float3",
    "h": "float", "i": "float3x3", "j": "bool", "k": "long", "l": "bfloat4", "m": "uchar",
}  # fmt: skip


def layout(members: dict[str, str]) -> tuple[dict[str, int], int, int]:
    """Offsets, size and alignment of a struct, by C's rules."""
    offsets, end, alignment = {}, 0, 1
    for name, kind in members.items():
        size, align = TYPES[kind]
        offsets[name] = math.ceil(end / align) * align
        end = offsets[name] + size
        alignment = max(alignment, align)
    return offsets, math.ceil(end / alignment) * alignment, alignment


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    return build_kernels("layout", tmp_path_factory.mktemp("kernels"))


def test_size_and_alignment_of_every_type(kernels: KernelLibrary):
    dst = np.zeros((len(TYPES) + 1, 2), np.uint32)
    kernels("sizes", [dst], threads=1)
    found = dict(zip(TYPES, map(tuple, dst.tolist()), strict=False))
    assert found == TYPES
    assert not dst[-1].any()


def test_members_of_a_struct_lie_where_the_host_has_them(kernels: KernelLibrary):
    offsets, size, alignment = layout(MIXED)
    dst = np.zeros(16, np.uint32)
    kernels("offsets", [np.zeros(size, np.uint8), dst], threads=1)
    assert dict(zip(MIXED, dst[:13].tolist(), strict=True)) == offsets
    assert dst[13:].tolist() == [size, alignment, size + 2 * alignment]
    assert offsets["b"] == 16


def test_structs_are_read_and_written_member_by_member(kernels: KernelLibrary):
    offsets, size, _ = layout(MIXED)
    formats = {
        "a": "f4", "b": "4f4", "c": "i1", "d": "3f2", "e": "3f4", "f": "2i1", "g": "3f4", "h": "f4",
        "i": "(3,4)f4", "j": "u1", "k": "i8", "l": "4u2", "m": "u1",
    }  # fmt: skip
    fields = {"names": list(MIXED), "formats": list(formats.values()), "offsets": list(offsets.values())}
    struct = np.dtype({**fields, "itemsize": size})
    args = np.zeros(1, struct)
    args["a"], args["b"], args["c"], args["d"] = 1.5, [1, 2, 3, 4], -7, [0.5, 1, 2]
    args["e"], args["f"], args["g"], args["h"] = [10, 20, 30], [3, -4], [7, 8, 9], 2.5
    args["i"] = np.arange(12).reshape(3, 4)
    args["j"], args["k"], args["m"] = 1, 2**40, 200
    args["l"] = [0x3F80, 0x4000, 0x4040, 0xC080]  # 1, 2, 3, -4
    dst = np.zeros(2, struct)
    kernels("members", [args, dst], threads=2)
    expected = args.copy()
    expected["a"], expected["b"], expected["d"], expected["e"] = 2.5, [2, 4, 6, 8], [1, 2, 4], [11, 21, 31]
    expected["g"], expected["k"], expected["l"] = [7, 9, 9], 2**40 - 5, [0x4000, 0x4080, 0x40C0, 0xC100]
    expected["i"][0, 2, :3] = [7, 8, 9]
    for row in dst:
        for name in MIXED:
            if name == "i":
                np.testing.assert_array_equal(row["i"][:, :3], expected["i"][0][:, :3])
            else:
                np.testing.assert_array_equal(row[name], expected[name][0], err_msg=name)


@pytest.mark.parametrize("shift", [0, 4, 8, 12, 20])
def test_vectors_may_lie_where_only_their_elements_are_aligned(kernels: KernelLibrary, shift: int):
    src = np.zeros(10000, np.uint8)
    dst = np.full(10000, 0xAA, np.uint8)
    first = -src.ctypes.data % 64  # so that `shift` is what it says
    src, dst = src[first:], dst[-dst.ctypes.data % 64 :]
    values = np.arange(64 * 4, dtype=np.float32).reshape(16, 4, 4)
    halves = np.arange(64, dtype=np.float16)
    src[shift : shift + values.nbytes] = values.view(np.uint8).ravel()
    src[8192 + shift // 2 :][: halves.nbytes] = halves.view(np.uint8)
    kernels("unaligned", [src, dst, np.array([shift], np.uint32)], threads=16)
    found = dst[shift : shift + values.nbytes].view(np.float32).reshape(16, 4, 4)
    expected = np.stack([values[:, 0] + 1, values[:, 1] * 2, values[:, 2], values[:, 3]], axis=1)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(dst[8192 + shift // 2 :][: halves.nbytes].view(np.float16), halves * 2)
    assert (dst[:shift] == 0xAA).all()
    assert (dst[shift + values.nbytes : 8192] == 0xAA).all()


@pytest.mark.parametrize("shift", [0, 4, 8, 12, 20])
def test_matrices_at_addresses_that_suit_their_elements_only(kernels: KernelLibrary, shift: int):
    values = np.arange(16 * 8, dtype=np.float32).reshape(16, 2, 4)
    src, dst = np.zeros(16384, np.uint8), np.zeros(16384, np.uint8)
    src[shift : shift + values.nbytes] = values.view(np.uint8).ravel()
    kernels("unaligned_matrices", [src, dst, np.array([shift], np.uint32)], threads=16)
    halves = dst[shift // 2 :][: values.nbytes // 2].view(np.float16)
    np.testing.assert_array_equal(halves.reshape(values.shape), values)
    sums = dst[8192 + shift :][: 16 * 16].view(np.float32)
    np.testing.assert_array_equal(sums.reshape(16, 4), values.sum(axis=1))


def test_swizzles_read_and_write(kernels: KernelLibrary):
    src = np.array([[1, 2, 3, 4]], np.float32)
    dst = np.zeros((12, 4), np.float32)
    kernels("swizzles", [src, dst], threads=1)
    expected = [
        [4, 3, 2, 1], [1, 1, 2, 2], [1, 2, 3, 4], [3, 2, 1, 4], [18, 1, 2, 3],
        [5, 2, 3, 6], [8, 2, 3, 7], [3, 5, 9, 7], [6, 12, 11, 7], [3, 2, 1, 4],
        [3, 4, 1.5, 1.5], [2, 2, 2, 2],
    ]  # fmt: skip
    np.testing.assert_array_equal(dst, expected)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("float2 a; a.z = 1;", "no member named 'z'"),
        ("float2 a(1, 2); dst[0] = a.xyz.x;", "no such element"),
        ("float4 a(1); a.xy = a;", "no viable"),
        ("float4 a = float4(1.0f, float2(1, 2));", "must add up"),
        ("float3x3 a(float3(1), float3(2));", "must add up"),
        ("half a = 1; bfloat4 b = half4(a);", "no viable conversion"),
    ],
)
def test_what_vectors_do_not_have_is_an_error(tmp_path, statement: str, message: str):
    with pytest.raises(MslError, match=message):
        build_source(f"kernel void k(device float * dst) {{ {statement} }}\n", tmp_path)


def test_fields_called_like_swizzles_stay_fields(tmp_path):
    library = build_source(
        "struct pair { float2 xy; int arg; float rgb[3]; };\n"
        "kernel void k(device float * dst) {\n"
        "    pair p; p.xy = float2(1, 2); p.arg = 3; p.rgb[1] = 4;\n"
        "    dst[0] = p.xy.y + p.arg + p.rgb[1];\n"
        "}\n",
        tmp_path,
    )
    dst = np.zeros(1, np.float32)
    library("k", [dst], threads=1)
    assert dst[0] == 9


def test_constructors_take_the_elements_of_their_arguments_in_order(kernels: KernelLibrary):
    dst = np.zeros((14, 4), np.float32)
    kernels("constructors", [dst], threads=1)
    expected = [
        [1, 2, 3, 4], [1, 2, 8, 9], [8, 9, 1, 2], [8, 1, 2, 9], [5, 6, 7, 1], [1, 5, 6, 7], [3, 3, 3, 3],
        [1, 2, 8, 0], [8, 1, 2, 0], [1, -2, 3, -4], [0.5, 1, 2, 3],
        [1.5, 2.5, 3, 4], [2, 7, 2, 2], [4, 11, 8, 10],
    ]  # fmt: skip
    np.testing.assert_array_equal(dst, expected)


def test_conversions_of_vectors(kernels: KernelLibrary):
    v = np.array([[1.75, -2.5, 0, 0.25]], np.float32)
    dst = np.zeros((10, 4), np.int32)
    kernels("conversions", [v, dst], threads=1)
    bits = v.view(np.int32)[0]
    np.testing.assert_array_equal(dst[0], [1, -2, 0, 0])
    np.testing.assert_array_equal(dst[1], [1, -2, 0, 0])
    np.testing.assert_array_equal(dst[2], [1, 2, 0, 0])
    np.testing.assert_array_equal(dst[3], [1, 1, 0, 1])
    np.testing.assert_array_equal(dst[4], bits)
    np.testing.assert_array_equal(dst[5], bits[:1].view(np.int8))
    np.testing.assert_array_equal(dst[6], [*bits[1:2].view(np.int16), *bits[1:2].view(np.uint16)])
    np.testing.assert_array_equal(dst[7], [3, -5, 0, 0])
    # 2^24 + 2^16 + 1 is just above the middle between 2^24 and the next bfloat.
    np.testing.assert_array_equal(dst[8], [2**24 + 2**17, -3, 0, 1])
    np.testing.assert_array_equal(dst[9], [1, 0x40003C00, 0x3F800000, 0])


def test_comparisons_give_vectors_of_bool(kernels: KernelLibrary):
    a = np.array([[1, 2, 3, np.nan], [1, 1, 1, 1]], np.float32)
    b = np.array([[2, 2, 2, 2], [5, 5, 5, 5]], np.float32)
    dst = np.zeros((2, 8, 4), np.int32)
    kernels("booleans", [a, b, dst], threads=2)
    less, same = a < b, a == b
    for i in range(2):
        np.testing.assert_array_equal(dst[i, 0], less[i])
        np.testing.assert_array_equal(dst[i, 1], same[i])
        np.testing.assert_array_equal(dst[i, 2], ~less[i])
        np.testing.assert_array_equal(dst[i, 3], less[i] | same[i])
        np.testing.assert_array_equal(dst[i, 4], less[i] & [True, False, True, False])
        chosen = np.where(less[i], b[i], a[i])
        np.testing.assert_array_equal(dst[i, 5], np.nan_to_num(chosen).astype(np.int32))
        np.testing.assert_array_equal(dst[i, 6], [less[i].any(), less[i].all(), same[i].any(), same[i].all()])
        np.testing.assert_array_equal(dst[i, 7], np.isnan(a[i]))


def test_matrices_are_columns(kernels: KernelLibrary):
    rng = np.random.default_rng(5)
    columns = rng.integers(-3, 4, (2, 4, 4)).astype(np.float32)
    a, b = columns.transpose(0, 2, 1)  # as in mathematics: row, column
    dst = np.zeros((23, 4), np.float32)
    kernels("matrices", [columns, dst], threads=1)
    x = np.array([1, 2, 3, 4], np.float32)
    np.testing.assert_array_equal(dst[:4], (a @ b).T)
    np.testing.assert_array_equal(dst[4:8], 2 * b.T)
    np.testing.assert_array_equal(dst[8:12], a)
    np.testing.assert_array_equal(dst[12:16], 3 * np.eye(4))
    np.testing.assert_array_equal(dst[16], a @ x)
    np.testing.assert_array_equal(dst[17], x @ a)
    np.testing.assert_array_equal(dst[18], [410, 520, 630, 0])
    np.testing.assert_allclose(dst[19], [321, 654, -2, np.linalg.det(a)], atol=1e-4)
    np.testing.assert_array_equal(dst[20], [12, 15, 19, -3])
    np.testing.assert_array_equal(dst[21], [1, 4, 2, 50])
    np.testing.assert_array_equal(dst[22], [60, 6, 0, 0])
