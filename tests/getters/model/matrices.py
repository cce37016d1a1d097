"""mul_mm and its like: matrix times matrix."""

from ..expected import Abort, Expected, boolean, rule
from ..rows import Row
from ..views import OpView

FC_MUL_MM = 700


@rule("mul_mm")
def mul_mm(row: Row, op: OpView) -> Expected | Abort:
    a, b = op.src[:2]
    bc_inp, bc_out = a.ne[0] % 32 != 0, op.ne[0] % 64 != 0 or op.ne[1] % 32 != 0
    base = f"kernel_mul_mm_{a.type}_{b.type}"
    name = f"{base}_bci={bc_inp:d}_bco={bc_out:d}"
    constants = [boolean(FC_MUL_MM, bc_inp), boolean(FC_MUL_MM + 1, bc_out)]
    return Expected(base, name, smem=8192 if bc_out else 6144, constants=tuple(constants))
