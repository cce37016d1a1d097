"""Copies, and what changes a tensor's layout; types without kernels."""

from ..findings import NO_KERNEL, WRONG, Finding
from ..graph import Node
from .shared import WITH_KERNELS, has_views, source

_BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i32": 4}
_KERNELS = {
    "REPEAT": ("f32", "f16", "bf16", "i32", "i16"),
    "GET_ROWS": (*WITH_KERNELS, "i32", "tq2_0"),
    "ROPE": ("f32", "f16"),
    "PAD": ("f32",),
    "ROLL": ("f32",),
    "DIAG": ("f32",),
    "ARGSORT": ("f32",),
    "TOP_K": ("f32",),
    "OPT_STEP_ADAMW": ("f32",),
    "OPT_STEP_SGD": ("f32",),
}


def _into_other_rows(node: Node, text: str) -> bool:
    if node.op != "CPY" or node.type not in _BYTES:
        return False
    a, row = source(node), node.nb[0] * node.ne[0]
    if node.nb[0] != _BYTES[node.type]:
        return True
    return node.nb[1] != row and node.ne[0] != a.ne[0]


def _quantises_columns(node: Node, text: str) -> bool:
    if node.op != "CPY" or node.type in _BYTES:
        return False
    a = source(node)
    return a.nb[0] != _BYTES.get(a.type, 0)


def _copied_as_floats(node: Node, text: str) -> bool:
    return node.op == "CONCAT" and node.type not in ("f32", "i32")


def _type_without_kernel(node: Node, text: str) -> bool:
    return node.op in _KERNELS and source(node).type not in _KERNELS[node.op]


FINDINGS: tuple[Finding, ...] = (
    Finding(
        "cpy-other-rows",
        WRONG,
        _into_other_rows,
        "a thread looks up where its row of the source begins in the target and counts on from there, as if "
        "the target's values and rows lay side by side",
    ),
    Finding(
        "cpy-quantised-columns",
        WRONG,
        _quantises_columns,
        "32 values are quantised from the first one's address on, whatever the source's nb[0]",
    ),
    Finding(
        "concat-types",
        WRONG,
        _copied_as_floats,
        "supports_op takes every type, the kernel copies 4 bytes for each value",
        until="0.20.2",
    ),
    Finding(
        "repeat-bf16",
        NO_KERNEL,
        lambda node, text: node.op == "REPEAT" and node.type == "bf16",
        "supports_op takes every type, there are kernels for four",
        until="0.20.2",
    ),
    Finding(
        "types",
        NO_KERNEL,
        _type_without_kernel,
        "supports_op does not look at the type, and there are kernels for some types only",
    ),
    Finding(
        "pad-columns",
        WRONG,
        lambda node, text: node.op == "PAD" and source(node).nb[0] != 4,
        "the kernel takes the values of a row to lie side by side",
    ),
    Finding(
        "roll-layout",
        WRONG,
        lambda node, text: node.op == "ROLL" and has_views(text),
        "the kernel takes its source to be contiguous, and supports_op asks nothing",
    ),
)
