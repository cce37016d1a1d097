"""One legal call of every getter."""

from collections.abc import Callable
from typing import Any

import ggml_metal_py as gm
from ggml_metal_py.getters.base import PREFIX
from ggml_metal_py.getters.rows import FIRST_ROW

Calls = dict[str, tuple[Any, ...]]


def legal_calls(context: gm.Context) -> Calls:
    """Arguments for every getter of the context's row."""
    makers: dict[str, Callable[[Ops], tuple[Any, ...]]] = {**_BY_TYPE, **_BY_OP}
    native, ops = context._native, Ops(context)
    return {getter: makers[getter](ops) for getter in FIRST_ROW if native.has(PREFIX + getter)}


class Ops:
    """Makes tensors and ops of a row. Shapes in ggml's order."""

    def __init__(self, context: gm.Context) -> None:
        self.context = context
        self.native = context._native

    def new(self, type: str, *ne: int) -> gm.Tensor:
        return self.context.new_tensor(type, ne[::-1])

    def f32(self, *ne: int) -> gm.Tensor:
        return self.new("f32", *ne)

    def __call__(self, name: str, *arguments: Any) -> gm.Tensor:
        if name in ("ssm_scan", "gated_delta_net"):
            # Newer rows ask for one argument more: how many states are kept.
            wanted = len(self.native.argument_types(f"ggml_{name}")) - 1
            arguments += (1,) * (wanted - len(arguments))
        return gm.ops.apply(name, *arguments, context=self.context)

    def attention(self) -> gm.Tensor:
        k, v = self.new("f16", 64, 96, 2), self.new("f16", 64, 96, 2)
        mask = self.new("f16", 96, 64)
        return self("flash_attn_ext", self.f32(64, 4, 2), k, v, mask, 1.0, 0.0, 0.0)

    def product(self) -> gm.Tensor:
        return self("mul_mat", self.new("f16", 64, 64), self.f32(64, 4))

    def product_of_experts(self) -> gm.Tensor:
        return self("mul_mat_id", self.new("f16", 64, 64, 8), self.f32(64, 1, 4), self.new("i32", 2, 4))

    def trained(self) -> gm.Tensor:
        weights = self.f32(64)
        self.native.ggml_set_param(weights._use())
        return weights

    def scan(self) -> gm.Tensor:
        state, x, dt = self.f32(16, 8, 2, 1), self.f32(8, 2, 3, 1), self.f32(2, 3, 1)
        b, c = self.f32(16, 1, 3, 1), self.f32(16, 1, 3, 1)
        return self("ssm_scan", state, x, dt, self.f32(1, 2), b, c, self.new("i32", 1))

    def delta_net(self) -> gm.Tensor:
        q, k, v = (self.f32(64, 2, 4, 1) for _ in range(3))
        kept = self.native.row == "pywhispercpp-1.5.1"
        state = self.f32(64 * 64 * 2, 1, 1) if kept else self.f32(64, 64, 2, 1)
        return self("gated_delta_net", q, k, v, self.f32(1, 2, 4, 1), self.f32(1, 2, 4, 1), state)

    def rwkv(self) -> gm.Tensor:
        k, v, r, td = (self.f32(64, 2, 4) for _ in range(4))
        return self("rwkv_wkv6", k, v, r, self.f32(64, 2), td, self.f32(64 * 64 * 2, 1))

    def indexer(self) -> gm.Tensor:
        q, k = self.f32(128, 8, 4, 1), self.new("f16", 128, 1, 32, 1)
        return self("lightning_indexer", q, k, self.f32(8, 4), self.new("f16", 32, 4))


_BY_TYPE: dict[str, Callable[[Ops], tuple[Any, ...]]] = {
    "base": lambda o: ("add_id",),
    "bin_one": lambda o: (gm.Op.MUL,),
    "cpy": lambda o: ("f32", gm.Type.F16),
    "repeat": lambda o: ("f32",),
    "concat": lambda o: ("f32",),
    "get_rows": lambda o: ("q4_0",),
    "snake": lambda o: ("f16",),
    "fwht": lambda o: (128, "f32"),
    "mul_mm_id_map0": lambda o: (8, 2),
    "mul_mm_id_amax": lambda o: (),
    "mul_mm_id_amax_part": lambda o: (),
    "topk_moe": lambda o: (8, 2, True),
    "moe_reduce": lambda o: (2,),
}

_BY_OP: dict[str, Callable[[Ops], tuple[Any, ...]]] = {
    "unary": lambda o: (o("gelu", o.f32(64, 4)),),
    "glu": lambda o: (o("swiglu", o.f32(64, 4)),),
    "silu_back": lambda o: (o("silu_back", o.f32(64, 4), o.f32(64, 4)),),
    "bin": lambda o: (o("add", o.f32(64, 4), o.f32(64)), 1),
    "set_rows": lambda o: (o("set_rows", o.f32(64, 8), o.f32(64, 4), o.new("i64", 4)),),
    "memset": lambda o: (o("count_equal", o.new("i32", 64), o.new("i32", 64)),),
    "sum": lambda o: (o("sum", o.f32(64)),),
    "sum_rows": lambda o: (o("mean", o.f32(64, 4)),),
    "argmax": lambda o: (o("argmax", o.f32(64, 4)),),
    "count_equal": lambda o: (o("count_equal", o.new("i32", 64), o.new("i32", 64)),),
    "cumsum_blk": lambda o: (o("cumsum", o.f32(64)),),
    "cumsum_add": lambda o: (o("cumsum", o.f32(64)),),
    "norm": lambda o: (o("rms_norm", o.f32(64, 4), 1e-5), 1),
    "norm_scale": lambda o: (o("rms_norm", o.f32(64, 4), 1e-5),),
    "l2_norm": lambda o: (o("l2_norm", o.f32(64, 4), 1e-5),),
    "group_norm": lambda o: (o("group_norm", o.f32(8, 8, 4), 2, 1e-5),),
    "soft_max": lambda o: (o("soft_max", o.f32(64, 4)),),
    "diag": lambda o: (o("diag", o.f32(8)),),
    "tri": lambda o: (o("tri", o.f32(8, 8), 0),),
    "solve_tri": lambda o: (o("solve_tri", o.f32(8, 8), o.f32(4, 8), True, True, False),),
    "mul_mm": lambda o: (o.product(),),
    "mul_mv": lambda o: (o.product(),),
    "mul_mv_ext": lambda o: (o.product(), 2, 8, 4),
    "mul_mm_id": lambda o: (o.product_of_experts(),),
    "mul_mv_id": lambda o: (o.product_of_experts(),),
    "flash_attn_ext": lambda o: (o.attention(), True, False, False, False, True, 4),
    "flash_attn_ext_vec": lambda o: (o.attention(), True, False, False, False, True),
    "flash_attn_ext_vec_reduce": lambda o: (o.attention(), 64, 32),
    "flash_attn_ext_pad": lambda o: (o.attention(), True, 64),
    "flash_attn_ext_blk": lambda o: (o.attention(), 8, 64),
    "flash_attn_ext_vec_idx": lambda o: (o.attention(),),
    "flash_attn_ext_kv_f16": lambda o: (
        o(
            "flash_attn_ext",
            *(o.f32(64, 4, 2), o.new("q8_0", 64, 96, 2), o.new("q8_0", 64, 96, 2)),
            *(None, 1.0, 0.0, 0.0),
        ),
    ),
    "lightning_indexer": lambda o: (o.indexer(),),
    "ssm_conv": lambda o: (o("ssm_conv", o.f32(8, 16, 2), o.f32(4, 16)),),
    "ssm_conv_batched": lambda o: (o("ssm_conv", o.f32(8, 16, 2), o.f32(4, 16)), 2),
    "ssm_scan": lambda o: (o.scan(),),
    "ssm_scan_ssd_mma": lambda o: (o.scan(),),
    "rwkv": lambda o: (o.rwkv(),),
    "gated_delta_net": lambda o: (o.delta_net(),),
    "dsv4_hc": lambda o: (o("dsv4_hc_pre", o.f32(64, 4, 3), o.f32(4, 3)),),
    "argsort": lambda o: (o("argsort", o.f32(64, 4), 0),),
    "argsort_merge": lambda o: (o("argsort", o.f32(64, 4), 1),),
    "top_k": lambda o: (o("top_k", o.f32(64, 4), 2),),
    "top_k_merge": lambda o: (o("top_k", o.f32(64, 4), 2),),
    "top_k_radix": lambda o: (o("top_k", o.f32(64, 4), 2),),
    "im2col": lambda o: (gm.ops.im2col(o.new("f16", 3, 4, 5), o.f32(16, 4)),),
    "col2im_1d": lambda o: (o("col2im_1d", o.f32(12, 5), 2, 4, 0),),
    "conv_2d": lambda o: (o("conv_2d_direct", o.f32(3, 3, 2, 4), o.f32(8, 8, 2), 1, 1, 0, 0, 1, 1),),
    "conv_2d_dw": lambda o: (
        o("conv_2d_dw_direct", o.f32(3, 3, 1, 2), o.f32(8, 8, 2), 1, 1, 0, 0, 1, 1),
        False,
    ),
    "conv_3d": lambda o: (
        o("conv_3d_direct", o.f32(3, 3, 3, 8), o.f32(8, 8, 8, 2), 1, 1, 1, 0, 0, 0, 1, 1, 1, 2, 1, 4),
    ),
    "conv_transpose_1d": lambda o: (o("conv_transpose_1d", o.f32(3, 4, 2), o.f32(8, 2), 1, 0, 1),),
    "conv_transpose_2d": lambda o: (o("conv_transpose_2d_p0", o.new("f16", 3, 3, 4, 2), o.f32(8, 8, 2), 1),),
    "pool_1d": lambda o: (o("pool_1d", o.f32(64, 4), 0, 2, 2, 0), "avg"),
    "pool_2d": lambda o: (o("pool_2d", o.f32(8, 8), 0, 2, 2, 2, 2, 0.0, 0.0), gm.OpPool.MAX),
    "upscale": lambda o: (o("upscale", o.f32(8, 8), 2, 0),),
    "pad": lambda o: (o("pad", o.f32(8, 8), 1, 0, 0, 0),),
    "pad_reflect_1d": lambda o: (o("pad_reflect_1d", o.f32(8, 8), 1, 1),),
    "roll": lambda o: (o("roll", o.f32(8, 8), 1, 0, 0, 0),),
    "rope": lambda o: (o("rope", o.f32(64, 2, 4), o.new("i32", 4), 64, 0),),
    "arange": lambda o: (o("arange", 0.0, 8.0, 1.0),),
    "timestep_embedding": lambda o: (o("timestep_embedding", o.f32(4), 64, 10000),),
    "opt_step_adamw": lambda o: (o("opt_step_adamw", o.trained(), *(o.f32(64) for _ in "gmv"), o.f32(7)),),
    "opt_step_sgd": lambda o: (o("opt_step_sgd", o.trained(), o.f32(64), o.f32(2)),),
}
