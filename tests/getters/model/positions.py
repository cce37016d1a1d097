"""Positions put into values: rotary embedding, timesteps, ranges."""

from ..expected import Abort, Expected, boolean, rule
from ..rows import Row
from ..views import OpView

FC_ROPE = 800
NEOX, MROPE, VISION, IMROPE = 2, 8, 24, 40


@rule("rope")
def rope(row: Row, op: OpView) -> Expected | Abort:
    a, positions = op.src[:2]
    mode = op.params[2]
    interleaved = mode == IMROPE
    if mode & NEOX:
        kind = "neox"
    elif mode & MROPE:  # of VISION and IMROPE, too
        kind = "vision" if mode == VISION else "multi"
        if positions.ne[0] * 4 < a.ne[2]:
            return Abort("ne[2]")
    else:
        kind = "norm"
    base = f"kernel_rope_{kind}_{a.type}"
    if row < Row.V0_9_5:
        return Expected(base)
    name = f"{base}_imrope={interleaved:d}"
    if row < Row.V0_15_3:
        return Expected(base, name, constants=(boolean(FC_ROPE, interleaved),))
    back = op.op == "ROPE_BACK"
    constants = (boolean(FC_ROPE, interleaved), boolean(FC_ROPE + 1, back))
    return Expected(base, f"{name}_is_back={back:d}", constants=constants)


@rule("timestep_embedding")
def timestep_embedding(row: Row, op: OpView) -> Expected:
    return Expected(f"kernel_timestep_embedding_{op.src[0].type}")


@rule("arange")
def arange(row: Row, op: OpView) -> Expected:
    return Expected(f"kernel_arange_{op.type}")
