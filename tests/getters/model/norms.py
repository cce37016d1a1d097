"""Rows (or groups of rows) brought to a norm; soft_max among them."""

from ..expected import Abort, Expected, boolean, rule
from ..rows import Row
from ..views import OpView

FC_NORM = 1700
SMEM = 32 * 4
"""A float for each simdgroup that a threadgroup can have."""


def _fours(ne0: int) -> str:
    return "_4" if ne0 % 4 == 0 else ""


@rule("soft_max")
def soft_max(row: Row, op: OpView) -> Expected | Abort:
    a, mask = op.src[:2]
    # The kernel's type is the mask's: without one, f32. The values are f32.
    type = mask.type if mask else "f32"
    if type not in ("f16", "f32"):
        return Abort("GGML_TYPE_F16")
    return Expected(f"kernel_soft_max_{type}{_fours(a.ne[0])}", smem=SMEM)


@rule("l2_norm")
def l2_norm(row: Row, op: OpView) -> Expected | Abort:
    a = op.src[0]
    fours = a.ne[0] % 4 == 0
    if row >= Row.V0_9_8:
        return Expected(f"kernel_l2_norm_{a.type}_{op.type}{_fours(a.ne[0])}", smem=SMEM, c4=fours)
    if not fours:
        return Abort("% 4 == 0")
    return Expected("kernel_l2_norm_f32", smem=SMEM) if a.is_contiguous_1(row) else Abort("contiguous_1")


@rule("group_norm")
def group_norm(row: Row, op: OpView) -> Expected | Abort:
    return Expected("kernel_group_norm_f32", smem=SMEM) if op.src[0].is_contiguous else Abort("contiguous")


_KERNELS = {"NORM": "kernel_norm", "RMS_NORM": "kernel_rms_norm"}
_FUSED = {1: "", 2: "_mul", 3: "_mul_add"}


@rule("norm")
def norm(row: Row, op: OpView, n_fuse: int) -> Expected | Abort:
    if not op.src[0].is_contiguous_rows:
        return Abort("ggml_is_contiguous_rows")
    if op.op not in _KERNELS or n_fuse not in _FUSED:
        return Abort("fatal error")
    base = f"{_KERNELS[op.op]}{_FUSED[n_fuse]}_f32{_fours(op.ne[0])}"
    constants = (boolean(FC_NORM, False),) if row >= Row.V0_25_3 else ()
    return Expected(base, smem=SMEM, constants=constants)


@rule("norm_scale")
def norm_scale(row: Row, op: OpView) -> Expected | Abort:
    if not op.src[0].is_contiguous_rows:
        return Abort("ggml_is_contiguous_rows")
    if op.op not in _KERNELS:
        return Abort("fatal error")
    base = f"{_KERNELS[op.op]}_mul_f32{_fours(op.ne[0])}"
    return Expected(base, f"{base}_use_scale", smem=SMEM, constants=(boolean(FC_NORM, True),))
