"""Pooling: the greatest or the mean of a window."""

from ..expected import Abort, Expected, rule
from ..rows import Row
from ..views import OpView


def _pool(kind: str, op: OpView, pool: str) -> Expected | Abort:
    a = op.src[0]
    if not a.is_contiguous:
        return Abort("ggml_is_contiguous")
    if not a.type == op.type == "f32":
        return Abort("GGML_TYPE_F32")
    return Expected(f"kernel_{kind}_{pool.lower()}_f32") if pool in ("AVG", "MAX") else Abort("implemented")


@rule("pool_1d")
def pool_1d(row: Row, op: OpView, pool: str) -> Expected | Abort:
    return _pool("pool_1d", op, pool)


@rule("pool_2d")
def pool_2d(row: Row, op: OpView, pool: str) -> Expected | Abort:
    return _pool("pool_2d", op, pool)
