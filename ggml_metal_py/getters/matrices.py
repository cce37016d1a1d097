"""Diagonal and triangular matrices."""

from typing import TYPE_CHECKING

from ..enums import Op
from ..tensor import Tensor
from .checks import Checked

if TYPE_CHECKING:
    from ..pipeline import Pipeline


class MatrixGetters(Checked):
    """diag, tri, solve_tri."""

    def get_pipeline_diag(self, op: Tensor) -> "Pipeline":
        """`kernel_diag_T0`; the name adds n = ne00, though nothing is specialised. nsg 1.

        Raises KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_diag.
        """
        return self._of_op("diag", op, (Op.DIAG,))

    def get_pipeline_tri(self, op: Tensor) -> "Pipeline":
        """`kernel_tri_T0_TYPE`, TYPE being the number of the triangle's kind.

        Raises GgmlAbort when values of src0 do not lie side by side, KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_tri.
        """
        return self._of_op("tri", op, (Op.TRI,))

    def get_pipeline_solve_tri(self, op: Tensor) -> "Pipeline":
        """`kernel_solve_tri_T0`; the name adds nsg, n = ne11 and k = ne10.

        nsg 8; smem: n, rounded up to 32, floats for each simdgroup. The constants n and k are 16 bits wide,
        the name shows 32. Raises KernelNotFound, and ValueError for n or k above 268435424.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_solve_tri.
        """
        return self._of_op("solve_tri", op, (Op.SOLVE_TRI,))
