"""Matrix products row by row: mul_mv, mul_mv_ext and mul_mv_id."""

from dataclasses import dataclass

from .. import c
from ..expected import Abort, Constant, Expected, boolean, int16, rule
from ..rows import Row
from ..views import OpView

FC_MUL_MV = 600
INT16_MAX = 2**15 - 1


@dataclass(frozen=True)
class Shape:
    """How a type's kernel is laid out."""

    nsg: int
    nr0: int
    smem: int = 0
    since: Row = Row.V0_9_4


QUANTISED = {
    "q1_0": Shape(2, 8, since=Row.V0_10_1),
    "q2_0": Shape(2, 8, since=Row.V0_20_2),
    "q4_0": Shape(2, 4),
    "q4_1": Shape(2, 4),
    "q5_0": Shape(2, 4),
    "q5_1": Shape(2, 4),
    "q8_0": Shape(4, 2, 256),
    "mxfp4": Shape(2, 2, 128),
    "q2_K": Shape(2, 4),
    "q3_K": Shape(2, 2),
    "q4_K": Shape(2, 2),
    "q5_K": Shape(2, 1),
    "q6_K": Shape(2, 2),
    "iq1_s": Shape(2, 4),
    "iq1_m": Shape(2, 4),
    "iq2_xxs": Shape(2, 4, 256 * 8 + 128),
    "iq2_xs": Shape(2, 4, 512 * 8 + 128),
    "iq2_s": Shape(2, 4),
    "iq3_xxs": Shape(2, 4, 256 * 4 + 128),
    "iq3_s": Shape(2, 4, 512 * 4),
    "iq4_nl": Shape(2, 2, 128),
    "iq4_xs": Shape(2, 2, 128),
    "tq2_0": Shape(2, 4, since=Row.V0_20_2),
}
# Types whose short rows are shared out among lanes, from 0.25.3 on.
SPLITTING = {"iq1_s", "iq1_m", "iq2_xxs", "iq2_xs", "iq2_s", "iq3_xxs", "iq3_s"}


@dataclass(frozen=True)
class Choice:
    shape: Shape
    suffix: str = ""
    split: bool = False


def choose(row: Row, type: str, ne00: int, *, short: bool) -> Choice | None:
    """The kernel for rows of ne00 values; None for a type without one."""
    if type in ("f32", "f16", "bf16"):
        if short and ne00 < 32:
            return Choice(Shape(1, 32), "_short")
        return Choice(Shape(min(4, (ne00 + 127) // 128), 2, 256), "" if ne00 % 4 else "_4")
    shape = QUANTISED.get(type)
    if shape is None or row < shape.since:
        return None
    if type == "q5_K" and row < Row.V0_9_8:
        return Choice(Shape(2, 2))
    if type in SPLITTING and row >= Row.V0_25_3 and ne00 // 32 in (1, 2, 4, 8, 16):
        return Choice(Shape(shape.nsg, 8, shape.smem), split=True)
    return Choice(shape)


def _answer(base: str, name: str, choice: Choice, constants: list[Constant]) -> Expected:
    shape = choice.shape
    return Expected(base, name, shape.nsg, shape.nr0, 1, shape.smem, constants=tuple(constants))


@rule("mul_mv")
def mul_mv(row: Row, op: OpView) -> Expected | Abort:
    a, b = op.sources(2)
    choice = choose(row, a.type, a.ne[0], short=True)
    if choice is None:
        return Abort("not implemented")
    base = f"kernel_mul_mv_{a.type}_{b.type}{choice.suffix}"
    name = f"{base}_nsg={choice.shape.nsg}"
    constants = [int16(FC_MUL_MV, choice.shape.nsg)]
    if row >= Row.V0_13_1:
        if max(b.ne[2:]) > INT16_MAX:
            return Abort("ne12 <= INT16_MAX && ne13 <= INT16_MAX")
        ratios = b.ne[2], b.ne[2] // a.ne[2], b.ne[3] // a.ne[3]
        name += "_ne12={}_r2={}_r3={}".format(*ratios)
        constants += [int16(FC_MUL_MV + 2 + i, value) for i, value in enumerate(ratios)]
    if row >= Row.V0_25_3:
        name += f"_split={choice.split:d}"
        constants.append(boolean(FC_MUL_MV + 5, choice.split))
    return _answer(base, name, choice, constants)


@rule("mul_mv_id")
def mul_mv_id(row: Row, op: OpView) -> Expected | Abort:
    a, b = op.sources(2)
    choice = choose(row, a.type, a.ne[0], short=False)
    if choice is None:
        return Abort("not implemented")
    base = f"kernel_mul_mv_id_{a.type}_{b.type}{choice.suffix}"
    name = f"{base}_nsg={choice.shape.nsg}"
    constants = [int16(FC_MUL_MV, choice.shape.nsg)]
    if row >= Row.V0_13_1:
        constants += [int16(FC_MUL_MV + i, 1) for i in (2, 3, 4)]
    if row >= Row.V0_25_3:
        name += f"_split={choice.split:d}"
        constants.append(boolean(FC_MUL_MV + 5, choice.split))
    return _answer(base, name, choice, constants)


@rule("mul_mv_ext")
def mul_mv_ext(row: Row, op: OpView, nsg: int, nxpsg: int, r1ptg: int) -> Expected | Abort:
    a, b = op.sources(2)
    base = f"kernel_mul_mv_ext_{a.type}_{b.type}_r1_{r1ptg}"
    name = f"{base}_nsg={nsg}_nxpsg={nxpsg}"
    constants = [int16(FC_MUL_MV, nsg), int16(FC_MUL_MV + 1, nxpsg)]
    if row >= Row.V0_13_1:
        ratios = [c.int32(n) for n in (b.ne[2], b.ne[2] // a.ne[2], b.ne[3] // a.ne[3])]
        if max(ratios) > INT16_MAX:
            return Abort("ne12 <= INT16_MAX && r2 <= INT16_MAX && r3 <= INT16_MAX")
        name += "_ne12={}_r2={}_r3={}".format(*ratios)
        constants += [int16(FC_MUL_MV + 2 + i, value) for i, value in enumerate(ratios)]
    return Expected(base, name, constants=tuple(constants))
