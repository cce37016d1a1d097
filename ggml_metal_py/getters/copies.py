"""Moving values: copies, rows by index, repetition, concatenation."""

from typing import TYPE_CHECKING

from ..enums import Op
from ..tensor import Tensor, Type
from .checks import Checked
from .reads import RESULT

if TYPE_CHECKING:
    from ..pipeline import Pipeline


class CopyGetters(Checked):
    """cpy, repeat, concat, get_rows, set_rows, memset."""

    def get_pipeline_cpy(self, tsrc: Type | str, tdst: Type | str) -> "Pipeline":
        """`kernel_cpy_TSRC_TDST`: what CPY, DUP and CONT run, and SET and ACC before they write.

        Raises KernelNotFound for two types without a kernel, NotInUpstream for a type the row does not know.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_cpy.
        """
        return self._call("cpy", self._type_value(tsrc), self._type_value(tdst))

    def get_pipeline_repeat(self, tsrc: Type | str) -> "Pipeline":
        """`kernel_repeat_TSRC`.

        Raises KernelNotFound, NotInUpstream.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_repeat.
        """
        return self._call("repeat", self._type_value(tsrc))

    def get_pipeline_concat(self, tsrc: Type | str) -> "Pipeline":
        """`kernel_concat_TSRC`. Rows before ggml-python-0.0.45: `get_pipeline_base("concat")`.

        Raises KernelNotFound, NotInUpstream.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_concat.
        """
        return self._call("concat", self._type_value(tsrc))

    def get_pipeline_get_rows(self, tsrc: Type | str) -> "Pipeline":
        """`kernel_get_rows_TSRC`.

        Raises KernelNotFound, NotInUpstream.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_get_rows.
        """
        return self._call("get_rows", self._type_value(tsrc))

    def get_pipeline_set_rows(self, op: Tensor) -> "Pipeline":
        """`kernel_set_rows_T0_T1_T`: types of the values, of the indices (src1) and of the result.

        Rows before libggml-python-0.20.2: `kernel_set_rows_T_T1`; their values are f32. Raises
        KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_set_rows.
        """
        if self._arity("set_rows") == 2:
            return self._of_op("set_rows", op, (Op.SET_ROWS,))
        self._check_op("set_rows", op, (Op.SET_ROWS,))
        return self._call("set_rows", self._source(op, 1).type, self._source(op, RESULT).type)

    def get_pipeline_memset(self, op: Tensor) -> "Pipeline":
        """`kernel_memset_T`, T being i64: what COUNT_EQUAL clears its result with. Takes any tensor.

        Raises GgmlAbort for every other type.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_memset.
        """
        return self._of_op("memset", op, tuple(Op))
