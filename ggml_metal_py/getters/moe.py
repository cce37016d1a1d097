"""Mixtures of experts."""

from typing import TYPE_CHECKING

from ..enums import Op
from ..tensor import Tensor
from .checks import Checked

if TYPE_CHECKING:
    from ..pipeline import Pipeline


class MoeGetters(Checked):
    """mul_mm_id and its helpers, mul_mv_id, topk_moe, moe_reduce."""

    def get_pipeline_mul_mm_id_map0(self, ne02: int, ne20: int) -> "Pipeline":
        """`kernel_mul_mm_id_map0_ne20_NE20`: which rows each of ne02 experts gets; ne20 experts for a token.

        smem is 2 bytes for every pair, since llama-cpp-python-0.3.36 rounded up to 16; the name adds ne02,
        but not in whisper.rn-0.5.2, whose cached pipeline keeps the smem of its first ne02. Raises
        KernelNotFound for numbers of experts without a kernel.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_mul_mm_id_map0.
        """
        experts, used = self._int("ne02", ne02, low=1), self._int("ne20", ne20, low=1)
        return self._call("mul_mm_id_map0", experts, used)

    def get_pipeline_mul_mm_id_amax_part(self) -> "Pipeline":
        """`kernel_mul_mm_id_amax_part_f32`: the greatest values of src1 by parts. smem 128.

        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_mul_mm_id_amax_part.
        """
        return self._call("mul_mm_id_amax_part")

    def get_pipeline_mul_mm_id_amax(self) -> "Pipeline":
        """`kernel_mul_mm_id_amax_f32`: the greatest of the parts. smem 128.

        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_mul_mm_id_amax.
        """
        return self._call("mul_mm_id_amax")

    def get_pipeline_mul_mm_id(self, op: Tensor) -> "Pipeline":
        """`kernel_mul_mm_id_T0_T1`: mul_mm for each expert. smem 8192.

        The name adds bci (ne00 is no multiple of 32) and, since llama-cpp-python-0.3.36, amax: the op asks
        for f32 precision of src1. Raises KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_mul_mm_id.
        """
        return self._of_op("mul_mm_id", op, (Op.MUL_MAT_ID,))

    def get_pipeline_mul_mv_id(self, op: Tensor) -> "Pipeline":
        """`kernel_mul_mv_id_T0_T1`: as mul_mv, for each expert; there is no `_short`.

        The name adds nsg, since llama-cpp-python-0.3.36 split. ne12, r2 and r3 are 1 since
        pywhispercpp-1.5.1, and not in the name. Raises GgmlAbort for T0 that has none, KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_mul_mv_id.
        """
        return self._of_op("mul_mv_id", op, (Op.MUL_MAT_ID,))

    def get_pipeline_topk_moe(self, n_expert: int, top_k: int, with_norm: bool) -> "Pipeline":
        """`kernel_topk_moe_f32`: soft_max, the top_k of n_expert experts and their weights.

        The name adds all three arguments; with_norm: the weights are normalised.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_topk_moe.
        """
        experts, chosen = self._int("n_expert", n_expert), self._int("top_k", top_k)
        return self._call("topk_moe", experts, chosen, self._flag("with_norm", with_norm))

    def get_pipeline_moe_reduce(self, n_expert_used: int) -> "Pipeline":
        """`kernel_moe_reduce_f32`: the weighted sum of what the experts said; the name adds their number.

        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_moe_reduce.
        """
        return self._call("moe_reduce", self._int("n_expert_used", n_expert_used))
