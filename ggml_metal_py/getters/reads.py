"""What each getter reads of an op, in any row: sources that must be there, and axes that it divides by."""

from typing import NamedTuple

RESULT = -1
"""Stands for the op's result where sources are numbered."""

INT32 = 2**31 - 128
"""The highest axis that upstream can round up in 32 bits; it rounds up to at most 128."""


class Reads(NamedTuple):
    """What one getter reads. A division by 0 would end the process."""

    sources: tuple[int, ...] = ()
    counted: tuple[int, ...] = ()
    """Sources whose axes it takes as 32-bit numbers, divides by or multiplies. ggml's constructors let an
    axis of 2**32 pass, which such a getter takes for 0."""
    highest: int = INT32
    strided: tuple[int, ...] = ()
    """Sources by whose nb0 it divides."""


_FIRST = """
    unary glu silu_back sum sum_rows argmax cumsum_blk cumsum_add norm norm_scale l2_norm group_norm soft_max
    tri ssm_scan_ssd_mma argsort argsort_merge top_k top_k_merge top_k_radix col2im_1d pool_1d pool_2d upscale
    pad pad_reflect_1d roll timestep_embedding opt_step_adamw opt_step_sgd
"""
_FIRST_TWO = """
    bin set_rows count_equal mul_mm_id im2col conv_2d conv_2d_dw conv_3d conv_transpose_1d conv_transpose_2d
    rope
"""

READS: dict[str, Reads] = {
    **{getter: Reads((0,)) for getter in _FIRST.split()},
    **{getter: Reads((0, 1)) for getter in _FIRST_TWO.split()},
    "diag": Reads((0,), counted=(0,)),
    "solve_tri": Reads((0, 1), counted=(1,), highest=2**28 - 32),
    "mul_mm": Reads((0, 1), counted=(0, 1)),
    "mul_mv": Reads((0, 1), counted=(0, 1)),
    "mul_mv_ext": Reads((0, 1), counted=(0, 1)),
    "mul_mv_id": Reads((0, 1, 2), counted=(0, 1)),
    "flash_attn_ext": Reads((1, 2), counted=(1, 2), strided=(1, 2)),
    "flash_attn_ext_vec": Reads((1, 2), counted=(1, 2), strided=(1, 2)),
    "flash_attn_ext_kv_f16": Reads((1,)),
    "flash_attn_ext_vec_idx": Reads((3,)),
    "lightning_indexer": Reads((1,)),
    "ssm_conv": Reads((0, 1), counted=(1,)),
    "ssm_conv_batched": Reads((0, 1), counted=(1,)),
    "ssm_scan": Reads((0,), counted=(0,)),
    "rwkv": Reads((0,), counted=(0,)),
    "gated_delta_net": Reads((0, 2, 3, 5), counted=(2, 3, RESULT)),
    "dsv4_hc": Reads((0,), counted=(0,)),
}
"""The getters that are not here look at no source."""
