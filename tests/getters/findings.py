"""What upstream's getters do that is not right or not safe, and why: properties know it, tests show it."""

from .rows import Row

METAL_ALIGNMENT = 16
"""Metal wants lengths of threadgroup memory to be multiples of it."""

# Getters whose smem can exceed the device's: what keeps it from being dispatched.
OVERSIZED = {
    "mul_mm_id_map0": "ggml_metal_op_mul_mat_id asserts that it fits, after supports_op has accepted the op",
    "ssm_scan": "ggml_metal_op_ssm_scan asserts that the state has at most 1024 values",
    "solve_tri": "nothing: matrices of more than 1024 rows are accepted and dispatched",
}

# Getters whose smem need not be a multiple of 16, before this row.
UNALIGNED = {"mul_mm_id_map0": Row.V0_25_3, "ssm_scan": Row.V0_25_3}

# Pipelines that keep the parameters of their first call, as their names do not tell the difference.
KEPT = {(Row.V0_9_4, "mul_mm_id_map0")}
