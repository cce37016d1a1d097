"""The list of findings in upstream: see findings.py. Each was read in the sources of the default row."""

from .findings import ABORT, DEVICE, NO_KERNEL, WRONG, Finding
from .graph import Node, Shape


def _source(node: Node, index: int = 0) -> Shape:
    source = node.src[index]
    assert source is not None
    return source


def _has_views(text: str) -> bool:
    return "cut(" in text or "permute(" in text


def _of_halves(node: Node, text: str) -> bool:
    return node.op in ("NORM", "RMS_NORM", "GROUP_NORM", "SOFT_MAX") and _source(node).type != "f32"


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
    return node.op in ("SUM", "SUM_ROWS", "MEAN", "L2_NORM", "CUMSUM") and _source(node).type != "f32"


# ---- matrices

_TILED = frozenset(
    (
        *(
            "f32",
            "f16",
            "bf16",
            "q1_0",
            "q2_0",
            "q4_0",
            "q4_1",
            "q5_0",
            "q5_1",
            "q8_0",
            "mxfp4",
            "iq4_nl",
            "iq4_xs",
        ),
        *("q2_K", "q3_K", "q4_K", "q5_K", "q6_K"),
        *("iq2_xxs", "iq2_xs", "iq2_s", "iq3_xxs", "iq3_s", "iq1_s", "iq1_m"),
    )
)
_SORTED = (1, 2, 4, 5, 6, 8, 10, 16, 22)


def _by_tiles(node: Node) -> bool:
    a, b = _source(node), _source(node, 1)
    if node.op == "MUL_MAT_ID":
        return a.ne[0] >= 64 and _source(node, 2).ne[1] >= 32
    return a.ne[0] >= 64 and b.ne[1] > 8


def _product_without_kernel(node: Node, text: str) -> bool:
    if node.op not in ("MUL_MAT", "MUL_MAT_ID") or _source(node).type == "tq2_0":
        return False
    a, b = _source(node).type, _source(node, 1).type
    if _by_tiles(node):
        unsorted = node.op == "MUL_MAT_ID" and _source(node, 2).ne[0] not in _SORTED
        return unsorted or a not in _TILED or b not in ("f32", "f16") or (a, b) == ("bf16", "f16")
    same = a == b and a in ("f16", "bf16") and node.op == "MUL_MAT"
    return a in _TILED and b != "f32" and not same


def _product_refused(node: Node, text: str) -> bool:
    if node.op not in ("MUL_MAT", "MUL_MAT_ID") or _by_tiles(node):
        return False
    return _source(node).type not in (*_TILED, "tq2_0")


def _tq2_0(node: Node, text: str) -> bool:
    if node.op == "GET_ROWS":
        return _source(node).type == "tq2_0"
    return node.op in ("MUL_MAT", "MUL_MAT_ID") and _source(node).type == "tq2_0" and _by_tiles(node)


def _tq2_0_refused(node: Node, text: str) -> bool:
    return node.op in ("MUL_MAT", "MUL_MAT_ID") and _source(node).type == "tq2_0" and not _by_tiles(node)


# ---- copies


def _into_other_rows(node: Node, text: str) -> bool:
    if node.op != "CPY" or node.type not in _BYTES:
        return False
    a, row = _source(node), node.nb[0] * node.ne[0]
    if node.nb[0] != _BYTES[node.type]:
        return True
    return node.nb[1] != row and node.ne[0] != a.ne[0]


def _quantises_columns(node: Node, text: str) -> bool:
    if node.op != "CPY" or node.type in _BYTES:
        return False
    a = _source(node)
    return a.nb[0] != _BYTES.get(a.type, 0)


def _copied_as_floats(node: Node, text: str) -> bool:
    return node.op == "CONCAT" and node.type not in ("f32", "i32")


_KERNELS = {
    "REPEAT": ("f32", "f16", "bf16", "i32", "i16"),
    "GET_ROWS": (*_TILED, "i32", "tq2_0"),
    "ROPE": ("f32", "f16"),
    "PAD": ("f32",),
    "ROLL": ("f32",),
    "DIAG": ("f32",),
    "ARGSORT": ("f32",),
    "TOP_K": ("f32",),
    "OPT_STEP_ADAMW": ("f32",),
    "OPT_STEP_SGD": ("f32",),
}


def _type_without_kernel(node: Node, text: str) -> bool:
    return node.op in _KERNELS and _source(node).type not in _KERNELS[node.op]


_BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i32": 4}


# ---- attention

_HEADS = frozenset((n, n) for n in (32, 40, 48, 64, 72, 80, 96, 112, 128, 192, 256, 512)) | {
    (192, 128),
    (320, 256),
    (576, 512),
}


def _heads(node: Node) -> tuple[int, int]:
    return _source(node, 1).ne[0], _source(node, 2).ne[0]


def _quantised(node: Node) -> bool:
    return _source(node, 1).type.startswith("q")


def _head_without_kernel(node: Node, text: str) -> bool:
    return node.op == "FLASH_ATTN_EXT" and _heads(node) not in _HEADS


def _half_a_step(node: Node, text: str) -> bool:
    return node.op == "FLASH_ATTN_EXT" and _quantised(node) and _heads(node)[0] % 16 == 8


def _too_much_memory(node: Node, text: str) -> bool:
    if node.op != "FLASH_ATTN_EXT" or not _quantised(node):
        return False
    return _heads(node)[0] >= 512 and _source(node).ne[1] >= 20


FINDINGS: tuple[Finding, ...] = (
    Finding(
        "gelu-infinity",
        WRONG,
        lambda node, text: node.kind == "GELU" and "special" in text,
        "gelu multiplies x by 1 + tanh(x): -inf * 0 is NaN, where the CPU says 0",
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
        lambda node, text: node.op == "GROUP_NORM" and _source(node).nb[2] < _source(node).nb[1],
        "supports_op asks for contiguous rows, the getter asserts a contiguous tensor",
    ),
    Finding(
        "reduction-types",
        NO_KERNEL,
        _reductions,
        "supports_op does not look at the type, and there are kernels for f32 only",
    ),
    Finding(
        "glu-one-value",
        DEVICE,
        lambda node, text: node.op == "GLU" and _source(node).ne[0] == 1,
        "GLU is dispatched with half as many threads as src0 has values in a row: none for one value",
    ),
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
        "types",
        NO_KERNEL,
        _type_without_kernel,
        "supports_op does not look at the type, and there are kernels for some types only",
    ),
    Finding(
        "im2col-window",
        ABORT,
        lambda node, text: node.op == "IM2COL" and _source(node).ne[0] * _source(node).ne[1] > 1024,
        "every value of a window gets a thread of a threadgroup, and supports_op does not count them",
        until="0.20.2",
    ),
    Finding(
        "not-contiguous",
        ABORT,
        lambda node, text: node.op in ("CONV_TRANSPOSE_1D", "POOL_2D") and _has_views(text),
        "supports_op asks nothing, the getter asserts a contiguous tensor",
    ),
    Finding(
        "pad-columns",
        WRONG,
        lambda node, text: node.op == "PAD" and _source(node).nb[0] != 4,
        "the kernel takes the values of a row to lie side by side",
    ),
    Finding(
        "roll-layout",
        WRONG,
        lambda node, text: node.op == "ROLL" and _has_views(text),
        "the kernel takes its source to be contiguous, and supports_op asks nothing",
    ),
    Finding(
        "sort-layout",
        ABORT,
        lambda node, text: node.op in ("ARGSORT", "TOP_K") and _source(node).nb[0] != 4,
        "supports_op asks nothing, the encoder asserts contiguous rows",
    ),
    Finding(
        "ssm-conv-layout",
        ABORT,
        lambda node, text: node.op == "SSM_CONV" and _has_views(text),
        "supports_op asks nothing, the getter asserts a contiguous tensor",
    ),
    Finding(
        "rwkv-heads",
        ABORT,
        lambda node, text: node.op in ("RWKV_WKV6", "RWKV_WKV7") and _source(node).ne[0] != 64,
        "supports_op asks nothing, the getter asserts heads of 64 values",
    ),
    Finding(
        "delta-net-heads",
        NO_KERNEL,
        lambda node, text: node.op == "GATED_DELTA_NET" and _source(node, 2).ne[0] not in (32, 64, 128),
        "supports_op takes every multiple of 32, there are kernels for 32, 64 and 128",
    ),
    Finding(
        "conv-transpose-2d-batch",
        WRONG,
        lambda node, text: node.op == "CONV_TRANSPOSE_2D" and node.ne[3] > 1,
        "neither encoder nor kernel knows ne[3]: all but the first image stay unwritten (the CPU's are zero)",
    ),
    Finding(
        "solve-tri-unwritten",
        WRONG,
        lambda node, text: node.op == "SOLVE_TRI" and node.ne[1] > 1 and "on_zeros(" not in text,
        "values of the result that are not computed yet are multiplied by 0 instead of left out: NaN or "
        "infinity that the memory held before spreads over the result",
    ),
    Finding(
        "repeat-bf16",
        NO_KERNEL,
        lambda node, text: node.op == "REPEAT" and node.type == "bf16",
        "supports_op takes every type, there are kernels for four",
        until="0.20.2",
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
)
