"""Tensors made longer, or turned: upscale, pad, roll."""

from ..expected import Expected, boolean, rule
from ..rows import Row
from ..views import OpView

FC_UPSCALE, FC_PAD = 1500, 2100
ANTIALIAS = 1 << 9
MODES = {1: "bilinear", 2: "bicubic"}


@rule("upscale")
def upscale(row: Row, op: OpView) -> Expected:
    type, mode = op.src[0].type, op.params[0]
    if row < Row.V0_9_8:
        return Expected(f"kernel_upscale_{type}")
    antialias = bool(mode & ANTIALIAS)
    base = f"kernel_upscale_{MODES.get(mode & 0xFF, 'nearest')}_{type}"
    return Expected(base, f"{base}_aa={antialias:d}", constants=(boolean(FC_UPSCALE, antialias),))


@rule("pad")
def pad(row: Row, op: OpView) -> Expected:
    base = f"kernel_pad_{op.src[0].type}"
    if row < Row.V0_25_3:
        return Expected(base)
    circular = op.params[8] != 0
    return Expected(base, f"{base}_circular={circular:d}", constants=(boolean(FC_PAD, circular),))


@rule("pad_reflect_1d")
def pad_reflect_1d(row: Row, op: OpView) -> Expected:
    return Expected(f"kernel_pad_reflect_1d_{op.src[0].type}")


@rule("roll")
def roll(row: Row, op: OpView) -> Expected:
    return Expected(f"kernel_roll_{op.src[0].type}")
