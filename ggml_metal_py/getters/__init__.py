"""The mirrors of `ggml_metal_library_get_pipeline_*`, by family. `library.Library` is all of them."""

from .attention import AttentionGetters
from .convolution import ConvolutionGetters
from .copies import CopyGetters
from .elementwise import ElementwiseGetters
from .images import ImageGetters
from .matmul import MatmulGetters
from .matrices import MatrixGetters
from .moe import MoeGetters
from .norms import NormGetters
from .optimisers import OptimiserGetters
from .positions import PositionGetters
from .reductions import ReductionGetters
from .sequence import SequenceGetters
from .sorting import SortingGetters

__all__ = ["AllGetters"]


class AllGetters(
    ElementwiseGetters,
    CopyGetters,
    ReductionGetters,
    NormGetters,
    MatrixGetters,
    MatmulGetters,
    MoeGetters,
    AttentionGetters,
    SequenceGetters,
    SortingGetters,
    ConvolutionGetters,
    ImageGetters,
    PositionGetters,
    OptimiserGetters,
):
    """Every getter of every row."""
