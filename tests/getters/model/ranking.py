"""Sorting, the greatest values, and the choice of experts."""

from ..expected import Abort, Expected, boolean, int32, rule
from ..rows import Row
from ..tensor_types import TYPES
from ..views import OpView

FC_TOPK_MOE = 1800
FC_MOE_REDUCE = 1900
ORDERS = {0: "asc", 1: "desc"}


def _sort(kernel: str, op: OpView, order: int) -> Expected | Abort:
    if order not in ORDERS:
        return Abort("fatal error")
    return Expected(f"kernel_{kernel}_{op.sources(1)[0].type}_{op.type}_{ORDERS[order]}")


@rule("argsort")
def argsort(row: Row, op: OpView) -> Expected | Abort:
    return _sort("argsort", op, op.params[0])


@rule("argsort_merge")
def argsort_merge(row: Row, op: OpView) -> Expected | Abort:
    return _sort("argsort_merge", op, op.params[0])


@rule("top_k")
def top_k(row: Row, op: OpView) -> Expected | Abort:
    return _sort("argsort", op, 1)


@rule("top_k_merge")
def top_k_merge(row: Row, op: OpView) -> Expected | Abort:
    return _sort("argsort_merge", op, 1)


@rule("top_k_radix")
def top_k_radix(row: Row, op: OpView) -> Expected:
    return Expected(f"kernel_top_k_{op.sources(1)[0].type}_{op.type}")


@rule("argmax")
def argmax(row: Row, op: OpView) -> Expected | Abort:
    (a,) = op.sources(1)
    if a.type != "f32":
        return Abort("op->src[0]->type == GGML_TYPE_F32")
    if not a.is_contiguous_1(row):
        return Abort("ggml_is_contiguous_1(op->src[0])")
    if a.nb[0] != TYPES[a.type].bytes:
        return Abort("op->src[0]->nb[0] == ggml_type_size(op->src[0]->type)")
    return Expected("kernel_argmax_f32", smem=32 * (4 + 4))


@rule("topk_moe")
def topk_moe(row: Row, n_expert: int, top_k: int, with_norm: bool) -> Expected:
    base = "kernel_topk_moe_f32"
    return Expected(
        base,
        f"{base}_n_expert={n_expert}_top_k={top_k}_with_norm={with_norm:d}",
        constants=(
            boolean(FC_TOPK_MOE, with_norm),
            int32(FC_TOPK_MOE + 1, n_expert),
            int32(FC_TOPK_MOE + 2, top_k),
        ),
    )


@rule("moe_reduce")
def moe_reduce(row: Row, n_expert_used: int) -> Expected:
    base = "kernel_moe_reduce_f32"
    return Expected(
        base, f"{base}_n_expert_used={n_expert_used}", constants=(int32(FC_MOE_REDUCE, n_expert_used),)
    )
