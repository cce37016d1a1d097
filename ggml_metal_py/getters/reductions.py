"""Many values to one: sums, means, the greatest; running sums."""

from typing import TYPE_CHECKING

from ..enums import Op
from ..tensor import Tensor
from .checks import Checked

if TYPE_CHECKING:
    from ..pipeline import Pipeline


class ReductionGetters(Checked):
    """sum, sum_rows, argmax, count_equal, cumsum_blk, cumsum_add."""

    def get_pipeline_sum(self, op: Tensor) -> "Pipeline":
        """`kernel_op_sum_T0`: all values of a tensor.

        Raises KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_sum.
        """
        return self._of_op("sum", op, (Op.SUM,))

    def get_pipeline_sum_rows(self, op: Tensor) -> "Pipeline":
        """`kernel_sum_rows_T0_T`, `_4` when ne00 is a multiple of 4; takes SUM_ROWS and MEAN.

        The name adds the number of the op. smem: a float for each of 32 lanes, four for `_4`. Both whisper.rn
        rows: `kernel_sum_rows_T0`, `kernel_mean_T0`, smem 128. Raises GgmlAbort for rows of src0 that are not
        contiguous, KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_sum_rows.
        """
        return self._of_op("sum_rows", op, (Op.SUM_ROWS, Op.MEAN))

    def get_pipeline_argmax(self, op: Tensor) -> "Pipeline":
        """`kernel_argmax_f32`. smem 256: a value and its place for each of 32 lanes.

        Raises GgmlAbort for src0 of another type or with rows that are not contiguous.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_argmax.
        """
        return self._of_op("argmax", op, (Op.ARGMAX,))

    def get_pipeline_count_equal(self, op: Tensor) -> "Pipeline":
        """`kernel_count_equal_i32`; the name adds nsg: 1, 2, 4... up to 32, until 32 * nsg covers ne00.

        smem 128. Raises GgmlAbort for other types and for 2**31 values and more.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_count_equal.
        """
        return self._of_op("count_equal", op, (Op.COUNT_EQUAL,))

    def get_pipeline_cumsum_blk(self, op: Tensor) -> "Pipeline":
        """`kernel_cumsum_blk_T0`: running sums inside of blocks.

        Raises KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_cumsum_blk.
        """
        return self._of_op("cumsum_blk", op, (Op.CUMSUM,))

    def get_pipeline_cumsum_add(self, op: Tensor) -> "Pipeline":
        """`kernel_cumsum_add_T0`: adds to each block the sum of those before it.

        Raises KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_cumsum_add.
        """
        return self._of_op("cumsum_add", op, (Op.CUMSUM,))
