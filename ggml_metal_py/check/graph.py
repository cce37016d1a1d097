"""The nodes of a built graph as plain values: what a finding's rule may look at."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..tensor import Context

NOTHING = ("NONE", "VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE")
"""Ops that compute nothing."""


@dataclass(frozen=True)
class Shape:
    """A tensor's type by ggml's name, ne and nb innermost first."""

    type: str
    ne: tuple[int, int, int, int]
    nb: tuple[int, int, int, int]


@dataclass(frozen=True)
class Node(Shape):
    """A tensor that an op computes."""

    op: str
    """`MUL_MAT`."""
    kind: str
    """As `op`, but of functions of one value and gated ones which one: `GELU`."""
    params: tuple[int, ...]
    """op_params as int32."""
    src: tuple[Shape | None, ...]


def computed(context: Context) -> Iterator[Node]:
    """Every tensor of the context that an op computes, in the order in which they were made."""
    native = context._native
    for tensor in context._tensors():
        name = native.op_names[tensor.op]
        if name not in NOTHING:
            sources = [tensor.src[i] for i in range(native.GGML_MAX_SRC)]
            yield Node(
                **_shape(native, tensor),
                op=name,
                kind=native.text(native.ggml_op_desc(tensor)),
                params=tuple(tensor.op_params),
                src=tuple(Shape(**_shape(native, source)) if source else None for source in sources),
            )


def _shape(native: Any, tensor: Any) -> dict[str, Any]:
    return {
        "type": native.text(native.ggml_type_name(tensor.type)),
        "ne": tuple(tensor.ne),
        "nb": tuple(tensor.nb),
    }
