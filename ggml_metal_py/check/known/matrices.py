"""Products and attention."""

from ..findings import ABORT, DEVICE, NO_KERNEL, WRONG, Finding
from ..graph import Node
from .shared import WITH_KERNELS, source

_SORTED = (1, 2, 4, 5, 6, 8, 10, 16, 22)
"""Experts for a token, by whose number tokens can be sorted."""

_HEADS = frozenset((n, n) for n in (32, 40, 48, 64, 72, 80, 96, 112, 128, 192, 256, 512)) | {
    (192, 128),
    (320, 256),
    (576, 512),
}


def _by_tiles(node: Node) -> bool:
    a, b = source(node), source(node, 1)
    if node.op == "MUL_MAT_ID":
        return a.ne[0] >= 64 and source(node, 2).ne[1] >= 32
    return a.ne[0] >= 64 and b.ne[1] > 8 and not any(part.nb[0] > part.nb[1] for part in (a, b))


def _product_without_kernel(node: Node, text: str) -> bool:
    if node.op not in ("MUL_MAT", "MUL_MAT_ID") or source(node).type == "tq2_0":
        return False
    a, b = source(node).type, source(node, 1).type
    if _by_tiles(node):
        unsorted = node.op == "MUL_MAT_ID" and source(node, 2).ne[0] not in _SORTED
        return unsorted or a not in WITH_KERNELS or b not in ("f32", "f16") or (a, b) == ("bf16", "f16")
    same = a == b and a in ("f16", "bf16") and node.op == "MUL_MAT"
    return a in WITH_KERNELS and b != "f32" and not same


def _product_refused(node: Node, text: str) -> bool:
    if node.op not in ("MUL_MAT", "MUL_MAT_ID") or _by_tiles(node):
        return False
    return source(node).type not in (*WITH_KERNELS, "tq2_0")


def _tq2_0(node: Node, text: str) -> bool:
    if node.op == "GET_ROWS":
        return source(node).type == "tq2_0"
    return node.op in ("MUL_MAT", "MUL_MAT_ID") and source(node).type == "tq2_0" and _by_tiles(node)


def _tq2_0_refused(node: Node, text: str) -> bool:
    return node.op in ("MUL_MAT", "MUL_MAT_ID") and source(node).type == "tq2_0" and not _by_tiles(node)


def _heads(node: Node) -> tuple[int, int]:
    return source(node, 1).ne[0], source(node, 2).ne[0]


def _quantised(node: Node) -> bool:
    return source(node, 1).type.startswith("q")


def _head_without_kernel(node: Node, text: str) -> bool:
    return node.op == "FLASH_ATTN_EXT" and _heads(node) not in _HEADS


def _half_a_step(node: Node, text: str) -> bool:
    return node.op == "FLASH_ATTN_EXT" and _quantised(node) and _heads(node)[0] % 16 == 8


def _too_much_memory(node: Node, text: str) -> bool:
    if node.op != "FLASH_ATTN_EXT" or not _quantised(node):
        return False
    return _heads(node)[0] >= 512 and source(node).ne[1] >= 20


FINDINGS: tuple[Finding, ...] = (
    Finding(
        "product-types",
        NO_KERNEL,
        _product_without_kernel,
        "supports_op refuses nvfp4 only; kernels are missing for other types of src1, and for some numbers "
        "of experts a token",
    ),
    Finding(
        "product-refused",
        ABORT,
        _product_refused,
        "supports_op refuses nvfp4 only; the getter for vectors aborts with 'not implemented'",
    ),
    Finding(
        "tq2_0",
        NO_KERNEL,
        _tq2_0,
        "supports_op refuses nvfp4 only, and there are no kernels for this type",
        until="0.20.2",
    ),
    Finding(
        "tq2_0-refused",
        ABORT,
        _tq2_0_refused,
        "supports_op refuses nvfp4 only; the getter for vectors aborts with 'not implemented'",
        until="0.20.2",
    ),
    Finding(
        "attention-heads",
        NO_KERNEL,
        _head_without_kernel,
        "supports_op looks at the length of the queries only, not at that of the values",
    ),
    Finding(
        "attention-40-72",
        WRONG,
        _half_a_step,
        "keys and values are unpacked 16 at a time: the last 8 of 40 or 72 are left out of the products, and "
        "those of the result are never computed",
    ),
    Finding(
        "attention-memory",
        DEVICE,
        _too_much_memory,
        "with 8 simdgroups, heads of 512 values and quantised keys need 36 KiB of threadgroup memory and "
        "more; nothing checks that before the dispatch",
    ),
)
