"""Functions of one value, norms, and what goes through rows."""

from ..findings import ABORT, DEVICE, NO_KERNEL, WRONG, Finding
from ..graph import Node
from .shared import is_contiguous, source


def _of_halves(node: Node, text: str) -> bool:
    return node.op in ("NORM", "RMS_NORM", "GROUP_NORM", "SOFT_MAX") and source(node).type != "f32"


def _last_simdgroup(node: Node, text: str) -> bool:
    if node.op not in ("NORM", "RMS_NORM") or node.type != "f32":
        return False
    n = node.ne[0]
    threads = min(n // 4 if n % 4 == 0 else n, 1024)
    return 0 < threads % 32 < -(-threads // 32)


def _group_norm(node: Node, text: str) -> bool:
    groups = node.params[0]
    return node.op == "GROUP_NORM" and (node.ne[2] % groups != 0 or node.ne[3] > 1)


def _reductions(node: Node, text: str) -> bool:
    return node.op in ("SUM", "SUM_ROWS", "MEAN", "L2_NORM", "CUMSUM") and source(node).type != "f32"


FINDINGS: tuple[Finding, ...] = (
    Finding(
        "gelu-infinity",
        WRONG,
        lambda node, text: node.kind == "GELU" and "special" in text,
        "gelu multiplies x by 1 + tanh(x): -inf * 0 is NaN, where the CPU says 0",
    ),
    Finding(
        "glu-one-value",
        DEVICE,
        lambda node, text: node.op == "GLU" and source(node).ne[0] == 1,
        "GLU is dispatched with half as many threads as src0 has values in a row: none for one value",
    ),
    Finding(
        "f16-as-f32",
        WRONG,
        _of_halves,
        "the getter does not look at the type: a kernel for f32 reads and writes twice the bytes there are",
    ),
    Finding(
        "norm-last-simdgroup",
        WRONG,
        _last_simdgroup,
        "no more threads than values are dispatched; when the last simdgroup has fewer lanes than the "
        "threadgroup has simdgroups, its simd_sum over the partial sums leaves some out",
        until="0.20.2",
    ),
    Finding(
        "group-norm-groups",
        WRONG,
        _group_norm,
        "the kernel takes every group to have as many values as the first one, and knows no ne[3]",
    ),
    Finding(
        "group-norm-layout",
        ABORT,
        lambda node, text: node.op == "GROUP_NORM" and not is_contiguous(source(node)),
        "supports_op asks for contiguous rows, the getter asserts a contiguous tensor",
    ),
    Finding(
        "reduction-types",
        NO_KERNEL,
        _reductions,
        "supports_op does not look at the type, and there are kernels for f32 only",
    ),
    Finding(
        "sort-layout",
        ABORT,
        lambda node, text: node.op in ("ARGSORT", "TOP_K") and source(node).nb[0] != 4,
        "supports_op asks nothing, the encoder asserts contiguous rows",
    ),
)
