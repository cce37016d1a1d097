"""Positions in a sequence."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..enums import Op
from ..tensor import Tensor
from .checks import Checked

if TYPE_CHECKING:
    from ..pipeline import Pipeline

_BACK_SINCE = "ggml_metal_library_get_pipeline_concat"
"""Came together with the constant is_back; before, the kernels turned forward only."""


class PositionGetters(Checked):
    """rope, arange, timestep_embedding. All raise KernelNotFound."""

    def get_pipeline_rope(self, op: Tensor) -> "Pipeline":
        """`kernel_rope_norm_T0`, `_neox_T0`, `_multi_T0` or `_vision_T0`, by the op's mode.

        Takes ROPE; since ggml-python-0.0.45 also ROPE_BACK, and the name adds is_back. All but
        whisper.rn-0.5.2 add imrope: the mode is exactly IMROPE.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_rope.
        """
        return self._of_op("rope", op, (Op.ROPE, Op.ROPE_BACK))

    def _check_op(self, getter: str, op: Tensor, ops: Sequence[Op]) -> None:
        if getter == "rope" and not self._native.has(_BACK_SINCE):
            ops = (Op.ROPE,)
        super()._check_op(getter, op, ops)

    def get_pipeline_arange(self, op: Tensor) -> "Pipeline":
        """`kernel_arange_T`.

        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_arange.
        """
        return self._of_op("arange", op, (Op.ARANGE,))

    def get_pipeline_timestep_embedding(self, op: Tensor) -> "Pipeline":
        """`kernel_timestep_embedding_T0`.

        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_timestep_embedding.
        """
        return self._of_op("timestep_embedding", op, (Op.TIMESTEP_EMBEDDING,))
