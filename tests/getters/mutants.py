"""Wrong variants of the model's rules: each is a change of one place in a rule's source."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import expected
from .expected import rules
from .rows import Row


@dataclass(frozen=True)
class Mutant:
    """In the module of the getter's rule, `right` becomes `wrong`; to be caught on `row`."""

    getter: str
    right: str
    wrong: str
    row: Row = Row.V0_13_1

    def __str__(self) -> str:
        return f"{self.getter}: {self.wrong}"


MUTANTS = (
    # thresholds
    Mutant("mul_mm", "op.ne[1] % 32 != 0", "op.ne[1] % 64 != 0"),
    Mutant("mul_mv", "ne00 < 32:", "ne00 <= 32:"),
    Mutant("mul_mv", "min(4, ", "min(8, "),
    Mutant("mul_mv", "INT16_MAX = 2**15 - 1", "INT16_MAX = 2**15"),
    Mutant("mul_mv", "in (1, 2, 4, 8, 16)", "in (1, 2, 4, 8)", Row.V0_25_3),
    Mutant("unary", "SMALL = 32768", "SMALL = 32769"),
    Mutant("bin", "ROW_LIMIT = 65536", "ROW_LIMIT = 65537"),
    Mutant("rwkv", "channels // heads != 64", "channels // heads not in (32, 64)"),
    Mutant("flash_attn_ext", "mask.ne[1] % 8 != 0", "mask.ne[1] % 4 != 0"),
    # suffixes and names
    Mutant("mul_mv", '"" if ne00 % 4 else "_4"', '"" if ne00 % 8 else "_4"'),
    Mutant("ssm_conv_batched", '_batched" + ("" if width % 4 else "_4")', '_batched"'),
    Mutant("flash_attn_ext_vec", "_sink={", "_sinks={"),
    Mutant("argsort", '1: "desc"', '1: "asc"'),
    # threadgroup memory
    Mutant("mul_mm", "8192 if bc_out else 6144", "8192"),
    Mutant("mul_mm_id_map0", "ne02 * ne20 * 2", "ne02 * ne20 * 4"),
    Mutant("ssm_scan", "(32 if row < Row.V0_9_5 else 34)", "32"),
    Mutant("solve_tri", "c.pad(n, 32)", "n"),
    Mutant("argmax", "32 * (4 + 4)", "32 * 4"),
    # rows and simdgroups
    Mutant("mul_mm", "nr0=64, nr1=32", "nr0=32, nr1=64"),
    Mutant("mul_mv", '"q8_0": Shape(4, 2, 256)', '"q8_0": Shape(2, 2, 256)'),
    Mutant("mul_mv", "row < Row.V0_9_8", "row <= Row.V0_9_8", Row.V0_9_8),
    Mutant("mul_mm", "row < Row.V0_10_1", "row <= Row.V0_10_1", Row.V0_10_1),
    Mutant("gated_delta_net", "nsg = ne20 // 32\n", "nsg = max(ne20 // 32, 2)\n"),
    # constants
    Mutant("mul_mm", "int16(FC_MUL_MM + 2 + i", "int16(FC_MUL_MM + 3 + i"),
    Mutant("mul_mv_id", "for i in (2, 3, 4)", "for i in (2, 3)"),
    Mutant("topk_moe", "int32(FC_TOPK_MOE + 2", "int32(FC_TOPK_MOE + 3", Row.V0_25_3),
    Mutant("gated_delta_net", "row < Row.V0_15_3", "row <= Row.V0_15_3", Row.V0_15_3),
    Mutant("rope", "row < Row.V0_15_3", "row <= Row.V0_15_3", Row.V0_15_3),
    Mutant("bin", "boolean(FC_BIN + 3, column_broadcast)", "boolean(FC_BIN + 3, not column_broadcast)"),
    # parameters and aborts
    Mutant("unary", "cnt=one_row,", "cnt=fours,"),
    Mutant("norm", "not op.src[0].is_contiguous_rows", "not op.src[0].is_contiguous"),
)


@contextmanager
def in_place(mutant: Mutant) -> Iterator[None]:
    """The mutant's rule instead of the right one."""
    known = rules()
    right = known[mutant.getter]
    module = sys.modules[right.__module__]
    assert module.__file__ is not None
    source = Path(module.__file__).read_text(encoding="utf-8")
    assert source.count(mutant.right) >= 1, f"no rule says {mutant.right!r}"
    code = compile(source.replace(mutant.right, mutant.wrong), module.__file__, "exec")
    expected._rules = {}
    try:
        exec(code, {"__name__": module.__name__, "__package__": module.__package__})
        wrong = expected._rules[mutant.getter]
    finally:
        expected._rules = known
    known[mutant.getter] = wrong
    try:
        yield
    finally:
        known[mutant.getter] = right
