"""Element by element: unary, gated and binary ops."""

from typing import TYPE_CHECKING

from .._handle import pinned
from ..enums import Op
from ..tensor import Tensor, Type
from .checks import Checked
from .reads import RESULT

if TYPE_CHECKING:
    from ..pipeline import Pipeline

_UNARY = (
    Op.UNARY,
    Op.SCALE,
    Op.FILL,
    Op.CLAMP,
    Op.SQR,
    Op.SQRT,
    Op.SIN,
    Op.COS,
    Op.LOG,
    Op.LEAKY_RELU,
)
_BINARY = (Op.ADD, Op.SUB, Op.MUL, Op.DIV)


class ElementwiseGetters(Checked):
    """unary, glu, silu_back, snake, bin, bin_one, base."""

    def get_pipeline_base(self, op: Op | str) -> "Pipeline":
        """`kernel_OP` for ops with a single kernel: ADD_ID; before ggml-python-0.0.45 CONCAT, too.

        Raises GgmlAbort for every other op.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_base.
        """
        return self._call("base", self._op_value(op))

    def get_pipeline_unary(self, op: Tensor) -> "Pipeline":
        """`kernel_unary_T0_T`, `_4` when ne00 is a multiple of 4; takes UNARY, SCALE, FILL, CLAMP, SQR...

        The name adds the number of the op and cnt: src0 is contiguous and the result has less than 32768
        values. Both whisper.rn rows: `kernel_OP_T0`, `_4` when the number of values is a multiple of 4.
        Raises GgmlAbort for a UNARY that has no kernel, on whisper.rn also for src0 that is not contiguous.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_unary.
        """
        return self._of_op("unary", op, _UNARY)

    def get_pipeline_glu(self, op: Tensor) -> "Pipeline":
        """`kernel_GLU_T0`, GLU being reglu, geglu, swiglu, swiglu_oai, geglu_erf...

        Raises GgmlAbort for a variant without kernel, and for rows of src0 that are not contiguous.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_glu.
        """
        return self._of_op("glu", op, (Op.GLU,))

    def get_pipeline_silu_back(self, op: Tensor) -> "Pipeline":
        """`kernel_silu_back_T0`.

        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_silu_back.
        """
        return self._of_op("silu_back", op, (Op.SILU_BACK,))

    def get_pipeline_snake(self, type: Type | str) -> "Pipeline":
        """`kernel_snake_T`: what upstream fuses x + sin(a x)^2 / b into. f32, f16, bf16, else GgmlAbort.

        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_snake.
        """
        return self._call("snake", self._type_value(type))

    def get_pipeline_bin(self, op: Tensor, n_fuse: int) -> "Pipeline":
        """`kernel_bin_fuse_T0_T1_T`, `_4` when ne00 and ne10 are multiples of 4; ADD, SUB, MUL, DIV.

        The name adds op=0..3, nf=n_fuse (ops fused into one), rb: both contiguous, src1 one row, the result
        below 65536 values; cb: ne00 differs from ne10. c4 is `_4`, cnt is rb. Both whisper.rn rows:
        `kernel_OP_row_c4_fuse_N` when src1 is one contiguous row and ne00 and ne10 are multiples of 4, else
        `kernel_OP_fuse_N`; there kernels exist for fusing 1..8 (of ADD), elsewhere for every number.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_bin.
        """
        fused = self._int("n_fuse", n_fuse)
        if self._arity("bin") == 3:
            return self._of_op("bin", op, _BINARY, fused)
        self._check_op("bin", op, _BINARY)
        return self._call("bin", self._source(op, RESULT).op, fused, self._adds_one_row(op))

    def _adds_one_row(self, op: Tensor) -> bool:
        """As ggml-metal-ops.cpp decides before it calls, in rows whose getter does not."""
        src0, src1 = self._source(op, 0), self._source(op, 1)
        with pinned(op.context._reachable()):
            contiguous = bool(self._native.ggml_is_contiguous(op._use().src[1]))
        # ops.cpp compares the number of values with ne10 in 32 bits.
        one_row = contiguous and src1.ne[1:] == (1, 1, 1) and src1.ne[0] < 2**31
        return one_row and src0.ne[0] % 4 == 0 and src1.ne[0] % 4 == 0

    def get_pipeline_bin_one(self, op: Op | str) -> "Pipeline":
        """`kernel_bin_fuse_f32_f32_f32` for one op, as ACC uses it; ADD, SUB, MUL, DIV, else GgmlAbort.

        Constants as of `bin`, with rb false and without cb.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_bin_one.
        """
        return self._call("bin_one", self._op_value(op))
