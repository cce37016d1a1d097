"""What checked mode sees: accesses beyond tensors, without order, at addresses that do not suit their type.

Metal's specification asks that a vector or matrix lies at a multiple of its alignment ("Size and alignment of
data types"), and orders accesses to threadgroup memory by barriers with mem_threadgroup only.
"""

from collections.abc import Callable

from ...check.graph import Node
from ...check.known import FINDINGS
from ...check.known.shared import has_views, source
from . import Listed

_READS = r"\) reads "
_NO_WRITE_OUTSIDE = r"\A(?!.*, which is outside .*\n.*\) writes )"
"""Of the texts of reports: what an access does."""


def _op(*names: str) -> Callable[[Node, str], bool]:
    return lambda node, text: node.op in names


def _padded_heads(node: Node, text: str) -> bool:
    return node.op == "FLASH_ATTN_EXT" and source(node, 2).ne[0] % 64 != 0


def _listed_by_check(name: str, example: str, kernels: str) -> Listed:
    """A mistake that makes kernels find wrong places, and so has wrong results, too."""
    (found,) = (finding for finding in FINDINGS if finding.name == name)
    kinds = ("misaligned", "out-of-bounds", "race", "uninitialised-read")
    return Listed(
        name, kinds, found.concerns, found.reading, example, found.since, found.until, kernels=kernels
    )


LISTED: tuple[Listed, ...] = (
    _listed_by_check(
        "f16-as-f32", "norm(f16(64, 3), 1e-05)", r"kernel_(norm|rms_norm|group_norm|soft_max).*"
    ),
    _listed_by_check("concat-types", "concat(i8(32, 3), i8(32, 3), 1)", "kernel_concat"),
    _listed_by_check("cpy-other-rows", "cpy(f32(6, 4), transpose(f32(4, 6)))", r"kernel_cpy_.*"),
    Listed(
        "product-row-tail",
        ("out-of-bounds",),
        _op("MUL_MAT", "MUL_MAT_ID"),
        "a simdgroup, or a threadgroup, computes several rows; it reads all of them, and looks only when it "
        "writes which there are",
        "mul_mat(q5_k(256), f32(256))",
        kernels=r"kernel_mul_mv_(?!ext).*",
        problem=_READS,
    ),
    Listed(
        "soft-max-barrier",
        ("race",),
        _op("SOFT_MAX"),
        "between the last reading of the largest values and the first writing of the sums is only a barrier "
        "with mem_none, which orders no memory",
        "soft_max(f32(172))",
        kernels=r"kernel_soft_max.*",
    ),
    Listed(
        "attention-lockstep",
        ("lockstep-reliance",),
        _op("FLASH_ATTN_EXT"),
        "each lane puts a value of the mask into threadgroup memory, and others read it behind simdgroup "
        "functions, which order no memory, without a barrier; and where simdgroups are reduced to one, "
        "lane 0 writes the sum and the largest value that other lanes of its simdgroup have just read",
        "flash_attn_ext(f32(64, 3, 2), f16(64, 37, 2), f16(64, 37, 2), f16(37, 3, fill='mask'), 0.125, "
        "0.0, 0.0)",
        kernels=r"kernel_flash_attn_ext_vec.*",
    ),
    Listed(
        "attention-mask-alignment",
        ("misaligned",),
        _op("FLASH_ATTN_EXT"),
        "rows of the mask are read as pairs of halves, wherever they begin: rows of odd length at odd places",
        "flash_attn_ext(f32(64, 24, 2), f16(64, 75, 2), f16(64, 75, 2), f16(75, 24, fill='causal'), 0.125, "
        "0.0, 0.0)",
        kernels=r"kernel_flash_attn_ext.*",
    ),
    Listed(
        "attention-mask-blocks",
        ("out-of-bounds",),
        _op("FLASH_ATTN_EXT"),
        "whether a block of the mask hides all is told by reading 8 rows of it, also behind the last one",
        "flash_attn_ext(f32(64, 20), f16(64, 64), f16(64, 64), f16(64, 20, fill='mask'), 0.125, 0.0, 0.0)",
        kernels="kernel_flash_attn_ext_blk",
        problem=_READS,
    ),
    Listed(
        "attention-copied-rows",
        ("out-of-bounds",),
        _op("FLASH_ATTN_EXT"),
        "the last keys and values are copied with all that lies between them and the next ones, also behind "
        "the last row",
        "flash_attn_ext(f32(64, 20), cut(f16(68, 3), [64], [4]), f16(64, 3), None, 0.125, 0.0, 0.0)",
        kernels="kernel_flash_attn_ext_pad",
        problem=_READS,
    ),
    Listed(
        "attention-padded-heads",
        ("out-of-bounds", "uninitialised-read"),
        _padded_heads,
        "rows of the result are as long as the next multiple of 64: what is behind a head's end is read "
        "without a value, and is summed from what lies behind rows of the values, and behind the last one; "
        "what comes of it is not stored",
        "flash_attn_ext(f32(40), f16(40), f16(40), None, 0.158114, 0.0, 0.0)",
        kernels=r"kernel_flash_attn_ext_(?!vec|blk|pad).*",
        problem=_READS,
    ),
    Listed(
        "attention-quantised-lockstep",
        ("lockstep-reliance",),
        _op("FLASH_ATTN_EXT"),
        "lanes unpack keys and values into threadgroup memory that the simdgroup has loaded matrices from in "
        "the turn before, with a barrier behind the writing only",
        "flash_attn_ext(f32(64, 20), q8_0(64, 64), q8_0(64, 64), None, 0.125, 0.0, 0.0)",
        kernels=r"kernel_flash_attn_ext_q.*",
    ),
    Listed(
        "attention-result-overrun",
        ("threadgroup-overrun",),
        _op("FLASH_ATTN_EXT"),
        "all lanes set to 0 what only as many of them as share a key have: the others do so behind the end",
        "flash_attn_ext(f32(192), f16(192, 32), f16(128, 32), None, 0.072169, 0.0, 0.0)",
        kernels=r"kernel_flash_attn_ext_vec.*",
    ),
    Listed(
        "product-alignment",
        ("misaligned",),
        _op("MUL_MAT", "MUL_MAT_ID"),
        "vectors and matrices are read and written wherever rows begin; the assertions against that are "
        "commented out in the encoder",
        "mul_mat(q1_0(128, 5), f32(128, 9))",
        kernels=r"kernel_mul_m[mv].*",
    ),
    Listed(
        "vector-alignment",
        ("misaligned",),
        lambda node, text: has_views(text),
        "getters choose the kernel that takes four values at a time by ne[0] alone, wherever rows begin",
        "gelu(cut(f32(5, 2), [4, 2]))",
        kernels=r"kernel_(?!mul_m|cpy|ssm).*_4",
    ),
    Listed(
        "solve-tri-accesses",
        ("out-of-bounds", "race", "uninitialised-read", "lockstep-reliance"),
        _op("SOLVE_TRI"),
        "whole simdgroups read rows of the matrix and of the result, also what lies behind or is not "
        "computed yet, and multiply it by 0; what lane 0 writes the others read without a barrier",
        "on_zeros(solve_tri(f32(3, 3, 2, fill='lower'), f32(1, 3, 2), True, True, False))",
        kernels=r"kernel_solve_tri.*",
        problem=_NO_WRITE_OUTSIDE,
    ),
    Listed(
        "ssm-conv-alignment",
        ("misaligned",),
        _op("SSM_CONV"),
        "four values of the source are read as a vector for each token, whose windows begin one value apart",
        "ssm_conv(f32(5), f32(4))",
        kernels=r"kernel_ssm_conv.*_4",
    ),
    Listed(
        "cumsum-partial-sums",
        ("uninitialised-read",),
        _op("CUMSUM"),
        "all lanes of the first simdgroup read a sum, also those of simdgroups that there are not, or whose "
        "last lane is not there to write it; what they get is not used",
        "cumsum(f32(1))",
        kernels=r"kernel_cumsum_blk.*",
    ),
    Listed(
        "cpy-alignment",
        ("misaligned",),
        _op("CPY"),
        "blocks are unpacked into matrices of 4 x 4, wherever the target's rows begin",
        "cpy(q8_0(32), cut(f32(33, 1, 1, 2), [32, 1, 1, 1], [0, 0, 0, 1]))",
        kernels=r"kernel_cpy_q.*",
    ),
)
