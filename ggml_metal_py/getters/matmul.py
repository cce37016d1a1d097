"""Matrix products."""

from typing import TYPE_CHECKING

from ..enums import Op
from ..tensor import Tensor, Type
from .checks import Checked

if TYPE_CHECKING:
    from ..pipeline import Pipeline

_PRODUCT = (Op.MUL_MAT,)


class MatmulGetters(Checked):
    """mul_mm, mul_mv, mul_mv_ext, fwht."""

    def get_pipeline_mul_mm(self, op: Tensor) -> "Pipeline":
        """`kernel_mul_mm_T0_T1`: the product by tiles.

        The name adds bci (ne00 is no multiple of 32), bco (the result is no whole number of tiles) and, since
        pywhispercpp-1.5.1, ne12, ne13, r2 = ne12 / ne02 and r3 = ne13 / ne03. A tile is 64 x 32 values, nsg
        4, smem 6144, or 8192 with bco; with the GPU's tensor API it is nr0 64 x nr1 128, smem 4096. Rows
        before ggml-py-0.10.1 leave nsg, nr0 and nr1 at 0. Raises GgmlAbort for ne12 or ne13 over 32767,
        KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_mul_mm.
        """
        return self._of_op("mul_mm", op, _PRODUCT)

    def get_pipeline_mul_mv(self, op: Tensor) -> "Pipeline":
        """`kernel_mul_mv_T0_T1`: the product row by row, for few rows of src1.

        f32, f16, bf16: `_short` below 32 values in a row (nr0 32), else `_4` for multiples of 4, nr0 2, nsg
        one for every 128 values up to 4, smem 256. Quantised: nr0, nsg and smem by the type. The name adds
        nsg; since pywhispercpp-1.5.1 ne12, r2, r3 as well; since llama-cpp-python-0.3.36 split: IQ types
        whose ne00 / 32 is below 32 and divides it, with nr0 8. Raises GgmlAbort for T0 that has none,
        KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_mul_mv.
        """
        return self._of_op("mul_mv", op, _PRODUCT)

    def get_pipeline_mul_mv_ext(self, op: Tensor, nsg: int, nxpsg: int, r1ptg: int) -> "Pipeline":
        """`kernel_mul_mv_ext_T0_T1_r1_R1PTG`: between mul_mv and mul_mm, for 2 to 8 rows of src1.

        nxpsg lanes work on a row (upstream: 4, 8 or 16), on r1ptg rows of src1 at once (2..5). The name adds
        nsg and nxpsg; since pywhispercpp-1.5.1 ne12, r2, r3, too. Raises GgmlAbort for those over 32767,
        KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_mul_mv_ext.
        """
        numbers = self._int("nsg", nsg), self._int("nxpsg", nxpsg), self._int("r1ptg", r1ptg)
        if self._arity("mul_mv_ext") == 5:
            return self._of_op("mul_mv_ext", op, _PRODUCT, *numbers)
        self._check_op("mul_mv_ext", op, _PRODUCT)
        return self._call("mul_mv_ext", self._source(op, 0).type, self._source(op, 1).type, *numbers)

    def get_pipeline_fwht(self, n: int, tsrc: Type | str = Type.F32) -> "Pipeline":
        """`kernel_fwht_TSRC_N`: the fast Walsh-Hadamard transform of rows of n values; f32 on older rows.

        Raises KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_fwht.
        """
        length, kind = self._int("n", n), self._type_value(tsrc)
        if self._arity("fwht") == 3:
            return self._call("fwht", length, kind)
        if kind != Type.F32:
            self._lacks("fwht", "tsrc", Type(kind).name.lower())
        return self._call("fwht", length)
