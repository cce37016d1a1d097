"""Threadgroup memory of a length that Metal does not take.

Metal's documentation of setThreadgroupMemoryLength:atIndex: asks for a multiple of 16, and its validation
layer ends the program otherwise. Upstream rounds up in some places, with a comment, and not in others.
"""

from . import Listed

_THREADGROUP = ("threadgroup", "threadgroup-length")
"""In plain and in checked mode."""


LISTED: tuple[Listed, ...] = (
    Listed(
        "sum-threadgroup-memory",
        _THREADGROUP,
        lambda node, text: node.op == "SUM",
        "the encoder asks for 4 bytes for each simdgroup, without rounding up to a multiple of 16",
        "sum(f32(1))",
    ),
    Listed(
        "experts-threadgroup-memory",
        _THREADGROUP,
        lambda node, text: node.op == "MUL_MAT_ID",
        "the kernel that sorts tokens gets 2 bytes for each expert and each one of a token, not rounded up",
        "mul_mat_id(f32(64, 1), f32(64, 1, 32), i32(1, 32, fill='distinct', high=1))",
    ),
    Listed(
        "ssm-scan-threadgroup-memory",
        _THREADGROUP,
        lambda node, text: node.op == "SSM_SCAN",
        "the getter asks for 34 floats for each simdgroup, not rounded up",
        "ssm_scan(f32(16, 1, 1, 2), f32(1, 1, 1, 1), f32(1, 1, 1, low=-1.0, high=2.0), "
        "f32(16, 1, low=-2.0, high=-0.1), f32(16, 1, 1, 1), f32(16, 1, 1, 1), "
        "i32(1, fill='distinct', high=2))",
    ),
)
