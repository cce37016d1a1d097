"""Images and signals: pooling, resizing, padding, rolling."""

from typing import TYPE_CHECKING

from ..enums import Op, OpPool
from ..tensor import Tensor
from .checks import Checked

if TYPE_CHECKING:
    from ..pipeline import Pipeline


class ImageGetters(Checked):
    """pool_1d, pool_2d, upscale, pad, pad_reflect_1d, roll."""

    def get_pipeline_pool_1d(self, op: Tensor, op_pool: OpPool | str) -> "Pipeline":
        """`kernel_pool_1d_avg_f32` or `kernel_pool_1d_max_f32`. The op's own op_pool is not looked at.

        Raises GgmlAbort for src0 that is not contiguous f32.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_pool_1d.
        """
        return self._of_op("pool_1d", op, (Op.POOL_1D,), self._pool_value(op_pool))

    def get_pipeline_pool_2d(self, op: Tensor, op_pool: OpPool | str) -> "Pipeline":
        """`kernel_pool_2d_avg_f32` or `kernel_pool_2d_max_f32`. The op's own op_pool is not looked at.

        Raises GgmlAbort for src0 that is not contiguous f32.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_pool_2d.
        """
        return self._of_op("pool_2d", op, (Op.POOL_2D,), self._pool_value(op_pool))

    def get_pipeline_upscale(self, op: Tensor) -> "Pipeline":
        """`kernel_upscale_bilinear_T0`, `_bicubic_T0`, and `_nearest_T0` for every other mode.

        The name adds aa, whether the op asks for antialiasing. Both whisper.rn rows: `kernel_upscale_T0`,
        whatever the mode. Raises KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_upscale.
        """
        return self._of_op("upscale", op, (Op.UPSCALE,))

    def get_pipeline_pad(self, op: Tensor) -> "Pipeline":
        """`kernel_pad_T0`; since llama-cpp-python-0.3.36 the name adds circular. Raises KernelNotFound.

        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_pad.
        """
        return self._of_op("pad", op, (Op.PAD,))

    def get_pipeline_pad_reflect_1d(self, op: Tensor) -> "Pipeline":
        """`kernel_pad_reflect_1d_T0`. Raises KernelNotFound.

        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_pad_reflect_1d.
        """
        return self._of_op("pad_reflect_1d", op, (Op.PAD_REFLECT_1D,))

    def get_pipeline_roll(self, op: Tensor) -> "Pipeline":
        """`kernel_roll_T0`. Raises KernelNotFound.

        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_roll.
        """
        return self._of_op("roll", op, (Op.ROLL,))
