"""What rules of several families look at."""

from ..graph import Node, Shape

WITH_KERNELS = frozenset(
    (
        *("f32", "f16", "bf16", "q1_0", "q2_0", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "mxfp4"),
        *("q2_K", "q3_K", "q4_K", "q5_K", "q6_K", "iq4_nl", "iq4_xs"),
        *("iq2_xxs", "iq2_xs", "iq2_s", "iq3_xxs", "iq3_s", "iq1_s", "iq1_m"),
    )
)
"""Types of weights that there are kernels for, in the rows that know the type."""


def source(node: Node, index: int = 0) -> Shape:
    """A source that the op has."""
    found = node.src[index]
    assert found is not None
    return found


_BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i32": 4, "i64": 8, "i16": 2, "i8": 1}


def value_bytes(shape: Shape) -> int:
    """Bytes of one value; 0 for types that are stored in blocks."""
    return _BYTES.get(shape.type, 0)


def is_contiguous(shape: Shape) -> bool:
    """As ggml_is_contiguous, for types that are not stored in blocks."""
    stride = value_bytes(shape)
    for n, nb in zip(shape.ne, shape.nb, strict=True):
        if n != 1 and nb != stride:
            return False
        stride *= n
    return True


def has_views(text: str) -> bool:
    """Whether a case's sources are windows of others, or in another order."""
    return "cut(" in text or "permute(" in text
