"""How far a result may be from the reference, by op: upstream's own limits (test-backend-ops.cpp)."""

import math

from .graph import Node

DEFAULT = 1e-7
HALVES = 1e-5
"""ggml's CPU backend reads these functions from a table of halves: it is the reference that is off."""
EXACT = 3e-5
"""Of products, convolutions and attention: upstream's 5e-4 is for references that round their sources, and
ours does not."""
_LIMITS = {
    "MUL_MAT": EXACT,
    "MUL_MAT_ID": EXACT,
    "OUT_PROD": EXACT,
    "CONV_2D": EXACT,
    "CONV_3D": EXACT,
    "CONV_TRANSPOSE_2D": EXACT,
    "IM2COL": EXACT,
    "FLASH_ATTN_EXT": EXACT,
    "SOFT_MAX": 1e-6,
    "LIGHTNING_INDEXER": 1e-6,
    "SSM_SCAN": 2e-7,
    "GELU": HALVES,
    "GELU_QUICK": HALVES,
    "GEGLU": HALVES,
    "GEGLU_QUICK": HALVES,
    "ARGMAX": 0.0,
    "COUNT_EQUAL": 0.0,
    "TOP_K": 0.0,
}

# A quantised value that is off by one step, against values that are all over the type's range.
_STEPS = {
    "q4_0": 1 / 8,
    "q4_1": 1 / 8,
    "iq4_nl": 1 / 4,
    "q5_0": 1 / 16,
    "q5_1": 1 / 16,
    "q8_0": 1 / 64,
}


def limit(node: Node) -> float:
    """The largest error of a result of this op."""
    if node.op in ("CPY", "DUP", "CONT", "SET_ROWS", "SET"):
        source = node.src[1 if node.op == "SET_ROWS" else 0]
        if source is not None and source.type == node.type:
            return 0.0
        step = _STEPS.get(node.type, 0.0)
        return max(step**2 / (0.25 * max(math.prod(node.ne), 1)), DEFAULT)
    return _LIMITS.get(node.kind, DEFAULT)
