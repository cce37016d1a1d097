"""Order: sorting, and the greatest k."""

from typing import TYPE_CHECKING

from ..enums import Op
from ..tensor import Tensor
from .checks import Checked

if TYPE_CHECKING:
    from ..pipeline import Pipeline


class SortingGetters(Checked):
    """argsort, argsort_merge, top_k, top_k_merge, top_k_radix. All raise KernelNotFound."""

    def get_pipeline_argsort(self, op: Tensor) -> "Pipeline":
        """`kernel_argsort_T0_T_asc` or `_desc`: sorts pieces of rows.

        Raises GgmlAbort for an order that is neither.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_argsort.
        """
        return self._of_op("argsort", op, (Op.ARGSORT,))

    def get_pipeline_argsort_merge(self, op: Tensor) -> "Pipeline":
        """`kernel_argsort_merge_T0_T_asc` or `_desc`: merges sorted pieces.

        Raises GgmlAbort for an order that is neither.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_argsort_merge.
        """
        return self._of_op("argsort_merge", op, (Op.ARGSORT,))

    def get_pipeline_top_k(self, op: Tensor) -> "Pipeline":
        """`kernel_argsort_T0_T_desc`: the kernel of argsort. In whisper.rn-0.5.2 ggml_top_k made an ARGSORT.

        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_top_k.
        """
        return self._of_op("top_k", op, (Op.TOP_K,))

    def get_pipeline_top_k_merge(self, op: Tensor) -> "Pipeline":
        """`kernel_argsort_merge_T0_T_desc`.

        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_top_k_merge.
        """
        return self._of_op("top_k_merge", op, (Op.TOP_K,))

    def get_pipeline_top_k_radix(self, op: Tensor) -> "Pipeline":
        """`kernel_top_k_T0_T`: by digits, without sorting.

        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_top_k_radix.
        """
        return self._of_op("top_k_radix", op, (Op.TOP_K,))
