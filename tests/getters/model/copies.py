"""Values moved from here to there: the type, or the pair of types, is all that counts."""

from ..expected import Expected, rule
from ..rows import Row
from ..views import OpView


@rule("cpy")
def cpy(row: Row, source: str, target: str) -> Expected:
    return Expected(f"kernel_cpy_{source}_{target}")


@rule("get_rows")
def get_rows(row: Row, source: str) -> Expected:
    return Expected(f"kernel_get_rows_{source}")


@rule("set_rows")
def set_rows(row: Row, op: OpView) -> Expected:
    values, indices = op.src[:2]
    if row >= Row.V0_20_2:
        return Expected(f"kernel_set_rows_{values.type}_{indices.type}_{op.type}")
    return Expected(f"kernel_set_rows_{op.type}_{indices.type}")


@rule("repeat")
def repeat(row: Row, source: str) -> Expected:
    return Expected(f"kernel_repeat_{source}")


@rule("concat")
def concat(row: Row, source: str) -> Expected:
    return Expected(f"kernel_concat_{source}")
