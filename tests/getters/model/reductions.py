"""Sums and counts over rows or whole tensors."""

from ..expected import Abort, Expected, int16, rule
from ..rows import Row
from ..tensor_types import TYPES
from ..views import OpView

FC_SUM_ROWS = 1400
SUMS = {"SUM_ROWS": 10, "MEAN": 11}
LANE_FLOATS = 32 * 4
"""A float for each simdgroup that a threadgroup can have."""


def fc_count_equal(row: Row) -> int:
    return 1000 if row < Row.V0_9_8 else 1100


@rule("sum")
def sum(row: Row, op: OpView) -> Expected:
    return Expected(f"kernel_op_sum_{op.src[0].type}")


@rule("sum_rows")
def sum_rows(row: Row, op: OpView) -> Expected | Abort:
    a = op.src[0]
    if row < Row.V0_9_8:
        if a.nb[0] != TYPES[a.type].bytes:
            return Abort("ggml_type_size")
    elif not a.is_contiguous_rows:
        return Abort("ggml_is_contiguous_rows")
    if op.op not in SUMS:
        return Abort("fatal error")
    if row < Row.V0_9_8:
        return Expected(f"kernel_{op.op.lower()}_{a.type}", smem=LANE_FLOATS)
    fours = a.ne[0] % 4 == 0
    base = f"kernel_sum_rows_{a.type}_{op.type}{'_4' if fours else ''}"
    return Expected(
        base,
        f"{base}_op={SUMS[op.op]}",
        smem=LANE_FLOATS * (4 if fours else 1),
        c4=fours,
        constants=(int16(FC_SUM_ROWS, SUMS[op.op]),),
    )


@rule("cumsum_blk")
def cumsum_blk(row: Row, op: OpView) -> Expected | Abort:
    return Expected(f"kernel_cumsum_blk_{op.src[0].type}") if op.op == "CUMSUM" else Abort("CUMSUM")


@rule("cumsum_add")
def cumsum_add(row: Row, op: OpView) -> Expected | Abort:
    return Expected(f"kernel_cumsum_add_{op.src[0].type}") if op.op == "CUMSUM" else Abort("CUMSUM")


@rule("count_equal")
def count_equal(row: Row, op: OpView) -> Expected | Abort:
    a, b = op.src[:2]
    if a.type != b.type:
        return Abort("op->src[1]->type")
    if a.type != "i32" or op.type != "i64":
        return Abort("GGML_TYPE_I")
    if a.nelements >= 2**31:
        return Abort("ggml_nelements")
    nsg = next(n for n in (1, 2, 4, 8, 16, 32) if 32 * n >= a.ne[0] or n == 32)
    base = f"kernel_count_equal_{a.type}"
    constants = (int16(fc_count_equal(row), nsg),)
    return Expected(base, f"{base}_nsg={nsg}", nsg=nsg, smem=32 * 4, constants=constants)


@rule("memset")
def memset(row: Row, op: OpView) -> Expected | Abort:
    return Expected(f"kernel_memset_{op.type}") if op.type == "i64" else Abort("GGML_TYPE_I64")
