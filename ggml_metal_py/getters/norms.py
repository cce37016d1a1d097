"""Normalisations of rows, soft_max included."""

from typing import TYPE_CHECKING

from ..enums import Op
from ..tensor import Tensor
from .checks import Checked

if TYPE_CHECKING:
    from ..pipeline import Pipeline

_NORMS = (Op.NORM, Op.RMS_NORM)


class NormGetters(Checked):
    """norm, norm_scale, l2_norm, group_norm, soft_max. Their smem is 128, a float for each of 32 lanes."""

    def get_pipeline_norm(self, op: Tensor, n_fuse: int) -> "Pipeline":
        """`kernel_norm_f32` or `kernel_rms_norm_f32`, `_4` when ne0 is a multiple of 4; NORM and RMS_NORM.

        n_fuse 2 is `_mul_f32`, 3 `_mul_add_f32`: with the MUL, and the ADD, that follow in the graph. Raises
        GgmlAbort for other n_fuse and for rows of src0 that are not contiguous.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_norm.
        """
        return self._of_op("norm", op, _NORMS, self._int("n_fuse", n_fuse))

    def get_pipeline_norm_scale(self, op: Tensor) -> "Pipeline":
        """The kernel of `norm` with n_fuse=2, named `BASE_use_scale`: with the SCALE that follows.

        Raises GgmlAbort for rows of src0 that are not contiguous.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_norm_scale.
        """
        return self._of_op("norm_scale", op, _NORMS)

    def get_pipeline_l2_norm(self, op: Tensor) -> "Pipeline":
        """`kernel_l2_norm_T0_T`, `_4` when ne00 is a multiple of 4.

        Both whisper.rn rows: always `kernel_l2_norm_f32`, GgmlAbort when ne00 is no multiple of 4 or rows are
        not contiguous. Raises KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_l2_norm.
        """
        return self._of_op("l2_norm", op, (Op.L2_NORM,))

    def get_pipeline_group_norm(self, op: Tensor) -> "Pipeline":
        """`kernel_group_norm_f32`, whatever the type.

        Raises GgmlAbort for src0 that is not contiguous.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_group_norm.
        """
        return self._of_op("group_norm", op, (Op.GROUP_NORM,))

    def get_pipeline_soft_max(self, op: Tensor) -> "Pipeline":
        """`kernel_soft_max_T1`, `_4` when ne00 is a multiple of 4; T1 is the mask's type, f32 without one.

        Raises GgmlAbort for a mask that is neither f16 nor f32.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_soft_max.
        """
        return self._of_op("soft_max", op, (Op.SOFT_MAX,))
