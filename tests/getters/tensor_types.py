"""ggml's tensor types as facts: name, number, values in a block, bytes of a block, first row."""

from dataclasses import dataclass
from functools import cache

from .rows import Row


@dataclass(frozen=True)
class TensorType:
    name: str
    number: int
    block: int
    bytes: int
    since: Row = Row.V0_9_4


TYPES = {
    known.name: known
    for known in (
        TensorType("f32", 0, 1, 4),
        TensorType("f16", 1, 1, 2),
        TensorType("q4_0", 2, 32, 18),
        TensorType("q4_1", 3, 32, 20),
        TensorType("q5_0", 6, 32, 22),
        TensorType("q5_1", 7, 32, 24),
        TensorType("q8_0", 8, 32, 34),
        TensorType("q8_1", 9, 32, 36),
        TensorType("q2_K", 10, 256, 84),
        TensorType("q3_K", 11, 256, 110),
        TensorType("q4_K", 12, 256, 144),
        TensorType("q5_K", 13, 256, 176),
        TensorType("q6_K", 14, 256, 210),
        TensorType("q8_K", 15, 256, 292),
        TensorType("iq2_xxs", 16, 256, 66),
        TensorType("iq2_xs", 17, 256, 74),
        TensorType("iq3_xxs", 18, 256, 98),
        TensorType("iq1_s", 19, 256, 50),
        TensorType("iq4_nl", 20, 32, 18),
        TensorType("iq3_s", 21, 256, 110),
        TensorType("iq2_s", 22, 256, 82),
        TensorType("iq4_xs", 23, 256, 136),
        TensorType("i8", 24, 1, 1),
        TensorType("i16", 25, 1, 2),
        TensorType("i32", 26, 1, 4),
        TensorType("i64", 27, 1, 8),
        TensorType("f64", 28, 1, 8),
        TensorType("iq1_m", 29, 256, 56),
        TensorType("bf16", 30, 1, 2),
        TensorType("tq1_0", 34, 256, 54),
        TensorType("tq2_0", 35, 256, 66),
        TensorType("mxfp4", 39, 32, 17),
        TensorType("nvfp4", 40, 64, 36, Row.V0_9_8),
        TensorType("q1_0", 41, 128, 18, Row.V0_10_1),
        TensorType("q2_0", 42, 64, 18, Row.V0_20_2),
    )
}
NAMES = {known.number: known.name for known in TYPES.values()}


@cache
def types_of(row: Row) -> tuple[str, ...]:
    """Names of all types that the row knows, as ggml_type_name gives them."""
    return tuple(known.name for known in TYPES.values() if row >= known.since)


def row_bytes(name: str, ne0: int) -> int:
    """Bytes of `ne0` values that lie side by side."""
    return ne0 // TYPES[name].block * TYPES[name].bytes
