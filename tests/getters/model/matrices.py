"""Matrix products by tiles: mul_mm and what mixtures of experts need around it."""

from .. import c
from ..expected import Abort, Expected, boolean, int16, rule
from ..rows import Row
from ..views import OpView

FC_MUL_MM = 700
INT16_MAX = 2**15 - 1
PREC_F32 = 10


@rule("mul_mm")
def mul_mm(row: Row, op: OpView) -> Expected | Abort:
    """Without the GPU's tensor API, which no device up to M4 has: tiles of 64 x 32."""
    a, b = op.sources(2)
    bc_inp = a.ne[0] % 32 != 0
    bc_out = op.ne[0] % 64 != 0 or op.ne[1] % 32 != 0
    base = f"kernel_mul_mm_{a.type}_{b.type}"
    name = f"{base}_bci={bc_inp:d}_bco={bc_out:d}"
    constants = [boolean(FC_MUL_MM, bc_inp), boolean(FC_MUL_MM + 1, bc_out)]
    smem = 8192 if bc_out else 6144
    if row < Row.V0_10_1:
        return Expected(base, name, smem=smem, constants=tuple(constants))
    if row < Row.V0_13_1:
        return Expected(base, name, nsg=4, nr0=64, nr1=32, smem=smem, constants=tuple(constants))
    ne12, ne13 = b.ne[2], b.ne[3]
    if max(ne12, ne13) > INT16_MAX:
        return Abort("op->src[1]->ne[2] <= INT16_MAX && op->src[1]->ne[3] <= INT16_MAX")
    r2, r3 = ne12 // a.ne[2], ne13 // a.ne[3]
    name += f"_ne12={ne12}_ne13={ne13}_r2={r2}_r3={r3}"
    constants += [int16(FC_MUL_MM + 2 + i, value) for i, value in enumerate((ne12, ne13, r2, r3))]
    return Expected(base, name, nsg=4, nr0=64, nr1=32, smem=smem, constants=tuple(constants))


@rule("mul_mm_id")
def mul_mm_id(row: Row, op: OpView) -> Expected:
    a, b = op.sources(2)
    bc_inp = a.ne[0] % 32 != 0
    base = f"kernel_mul_mm_id_{a.type}_{b.type}"
    name = f"{base}_bci={bc_inp:d}"
    constants = [boolean(FC_MUL_MM, bc_inp)]
    if row >= Row.V0_25_3:
        amax = op.params[3] == PREC_F32
        name += f"_amax={amax:d}"
        constants.append(boolean(FC_MUL_MM + 6, amax))
    return Expected(base, name, smem=8192, constants=tuple(constants))


@rule("mul_mm_id_map0")
def mul_mm_id_map0(row: Row, ne02: int, ne20: int) -> Expected:
    """Two bytes for every pair of an expert and a place. In 0.9.4 the name lacks what smem depends on."""
    base = f"kernel_mul_mm_id_map0_ne20_{ne20}"
    name = base if row < Row.V0_9_5 else f"{base}_ne02={ne02}"
    smem = ne02 * ne20 * 2
    return Expected(base, name, smem=c.pad(smem, 16) if row >= Row.V0_25_3 else smem)


@rule("mul_mm_id_amax")
def mul_mm_id_amax(row: Row) -> Expected:
    return Expected("kernel_mul_mm_id_amax_f32", smem=32 * 4)


@rule("mul_mm_id_amax_part")
def mul_mm_id_amax_part(row: Row) -> Expected:
    return Expected("kernel_mul_mm_id_amax_part_f32", smem=32 * 4)
