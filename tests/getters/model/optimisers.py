"""Steps of the optimisers."""

from ..expected import Expected, rule
from ..rows import Row
from ..views import OpView


@rule("opt_step_adamw")
def opt_step_adamw(row: Row, op: OpView) -> Expected:
    return Expected(f"kernel_opt_step_adamw_{op.src[0].type}")


@rule("opt_step_sgd")
def opt_step_sgd(row: Row, op: OpView) -> Expected:
    return Expected(f"kernel_opt_step_sgd_{op.src[0].type}")
