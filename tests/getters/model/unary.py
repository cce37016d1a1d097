"""Functions of one value: activations and their like, gated ones (GLU) included."""

from ..expected import Abort, Expected, boolean, int16, rule
from ..rows import Row
from ..views import OpView

FC_UNARY = 1200
SMALL = 32768
"""Contiguous tensors with fewer elements are treated as one row."""

_OPS = ("SCALE", "FILL", "CLAMP", "SQR", "SQRT", "SIN", "COS", "LOG", "LEAKY_RELU")
_FUNCTIONS = (
    *("TANH", "RELU", "SIGMOID", "GELU", "GELU_ERF", "GELU_QUICK", "SILU", "ELU", "NEG", "ABS", "SGN"),
    *("STEP", "HARDSWISH", "HARDSIGMOID", "EXP", "SOFTPLUS", "EXPM1"),
    *("FLOOR", "CEIL", "ROUND", "TRUNC", "XIELU"),
)
NUMBERS = {name: 10 + i for i, name in enumerate(_OPS)} | {name: 100 + i for i, name in enumerate(_FUNCTIONS)}
SINCE = dict.fromkeys(("FILL", "SOFTPLUS", "EXPM1"), Row.V0_9_5) | dict.fromkeys(
    ("FLOOR", "CEIL", "ROUND", "TRUNC", "XIELU"), Row.V0_10_1
)
"""The others are as old as the getter."""


def known_unary(row: Row, name: str) -> bool:
    return name in NUMBERS and row >= SINCE.get(name, Row.V0_9_4)


@rule("unary")
def unary(row: Row, op: OpView) -> Expected | Abort:
    a, name = op.src[0], op.desc
    if row < Row.V0_9_8 and not a.is_contiguous:
        return Abort("ggml_is_contiguous")
    if not known_unary(row, name):
        return Abort("fatal error")
    if row < Row.V0_9_8:
        return Expected(f"kernel_{name.lower()}_{a.type}{'_4' if op.nelements % 4 == 0 else ''}")
    fours = a.ne[0] % 4 == 0
    one_row = a.is_contiguous and op.nelements < SMALL
    base = f"kernel_unary_{a.type}_{op.type}{'_4' if fours else ''}"
    return Expected(
        base,
        f"{base}_op={NUMBERS[name]}_cnt={one_row:d}",
        c4=fours,
        cnt=one_row,
        constants=(int16(FC_UNARY, NUMBERS[name]), boolean(FC_UNARY + 1, one_row)),
    )


GATED = ("REGLU", "GEGLU", "SWIGLU", "SWIGLU_OAI", "GEGLU_ERF", "GEGLU_QUICK")


@rule("glu")
def glu(row: Row, op: OpView) -> Expected | Abort:
    a = op.src[0]
    if not a.is_contiguous_1(row):
        return Abort("ggml_is_contiguous_1")
    if op.desc in GATED or (op.desc == "SWIGLU_CLAMP" and row >= Row.V0_25_3):
        return Expected(f"kernel_{op.desc.lower()}_{a.type}")
    return Abort("fatal error")


@rule("silu_back")
def silu_back(row: Row, op: OpView) -> Expected:
    return Expected(f"kernel_silu_back_{op.src[0].type}")


@rule("snake")
def snake(row: Row, type: str) -> Expected | Abort:
    return Expected(f"kernel_snake_{type}") if type in ("f32", "f16", "bf16") else Abort("GGML_TYPE_F32")
