"""Convolutions: src0 is the kernel, src1 the data."""

from ..expected import Abort, Expected, rule
from ..rows import Row
from ..views import OpView

BIG_KERNEL = 1024
"""im2col takes one thread for each of the kernel's values as long as a threadgroup has room for them."""


@rule("im2col")
def im2col(row: Row, op: OpView) -> Expected | Abort:
    kernel, data = op.src[:2]
    if not data.is_contiguous:
        return Abort("ggml_is_contiguous")
    if data.type != "f32" or op.type not in ("f16", "f32"):
        return Abort("GGML_TYPE_F")
    two_dimensional = op.params[6] == 1
    values = kernel.ne[0] * (kernel.ne[1] if two_dimensional else 1)
    big = row >= Row.V0_15_3 and values > BIG_KERNEL
    return Expected(f"kernel_im2col{'_ext' if big else ''}_{op.type}")


@rule("col2im_1d")
def col2im_1d(row: Row, op: OpView) -> Expected | Abort:
    columns = op.src[0]
    if not columns.is_contiguous:
        return Abort("ggml_is_contiguous")
    if columns.type not in ("f32", "f16", "bf16"):
        return Abort("GGML_TYPE_F")
    return Expected(f"kernel_col2im_1d_{columns.type}")


def _of_types(kind: str, op: OpView) -> Expected | Abort:
    kernel, data = op.src[:2]
    if kernel.type not in ("f16", "f32") or data.type != "f32" or op.type != "f32":
        return Abort("GGML_TYPE_F")
    return Expected(f"kernel_{kind}_{kernel.type}_{data.type}")


def _transposed(kind: str, op: OpView) -> Expected | Abort:
    both = op.src[0].is_contiguous and op.src[1].is_contiguous
    return _of_types(kind, op) if both else Abort("ggml_is_contiguous")


def _direct(kind: str, op: OpView) -> Expected | Abort:
    return _of_types(kind, op) if op.src[0].is_contiguous else Abort("ggml_is_contiguous")


@rule("conv_transpose_1d")
def conv_transpose_1d(row: Row, op: OpView) -> Expected | Abort:
    return _transposed("conv_transpose_1d", op)


@rule("conv_transpose_2d")
def conv_transpose_2d(row: Row, op: OpView) -> Expected | Abort:
    return _transposed("conv_transpose_2d", op)


@rule("conv_2d")
def conv_2d(row: Row, op: OpView) -> Expected | Abort:
    return _direct("conv_2d", op)


@rule("conv_2d_dw")
def conv_2d_dw(row: Row, op: OpView, tiled: bool) -> Expected | Abort:
    return _of_types("conv_2d_dw_tiled" if tiled else "conv_2d_dw", op)


@rule("conv_3d")
def conv_3d(row: Row, op: OpView) -> Expected | Abort:
    return _direct("conv_3d", op)
