"""What all mirrors of `ggml_metal_library_get_pipeline_*` share: checks before the call, and the call.

Upstream's getters trust their argument: they read sources of the op that are not there, and other structs
than the row's. So nothing reaches them that was not checked here.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._handle import Handle
from ..enums import Op, OpPool
from ..errors import NotInUpstream
from ..tensor import Tensor, Type, block_size
from .rows import FIRST_ROW

if TYPE_CHECKING:
    from ..pipeline import Pipeline

PREFIX = "ggml_metal_library_get_pipeline_"


class Getters(Handle):
    """The base of the mirrors' classes. `library.Library` is all of them."""

    def _of_op(self, getter: str, op: Tensor, ops: Sequence[Op], *arguments: Any) -> "Pipeline":
        """Call the getter on an op that is one of `ops`. `arguments` are what follows the op in C.

        The same tensor and arguments give the same Pipeline without asking upstream again.
        """
        key = self, getter, arguments
        if isinstance(op, Tensor) and key in op._pipelines:
            self._use()
            op._use()
            return op._pipelines[key]
        self._check_op(getter, op, ops)
        pipeline = self._call(getter, op, *arguments)
        if self._native.pipelines_are_values:  # else a later call may change its parameters
            op._pipelines[key] = pipeline
        return pipeline

    def _check_op(self, getter: str, op: Tensor, ops: Sequence[Op]) -> None:
        self._require(getter)
        if not isinstance(op, Tensor):
            raise TypeError(f"get_pipeline_{getter} takes a Tensor, the result of an op, not {op!r}")
        self._check_upstream(op.context)
        name = self._native.op_names[op._use().op]
        if name not in [allowed.name for allowed in ops]:
            wanted = " or ".join(allowed.name for allowed in ops)
            raise ValueError(f"get_pipeline_{getter} takes the result of {wanted}, not of {name}: {op!r}")

    def _require(self, getter: str) -> None:
        """Raises NotInUpstream, naming the first row that has it."""
        if not self._native.has(PREFIX + getter):
            first = FIRST_ROW[getter]
            raise NotInUpstream(
                f"upstream {self._native.row} has no {PREFIX}{getter}; the first row that has it is {first}"
            )

    # ---- from Python's values to C's; every one raises ValueError, or NotInUpstream for what the row lacks

    def _op_value(self, op: Op | str) -> int:
        return int(getattr(self._native, f"GGML_OP_{Op.of(op).name}"))

    def _pool_value(self, pool: OpPool | str) -> int:
        return int(getattr(self._native, f"GGML_OP_POOL_{OpPool.of(pool).name}"))

    def _type_value(self, type: Type | str) -> int:
        kind = Type.of(type)
        block_size(self._native, kind)  # the row knows it
        return int(kind)

    def _int(self, what: str, value: int, low: int = -(2**31), high: int = 2**31 - 1) -> int:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"{what} is a whole number, not {value!r}")
        if not low <= value <= high:
            raise ValueError(f"{what} is {low}..{high}, not {value}")
        return int(value)

    # ---- what Library adds

    def _call(self, getter: str, *arguments: Any) -> "Pipeline":
        """Call `ggml_metal_library_get_pipeline_GETTER` with this library and the arguments.

        Raises GgmlAbort, KernelNotFound.
        """
        raise NotImplementedError
