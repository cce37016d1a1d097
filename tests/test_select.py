"""Which kernels upstream would run, told without running them."""

import json

import numpy as np
import pytest
from fresh_python import run_python

import ggml_metal_py as gm
from ggml_metal_py import select
from ggml_metal_py.getters.rows import ROWS


def product(context: gm.Context, kind: str, k: int, n: int) -> gm.Tensor:
    return gm.ops.mul_mat(context.new_tensor(kind, (64, k)), context.new_tensor("f32", (n, k)))


@pytest.mark.parametrize(
    ("kind", "k", "n", "base"),
    [
        ("f16", 128, 1, "kernel_mul_mv_f16_f32_4"),
        ("f16", 128, 2, "kernel_mul_mv_ext_f16_f32_r1_2"),
        ("f16", 128, 8, "kernel_mul_mv_ext_f16_f32_r1_4"),
        ("f16", 128, 9, "kernel_mul_mm_f16_f32"),
        ("f16", 96, 8, "kernel_mul_mv_f16_f32_4"),
        ("f16", 32, 64, "kernel_mul_mv_f16_f32_4"),
        ("q4_0", 256, 4, "kernel_mul_mv_ext_q4_0_f32_r1_4"),
        ("q4_K", 256, 3, "kernel_mul_mv_q4_K_f32"),
        ("q4_K", 256, 4, "kernel_mul_mv_ext_q4_K_f32_r1_4"),
    ],
)
def test_the_family_of_a_product_depends_on_its_shape(
    kind: str, k: int, n: int, base: str, context: gm.Context
) -> None:
    pipeline = select.chosen(product(context, kind, k, n))
    assert pipeline is not None
    assert pipeline.base == base


def test_a_dispatch_covers_the_result(context: gm.Context) -> None:
    [dispatch] = select.dispatches(product(context, "f16", 64, 100))
    assert dispatch.op == "MUL_MAT"
    assert dispatch.threadgroups == (-(-100 // 32), 1, 1)  # tiles of 32 columns by 64 rows
    assert dispatch.threads_per_threadgroup == (32, dispatch.pipeline.nsg, 1)
    assert dispatch.threadgroup_memory == dispatch.pipeline.smem


def test_a_chain_is_fused_as_when_it_runs(context: gm.Context) -> None:
    ones = context.new_tensor("f32", (4, 8))
    [dispatch] = select.dispatches(gm.ops.add(gm.ops.add(ones, ones), ones))
    assert "_nf=2_" in dispatch.pipeline.name


def test_helpers_of_an_op_are_told_apart_from_its_kernel(context: gm.Context) -> None:
    q = context.new_tensor("f32", (1, 2, 300, 64))
    k = context.new_tensor("f16", (1, 2, 500, 64))
    mask = context.new_tensor("f16", (320, 500))
    attention = gm.ops.flash_attn_ext(q, k, k, mask)
    bases = [dispatch.pipeline.base for dispatch in select.dispatches(attention)]
    assert bases[:-1] == ["kernel_flash_attn_ext_pad", "kernel_flash_attn_ext_blk"]
    pipeline = select.chosen(attention)
    assert pipeline is not None
    assert pipeline.base == bases[-1] == "kernel_flash_attn_ext_f16_dk64_dv64"


def test_a_view_runs_nothing(context: gm.Context) -> None:
    view = gm.ops.apply("transpose", context.new_tensor("f32", (2, 3)))
    assert select.dispatches(view) == ()
    assert select.chosen(view) is None


def test_asking_for_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one tensor"):
        select.dispatches()


def test_asking_leaves_values_and_memory_alone(device: gm.Device, backend: gm.Backend) -> None:
    with device.context() as context:
        a = context.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
        total = gm.ops.add(a, a)
        select.dispatches(total)
        assert not a.allocated
        backend.alloc(context)
        select.dispatches(total)
        backend.compute(total)
        assert (total.numpy() == 2 * np.arange(6).reshape(2, 3)).all()


def test_what_the_device_refuses_is_refused(context: gm.Context) -> None:
    masked = gm.ops.apply("diag_mask_inf", context.new_tensor("f32", (4, 4)), 0)
    with pytest.raises(gm.UnsupportedOp, match="DIAG_MASK_INF"):
        select.dispatches(masked)


def test_a_kernel_that_is_missing_is_named(context: gm.Context) -> None:
    missing = gm.ops.mul_mat(context.new_tensor("q8_0", (32, 64)), context.new_tensor("f16", (1, 64)))
    with pytest.raises(gm.KernelNotFound) as caught:
        select.dispatches(missing)
    assert caught.value.name == "kernel_mul_mv_q8_0_f16"


@pytest.mark.parametrize("row", ROWS)
def test_every_row_tells_what_it_chooses(row: str) -> None:
    with gm.open(row) as device, device.context() as context:
        ones = context.new_tensor("f32", (4, 8))
        fused = gm.ops.apply("transpose", gm.ops.add(gm.ops.add(ones, ones), ones))
        chain = gm.ops.gelu(gm.ops.apply("cont", fused))
        assert [dispatch.op for dispatch in select.dispatches(chain)] == ["ADD", "CONT", "GELU"]
        pipeline = select.chosen(product(context, "f16", 64, 64))
        assert pipeline is not None
        assert pipeline.base == "kernel_mul_mm_f16_f32"


COMPARE = """
import json, logging, re
import numpy as np
import ggml_metal_py as gm
from ggml_metal_py import select
compiled = []
def note(level, text):
    found = re.search(r"compiling pipeline: base = '.*', name = '(.*)'", text)
    if found:
        compiled.append(found[1])
with gm.open() as device, device.context() as context, device.backend() as backend:
    gm.set_log_callback(note)
    x = context.from_numpy(np.ones((70, 128), np.float32))
    w = context.from_numpy(np.ones((64, 128), np.float16))
    y = gm.ops.soft_max(gm.ops.gelu(gm.ops.rms_norm(gm.ops.mul_mat(w, x))))
    z = gm.ops.sum_rows(gm.ops.add(gm.ops.mul_mat(w, gm.ops.scale(x, 0.5)), y))
    backend.alloc(context)
    backend.compute(z)
    ran = sorted(set(compiled))
    told = sorted({dispatch.pipeline.name for dispatch in select.dispatches(z)})
    print(json.dumps([ran, told]))
"""


def test_what_is_told_is_what_runs() -> None:
    done = run_python(COMPARE)
    assert done.returncode == 0, done.stderr
    ran, told = json.loads(done.stdout)
    assert len(ran) > 4
    assert ran == told
