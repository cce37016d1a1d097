"""Every row of vendor/upstreams.toml: it opens, its kernels compute, and several rows live in one process.

A row that is not built fails here with the command that builds it.
"""

import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from fresh_python import run_python

import ggml_metal_py as gm
from ggml_metal_py._build.manifest import Row, read_manifest

MANIFEST = read_manifest()
WITHOUT_SOURCE = "whisper.rn-0.5.2"

every_row = pytest.mark.parametrize("row", MANIFEST.rows.values(), ids=MANIFEST.rows)
every_row_with_kernels = pytest.mark.parametrize(
    "row", [row for row in MANIFEST.rows.values() if row.metallib is None], ids=lambda row: row.name
)

RNG = np.random.default_rng(7)
A = RNG.standard_normal((5, 64), np.float32)
B = RNG.standard_normal((3, 64), np.float32)


@pytest.fixture
def opened(row: Row) -> Iterator[gm.Device]:
    with gm.open(row.name) as device:
        yield device


@every_row
def test_a_row_opens_with_its_version_and_kernels(row: Row, opened: gm.Device) -> None:
    info = opened.info()
    assert info["upstream"] == row.name
    assert info["ggml_version"] == (row.ggml_version or "unknown")
    assert info["device"]["description"] == "Apple M2"
    assert info["kernels"]["declared"] >= 560
    assert info["getters"]["declared"] >= 42


@every_row
def test_upstream_sends_no_message_that_nobody_answers(row: Row, opened: gm.Device) -> None:
    native = opened._native
    text = native.ffi.new("char[]", 4096)
    assert native.softmetal_missing_selectors(text, 4096) == 0, native.text(text)


def soft_max(a: np.ndarray) -> np.ndarray:
    exp = np.exp(a - a.max(axis=-1, keepdims=True))
    return exp / exp.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        pytest.param(lambda a, b: gm.ops.add(a, a), A + A, id="add"),
        pytest.param(lambda a, b: gm.ops.mul_mat(a, b), B @ A.T, id="mul_mat"),
        pytest.param(lambda a, b: gm.ops.soft_max(a), soft_max(A), id="soft_max"),
    ],
)
@every_row_with_kernels
def test_a_rows_kernels_compute(
    row: Row,
    compute: Callable[[gm.Tensor, gm.Tensor], gm.Tensor],
    expected: np.ndarray,
    opened: gm.Device,
) -> None:
    with opened.context() as context, opened.backend() as backend:
        result = compute(context.from_numpy(A), context.from_numpy(B))
        backend.alloc(context)
        backend.compute(result)
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-4, atol=1e-4)


def test_a_row_without_kernel_source_says_so_when_it_is_to_compute() -> None:
    with gm.open(WITHOUT_SOURCE) as device:
        context, backend = device.context(), device.backend()
        a = context.from_numpy(A)
        result = gm.ops.mul_mat(a, a)
        backend.alloc(context)
        with pytest.raises(gm.ComputeError, match="NoKernelSource: kernel_mul_m") as caught:
            backend.compute(result)
        assert f"{WITHOUT_SOURCE} ships no kernel source: it is for getters" in str(caught.value)
        with pytest.raises(gm.BackendPoisoned):
            backend.compute(result)
        backend.close()
        assert device.library.compile_pipeline("kernel_add_fuse_1").base == "kernel_add_fuse_1"
        with device.backend() as another, pytest.raises(gm.ComputeError, match="NoKernelSource"):
            another.compute(result)


def test_a_row_without_kernel_source_accepts_function_constants_and_knows_its_kernels() -> None:
    with gm.open(WITHOUT_SOURCE) as device:
        constants = gm.ConstantValues().set_int16(600, 4)
        made = device.library.compile_pipeline("kernel_mul_mv_f32_f32", "mv_nsg=4", constants)
        assert made.max_threads_per_threadgroup == 1024
        with pytest.raises(gm.KernelNotFound):
            device.library.compile_pipeline("kernel_from_the_future")


COMPUTE = """
import numpy as np, ggml_metal_py as gm

def compute(row):
    # The row's version, and a sum of squares by its mul_mat: or that it says NoKernelSource once.
    with gm.open(row) as device, device.context() as context, device.backend() as backend:
        a = context.from_numpy(np.arange(64, dtype=np.float32).reshape(2, 32))
        result = gm.ops.mul_mat(a, a)
        backend.alloc(context)
        try:
            backend.compute(result)
        except gm.ComputeError as error:
            return device.ggml_version, str(error).count("NoKernelSource")
        return device.ggml_version, int(result.numpy()[0, 0])
"""
SUM_OF_SQUARES = sum(i * i for i in range(32))


def expected_answer(row: Row) -> tuple[str, int]:
    return row.ggml_version or "unknown", 1 if row.metallib else SUM_OF_SQUARES


@pytest.mark.parametrize("order", ["as listed", "backwards"])
def test_all_rows_answer_in_one_process(order: str) -> None:
    rows = list(MANIFEST.rows.values())[:: 1 if order == "as listed" else -1]
    names = [row.name for row in rows]
    done = run_python(
        f"{COMPUTE}\ndevices = [gm.open(row) for row in {names}]\n"
        f"print([compute(row) for row in 2 * {names}])"
    )
    assert done.stdout == f"{2 * [expected_answer(row) for row in rows]}\n", done.stderr
    assert done.returncode == 0, done.stderr


# ggml of the pywhispercpp wheel, through ctypes: 1.5 + 2.5 on its CPU backend.
WHEEL = """
import ctypes
from ctypes import c_bool, c_char_p, c_float, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path

class Wheel:
    class Params(ctypes.Structure):
        _fields_ = [("mem_size", c_size_t), ("mem_buffer", c_void_p), ("no_alloc", c_bool)]

    def __init__(self, folder):
        files = sorted(Path(folder).glob("libggml*"), key=lambda path: "base" not in path.name)
        self.libraries = [ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL) for path in files]

    def __call__(self, name, restype, *arguments):
        for library in self.libraries:
            if hasattr(library, name):
                function = getattr(library, name)
                function.restype = restype
                return function(*arguments)
        raise AttributeError(name)

    def answer(self):
        context = self("ggml_init", c_void_p, self.Params(1 << 20, None, False))
        a, b = (
            c_void_p(self("ggml_new_tensor_1d", c_void_p, c_void_p(context), 0, c_int64(8))) for _ in range(2)
        )
        for tensor, value in ((a, 1.5), (b, 2.5)):
            self("ggml_set_f32", c_void_p, tensor, c_float(value))
        total = c_void_p(self("ggml_add", c_void_p, c_void_p(context), a, b))
        graph = c_void_p(self("ggml_new_graph", c_void_p, c_void_p(context)))
        self("ggml_build_forward_expand", None, graph, total)
        self("ggml_graph_compute_with_ctx", c_int, c_void_p(context), graph, c_int(1))
        result = self("ggml_get_f32_1d", c_float, total, c_int(7))
        self("ggml_free", None, c_void_p(context))
        return self("ggml_version", c_char_p).decode(), result
"""


def test_another_ggml_in_the_global_scope_and_two_rows_all_answer() -> None:
    folder = Path(sysconfig.get_path("platlib"), "pywhispercpp.libs")
    assert list(folder.glob("libggml-base*")), f"no ggml of pywhispercpp's wheel in {folder}"
    rows = [MANIFEST.rows["whisper.rn-0.5.5"], MANIFEST.rows["libggml-python-0.20.2"]]
    done = run_python(
        f"{WHEEL}\nwheel = Wheel({str(folder)!r})\nprint(wheel.answer())\n{COMPUTE}\n"
        f"for row in {[row.name for row in rows]}:\n    print(compute(row))\n    print(wheel.answer())\n"
        "print(hasattr(ctypes.CDLL(None), 'ggml_add'))"
    )
    others = [line for row in rows for line in (str(expected_answer(row)), "('0.13.1', 4.0)")]
    assert done.stdout.splitlines() == ["('0.13.1', 4.0)", *others, "True"], done.stderr
    assert done.returncode == 0, done.stderr
