"""Convolutions, sequences, systems of equations."""

from ..findings import ABORT, NO_KERNEL, WRONG, Finding
from ..graph import Node
from .shared import has_views, source


def _large_window(node: Node, text: str) -> bool:
    if node.op != "IM2COL":
        return False
    width, height = source(node).ne[:2]
    in_two_dimensions = node.params[6] == 1
    return width * (height if in_two_dimensions else 1) > 1024


FINDINGS: tuple[Finding, ...] = (
    Finding(
        "im2col-window",
        ABORT,
        _large_window,
        "every value of a window gets a thread of a threadgroup, and supports_op does not count them",
        until="0.20.2",
    ),
    Finding(
        "not-contiguous",
        ABORT,
        lambda node, text: node.op in ("CONV_TRANSPOSE_1D", "POOL_2D") and has_views(text),
        "supports_op asks nothing, the getter asserts a contiguous tensor",
    ),
    Finding(
        "conv-transpose-2d-batch",
        WRONG,
        lambda node, text: node.op == "CONV_TRANSPOSE_2D" and node.ne[3] > 1,
        "neither encoder nor kernel knows ne[3]: all but the first image stay unwritten (the CPU's are zero)",
    ),
    Finding(
        "ssm-conv-layout",
        ABORT,
        lambda node, text: node.op == "SSM_CONV" and has_views(text),
        "supports_op asks nothing, the getter asserts a contiguous tensor",
    ),
    Finding(
        "rwkv-heads",
        ABORT,
        lambda node, text: node.op in ("RWKV_WKV6", "RWKV_WKV7") and source(node).ne[0] != 64,
        "supports_op asks nothing, the getter asserts heads of 64 values",
    ),
    Finding(
        "delta-net-heads",
        NO_KERNEL,
        lambda node, text: node.op == "GATED_DELTA_NET" and source(node, 2).ne[0] not in (32, 64, 128),
        "supports_op takes every multiple of 32, there are kernels for 32, 64 and 128",
    ),
    Finding(
        "solve-tri-unwritten",
        WRONG,
        lambda node, text: node.op == "SOLVE_TRI" and node.ne[1] > 1 and "on_zeros(" not in text,
        "values of the result that are not computed yet are multiplied by 0 instead of left out: NaN or "
        "infinity that the memory held before spreads over the result",
    ),
)
