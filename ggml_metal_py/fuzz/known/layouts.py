"""Tensors whose values lie in memory in another way than a kernel thinks, and supports_op says yes to."""

from ...check.graph import Node
from ...check.known.shared import source, value_bytes
from . import Listed

_MEMORY = ("out-of-bounds", "race", "lockstep-reliance", "uninitialised-read")
"""What checked mode says of accesses to the wrong place."""
_MAX = 0
"""GGML_OP_POOL_MAX."""


def _diagonal_of_apart(node: Node, text: str) -> bool:
    if node.op != "DIAG":
        return False
    a = source(node)
    return a.nb[1] != node.nb[1] or a.nb[0] != 4


def _rotated_columns(node: Node, text: str) -> bool:
    return node.op == "ROPE" and source(node).nb[0] != value_bytes(source(node))


def _product_of_columns(node: Node, text: str) -> bool:
    if node.op not in ("MUL_MAT", "MUL_MAT_ID"):
        return False
    return any(value_bytes(source(node, i)) not in (0, source(node, i).nb[0]) for i in range(2))


def _quantised_into_other_rows(node: Node, text: str) -> bool:
    return node.op == "CPY" and not value_bytes(node) and node.ne[0] != source(node).ne[0] and "cut(" in text


def _attention_by_vectors(node: Node, text: str) -> bool:
    if node.op != "FLASH_ATTN_EXT" or node.src[1] is None or node.src[2] is None:
        return False
    parts = (source(node, 1), source(node, 2))
    return any(value_bytes(part) and part.nb[1] // part.nb[0] % 4 for part in parts)


def _largest_of_padding(node: Node, text: str) -> bool:
    if node.op not in ("POOL_1D", "POOL_2D") or node.params[0] != _MAX:
        return False
    _, *numbers = node.params[:4] if node.op == "POOL_1D" else node.params[:7]
    axes = len(numbers) // 3
    return any(padding >= k for k, padding in zip(numbers[:axes], numbers[2 * axes :], strict=True))


def _pooled_apart(node: Node, text: str) -> bool:
    if node.op != "POOL_1D":
        return False
    a = source(node)
    return any(a.nb[i + 1] != a.nb[i] * a.ne[i] for i in (1, 2))


LISTED: tuple[Listed, ...] = (
    Listed(
        "diag-layout",
        ("wrong", "stray write", "source written", "unwritten memory", "crash", *_MEMORY),
        _diagonal_of_apart,
        "rows of the result are found with the source's nb[1] instead of the result's: it writes beyond the "
        "result when the source is a window; and the source's nb[0] is not looked at",
        "diag(cut(f32(3), [2]))",
    ),
    Listed(
        "attention-row-stride",
        ("wrong", "unwritten memory", *_MEMORY),
        _attention_by_vectors,
        "the kernel for few queries counts in vectors of four: it divides the number of values between rows "
        "by 4, whose remainder is lost",
        "flash_attn_ext(f32(64), cut(f16(65, 2), [64, 2]), f16(64, 2), None, 0.125, 0.0, 0.0)",
        kernels=r"kernel_flash_attn_ext_vec.*",
    ),
    Listed(
        "cpy-quantised-rows",
        ("wrong", "stray write", "source written", "unwritten memory", "crash", *_MEMORY),
        _quantised_into_other_rows,
        "a thread looks up where its row of the source begins in the target and counts blocks on from there, "
        "as if the target's rows lay side by side",
        "cpy(f32(64), cut(q8_0(64, 2), [32, 2]))",
    ),
    Listed(
        "rope-columns",
        ("wrong", "numpy", "unwritten memory", "threads", "order", *_MEMORY),
        _rotated_columns,
        "the kernels step from one value of a pair to the other as if a row's values lay side by side, and "
        "supports_op asks nothing",
        "rope(permute(f32(2, 2), 1, 0, 2, 3), i32(1), 2, 0)",
    ),
    Listed(
        "rope-odd",
        ("wrong", "numpy", "stray write", "source written", "threads", "order", "unwritten memory", *_MEMORY),
        lambda node, text: node.op == "ROPE" and node.ne[0] % 2 == 1,
        "behind the values that are rotated two are copied at a time: of a row of odd length one value too "
        "many, over the first one of the next row or behind the result",
        "rope(f32(3, 5, 2), i32(2), 2, 0)",
    ),
    Listed(
        "rows-of-nothing",
        ("device",),
        lambda node, text: node.src[0] is not None and 0 in source(node).ne and 0 not in node.ne,
        "no more threads than values are dispatched: none for no value",
        "sum(f32(0))",
    ),
    Listed(
        "product-columns",
        ("wrong", "numpy", "unwritten memory", *_MEMORY),
        _product_of_columns,
        "the kernels take the values of a row to lie side by side: nb[0] is not used, or for "
        "the first of several values only; supports_op asks nothing",
        "mul_mat(f32(4), permute(f32(2, 4), 3, 0, 1, 2))",
    ),
    Listed(
        "pool-max-padding",
        ("wrong",),
        _largest_of_padding,
        "the largest of no values, where a window lies in the padding, is -infinity; the CPU backend's is "
        "-FLT_MAX",
        "pool_1d(f32(1), 'max', 1, 1, 1)",
    ),
    Listed(
        "pool-1d-reference",
        ("wrong",),
        _pooled_apart,
        "not the device's: the CPU backend finds row i at i * nb[1], whatever nb[2] and nb[3]",
        "pool_1d(permute(f32(1, 2), 0, 2, 1, 3), 'avg', 1, 1, 0)",
    ),
    Listed(
        "tri-one-value",
        ("abort",),
        lambda node, text: node.op == "TRI" and source(node).nb[0] != 4,
        "supports_op asks for contiguous rows, which any row of one value is; the getter asserts nb[0]",
        "tri(permute(f32(1, 2), 1, 2, 0, 3), 0)",
    ),
)
