"""Steps of optimisers."""

from typing import TYPE_CHECKING

from ..enums import Op
from ..tensor import Tensor
from .checks import Checked

if TYPE_CHECKING:
    from ..pipeline import Pipeline


class OptimiserGetters(Checked):
    """opt_step_adamw, opt_step_sgd. Both raise KernelNotFound."""

    def get_pipeline_opt_step_adamw(self, op: Tensor) -> "Pipeline":
        """`kernel_opt_step_adamw_T0`.

        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_opt_step_adamw.
        """
        return self._of_op("opt_step_adamw", op, (Op.OPT_STEP_ADAMW,))

    def get_pipeline_opt_step_sgd(self, op: Tensor) -> "Pipeline":
        """`kernel_opt_step_sgd_T0`.

        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_opt_step_sgd.
        """
        return self._of_op("opt_step_sgd", op, (Op.OPT_STEP_SGD,))
