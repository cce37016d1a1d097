"""Enums of ggml whose numbers differ from row to row: known by names here, looked up in the opened row."""

from enum import Enum
from typing import TypeVar

_Named = TypeVar("_Named", bound="_NamedEnum")


class _NamedEnum(Enum):
    """Its members are named as in ggml.h, without the prefix; their values are the same in lower case."""

    @classmethod
    def of(cls: type[_Named], value: "_Named | str") -> _Named:
        """A member from itself or from its name in any case. Raises ValueError, TypeError."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, str):
            raise TypeError(f"{cls.__name__} takes a name or one of its members, not {value!r}")
        try:
            return cls[value.upper()]
        except KeyError:
            names = ", ".join(member.value for member in cls)
            raise ValueError(f"{cls.__name__} has no {value!r}; there are: {names}") from None


class OpPool(_NamedEnum):
    """`enum ggml_op_pool`: what pooling keeps of a window."""

    MAX = "max"
    AVG = "avg"


class Op(_NamedEnum):
    """`enum ggml_op`: what computes a tensor. All ops of all upstream rows; no row has every one of them."""

    NONE = "none"
    DUP = "dup"
    ADD = "add"
    ADD_ID = "add_id"
    ADD1 = "add1"
    ACC = "acc"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    SQR = "sqr"
    SQRT = "sqrt"
    LOG = "log"
    SIN = "sin"
    COS = "cos"
    SUM = "sum"
    SUM_ROWS = "sum_rows"
    CUMSUM = "cumsum"
    MEAN = "mean"
    ARGMAX = "argmax"
    COUNT_EQUAL = "count_equal"
    REPEAT = "repeat"
    REPEAT_BACK = "repeat_back"
    CONCAT = "concat"
    SILU_BACK = "silu_back"
    NORM = "norm"
    RMS_NORM = "rms_norm"
    RMS_NORM_BACK = "rms_norm_back"
    GROUP_NORM = "group_norm"
    L2_NORM = "l2_norm"
    MUL_MAT = "mul_mat"
    MUL_MAT_ID = "mul_mat_id"
    OUT_PROD = "out_prod"
    SCALE = "scale"
    SET = "set"
    CPY = "cpy"
    CONT = "cont"
    RESHAPE = "reshape"
    VIEW = "view"
    PERMUTE = "permute"
    TRANSPOSE = "transpose"
    GET_ROWS = "get_rows"
    GET_ROWS_BACK = "get_rows_back"
    SET_ROWS = "set_rows"
    DIAG = "diag"
    DIAG_MASK_INF = "diag_mask_inf"
    DIAG_MASK_ZERO = "diag_mask_zero"
    SOFT_MAX = "soft_max"
    SOFT_MAX_BACK = "soft_max_back"
    ROPE = "rope"
    ROPE_BACK = "rope_back"
    CLAMP = "clamp"
    CONV_TRANSPOSE_1D = "conv_transpose_1d"
    IM2COL = "im2col"
    IM2COL_BACK = "im2col_back"
    IM2COL_3D = "im2col_3d"
    COL2IM_1D = "col2im_1d"
    CONV_2D = "conv_2d"
    CONV_3D = "conv_3d"
    CONV_2D_DW = "conv_2d_dw"
    CONV_TRANSPOSE_2D = "conv_transpose_2d"
    POOL_1D = "pool_1d"
    POOL_2D = "pool_2d"
    POOL_2D_BACK = "pool_2d_back"
    UPSCALE = "upscale"
    PAD = "pad"
    PAD_REFLECT_1D = "pad_reflect_1d"
    ROLL = "roll"
    ARANGE = "arange"
    TIMESTEP_EMBEDDING = "timestep_embedding"
    ARGSORT = "argsort"
    TOP_K = "top_k"
    LEAKY_RELU = "leaky_relu"
    TRI = "tri"
    FILL = "fill"
    FLASH_ATTN_EXT = "flash_attn_ext"
    FLASH_ATTN_BACK = "flash_attn_back"
    SSM_CONV = "ssm_conv"
    SSM_SCAN = "ssm_scan"
    WIN_PART = "win_part"
    WIN_UNPART = "win_unpart"
    GET_REL_POS = "get_rel_pos"
    ADD_REL_POS = "add_rel_pos"
    RWKV_WKV6 = "rwkv_wkv6"
    GATED_LINEAR_ATTN = "gated_linear_attn"
    RWKV_WKV7 = "rwkv_wkv7"
    SOLVE_TRI = "solve_tri"
    GATED_DELTA_NET = "gated_delta_net"
    LIGHTNING_INDEXER = "lightning_indexer"
    DSV4_HC_COMB = "dsv4_hc_comb"
    DSV4_HC_PRE = "dsv4_hc_pre"
    DSV4_HC_POST = "dsv4_hc_post"
    UNARY = "unary"
    MAP_CUSTOM1 = "map_custom1"
    MAP_CUSTOM2 = "map_custom2"
    MAP_CUSTOM3 = "map_custom3"
    CUSTOM = "custom"
    CROSS_ENTROPY_LOSS = "cross_entropy_loss"
    CROSS_ENTROPY_LOSS_BACK = "cross_entropy_loss_back"
    OPT_STEP_ADAMW = "opt_step_adamw"
    OPT_STEP_SGD = "opt_step_sgd"
    GLU = "glu"
