"""add, sub, mul, div: two tensors, element by element, up to eight of them fused."""

from .. import c
from ..expected import Abort, Expected, boolean, int16, rule
from ..rows import Row
from ..views import OpView

FC_BIN = 1300
NUMBERS = {"ADD": 0, "SUB": 1, "MUL": 2, "DIV": 3}
ROW_LIMIT = 65536
"""A broadcast row is a special case only for results with fewer elements."""


@rule("bin")
def bin(row: Row, op: OpView, n_fuse: int) -> Expected | Abort:
    a, b = op.src[:2]
    fours = a.ne[0] % 4 == 0 and b.ne[0] % 4 == 0
    if op.op not in NUMBERS:
        return Abort("fatal error")
    if row < Row.V0_9_8:
        # These getters are told whether src1 is one row; ggml-metal-ops.cpp of the row says when it is.
        # It holds lengths in 32 bits.
        one_row = b.nelements == c.int32(b.ne[0]) and b.is_contiguous and fours
        kind = "_row_c4" if one_row else ""
        return Expected(f"kernel_{op.op.lower()}{kind}_fuse_{n_fuse}")
    row_broadcast = a.is_contiguous and b.is_contiguous and b.nrows == 1 and op.nelements < ROW_LIMIT
    column_broadcast = a.ne[0] != b.ne[0]
    number = NUMBERS[op.op]
    base = f"kernel_bin_fuse_{a.type}_{b.type}_{op.type}{'_4' if fours else ''}"
    return Expected(
        base,
        f"{base}_op={number}_nf={n_fuse}_rb={row_broadcast:d}_cb={column_broadcast:d}",
        c4=fours,
        cnt=row_broadcast,
        constants=(
            int16(FC_BIN, number),
            int16(FC_BIN + 1, n_fuse),
            boolean(FC_BIN + 2, row_broadcast),
            boolean(FC_BIN + 3, column_broadcast),
        ),
    )


@rule("bin_one")
def bin_one(row: Row, op: str) -> Expected | Abort:
    if op not in NUMBERS:
        return Abort("fatal error")
    number = NUMBERS[op]
    base = "kernel_bin_fuse_f32_f32_f32"
    # FC_BIN + 3, whether columns are broadcast, stays unset.
    constants = (int16(FC_BIN, number), int16(FC_BIN + 1, 1), boolean(FC_BIN + 2, False))
    return Expected(base, f"{base}_op={number}_nf=1", constants=constants)


@rule("base")
def base(row: Row, op: str) -> Expected | Abort:
    known = {"ADD_ID"} if row >= Row.V0_15_3 else {"ADD_ID", "CONCAT"}
    return Expected(f"kernel_{op.lower()}") if op in known else Abort("fatal error")
