"""Convolutions, and what turns them into products."""

from typing import TYPE_CHECKING

from ..enums import Op
from ..tensor import Tensor
from .checks import Checked

if TYPE_CHECKING:
    from ..pipeline import Pipeline


class ConvolutionGetters(Checked):
    """im2col, col2im_1d, conv_2d, conv_2d_dw, conv_3d, conv_transpose_1d, conv_transpose_2d."""

    def get_pipeline_im2col(self, op: Tensor) -> "Pipeline":
        """`kernel_im2col_T`, T being f16 or f32.

        Since ggml-python-0.0.45 `kernel_im2col_ext_T` for windows of more than 1024 values.
        Raises GgmlAbort for another type, and for data that are not contiguous f32.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_im2col.
        """
        return self._of_op("im2col", op, (Op.IM2COL,))

    def get_pipeline_col2im_1d(self, op: Tensor) -> "Pipeline":
        """`kernel_col2im_1d_T0`: adds overlapping columns up. f32, f16 and bf16.

        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_col2im_1d.
        """
        return self._of_op("col2im_1d", op, (Op.COL2IM_1D,))

    def get_pipeline_conv_2d(self, op: Tensor) -> "Pipeline":
        """`kernel_conv_2d_T0_f32`; T0 is the filter's type, f16 or f32.

        Raises GgmlAbort for other types and for a filter that is not contiguous.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_conv_2d.
        """
        return self._of_op("conv_2d", op, (Op.CONV_2D,))

    def get_pipeline_conv_2d_dw(self, op: Tensor, tiled: bool) -> "Pipeline":
        """`kernel_conv_2d_dw_T0_f32` or `kernel_conv_2d_dw_tiled_T0_f32`: one filter for each channel.

        Raises GgmlAbort for types other than f16 or f32 for the filter, f32 for the data.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_conv_2d_dw.
        """
        return self._of_op("conv_2d_dw", op, (Op.CONV_2D_DW,), self._flag("tiled", tiled))

    def get_pipeline_conv_3d(self, op: Tensor) -> "Pipeline":
        """`kernel_conv_3d_T0_f32`, by the same rules as conv_2d.

        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_conv_3d.
        """
        return self._of_op("conv_3d", op, (Op.CONV_3D,))

    def get_pipeline_conv_transpose_1d(self, op: Tensor) -> "Pipeline":
        """`kernel_conv_transpose_1d_T0_f32`, by the same rules; the data must be contiguous, too.

        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_conv_transpose_1d.
        """
        return self._of_op("conv_transpose_1d", op, (Op.CONV_TRANSPOSE_1D,))

    def get_pipeline_conv_transpose_2d(self, op: Tensor) -> "Pipeline":
        """`kernel_conv_transpose_2d_T0_f32`, by the same rules; the data must be contiguous, too.

        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_conv_transpose_2d.
        """
        return self._of_op("conv_transpose_2d", op, (Op.CONV_TRANSPOSE_2D,))
