"""diag and tri: from a vector to a matrix, from a matrix to a part of it."""

from .. import c
from ..expected import Abort, Expected, rule
from ..rows import Row
from ..tensor_types import TYPES
from ..views import OpView


@rule("diag")
def diag(row: Row, op: OpView) -> Expected:
    a = op.src[0]
    base = f"kernel_diag_{a.type}"
    return Expected(base, f"{base}_n={c.int32(a.ne[0])}", nsg=1)


@rule("tri")
def tri(row: Row, op: OpView) -> Expected | Abort:
    a = op.src[0]
    # Other than "contiguous rows": the stride counts for rows of one value, too.
    if a.nb[0] != TYPES[a.type].bytes:
        return Abort("ggml_type_size")
    return Expected(f"kernel_tri_{a.type}_{op.params[0]}")
