"""State-space and recurrent models, and hyper-connections."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..enums import Op
from ..tensor import Tensor
from .checks import Checked
from .reads import RESULT

if TYPE_CHECKING:
    from ..pipeline import Pipeline


class SequenceGetters(Checked):
    """ssm_conv, ssm_conv_batched, ssm_scan, ssm_scan_ssd_mma, rwkv, gated_delta_net, dsv4_hc."""

    def get_pipeline_ssm_conv(self, op: Tensor, nc: int | None = None, use_silu: bool = False) -> "Pipeline":
        """`kernel_ssm_conv_f32_f32`, `_4` when ne10 is a multiple of 4.

        nc is the length of the filter (None: ne10, as upstream passes); use_silu: with the SILU that follows
        in the graph. Both are in the name; older rows have neither, NotInUpstream. Raises GgmlAbort for
        sources that are not contiguous f32.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_ssm_conv.
        """
        return self._ssm_conv("ssm_conv", op, (), nc, use_silu)

    def get_pipeline_ssm_conv_batched(
        self, op: Tensor, ssm_conv_bs: int, nc: int | None = None, use_silu: bool = False
    ) -> "Pipeline":
        """`kernel_ssm_conv_f32_f32_batched`, `_4` as ssm_conv, for ssm_conv_bs tokens in a threadgroup.

        The name adds ssm_conv_bs (a constant of 16 bits), then as ssm_conv.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_ssm_conv_batched.
        """
        batch = self._int("ssm_conv_bs", ssm_conv_bs)
        return self._ssm_conv("ssm_conv_batched", op, (batch,), nc, use_silu)

    def _ssm_conv(
        self, getter: str, op: Tensor, before: tuple[int, ...], nc: int | None, use_silu: bool
    ) -> "Pipeline":
        ops = (Op.SSM_CONV,)
        length = None if nc is None else self._int("nc", nc)
        silu = self._flag("use_silu", use_silu)
        modern = self._arity(getter) == 4 + len(before)
        if modern and length is not None:
            return self._of_op(getter, op, ops, *before, length, silu)
        if not modern and silu:
            self._lacks(getter, "use_silu", silu)
        if not modern and length is None:
            return self._of_op(getter, op, ops, *before)
        self._check_op(getter, op, ops)
        filter_length = self._source(op, 1).ne[0]
        if modern:
            return self._of_op(getter, op, ops, *before, filter_length, silu)
        if length != filter_length:
            self._lacks(getter, "nc", length)
        return self._of_op(getter, op, ops, *before)

    def get_pipeline_ssm_scan(self, op: Tensor, tail: bool = False) -> "Pipeline":
        """`kernel_ssm_scan_T0`; the name adds nsg, one for every 32 values of ne00.

        smem: 34 floats for each simdgroup (whisper.rn-0.5.2: 32; llama-cpp-python-0.3.36 rounds up to 16
        bytes); nsg itself stays 0. tail is `_tail`: what follows whole chunks; older rows have none,
        NotInUpstream. Raises KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_ssm_scan.
        """
        at_end = self._flag("tail", tail)
        if self._arity("ssm_scan") == 3:
            return self._of_op("ssm_scan", op, (Op.SSM_SCAN,), at_end)
        if at_end:
            self._lacks("ssm_scan", "tail", at_end)
        return self._of_op("ssm_scan", op, (Op.SSM_SCAN,))

    def get_pipeline_ssm_scan_ssd_mma(self, op: Tensor) -> "Pipeline":
        """`kernel_ssm_scan_ssd_mma_T0`: chunks of 64 tokens by products of matrices. smem 27392.

        Raises KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_ssm_scan_ssd_mma.
        """
        return self._of_op("ssm_scan_ssd_mma", op, (Op.SSM_SCAN,))

    def get_pipeline_rwkv(self, op: Tensor) -> "Pipeline":
        """`kernel_rwkv_wkv6_T0` or `kernel_rwkv_wkv7_T0`; RWKV_WKV6 and RWKV_WKV7.

        Raises GgmlAbort when a head is not 64 wide or the state is not f32, KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_rwkv.
        """
        return self._of_op("rwkv", op, (Op.RWKV_WKV6, Op.RWKV_WKV7))

    def _check_op(self, getter: str, op: Tensor, ops: Sequence[Op]) -> None:
        super()._check_op(getter, op, ops)
        if getter == "rwkv":
            state = 6 if self._source(op, RESULT).op == self._op_value(Op.RWKV_WKV7) else 5
            if not self._has_source(op, state):
                raise ValueError(f"get_pipeline_rwkv: {op!r} has no src{state}")

    def get_pipeline_gated_delta_net(self, op: Tensor) -> "Pipeline":
        """`kernel_gated_delta_net_T0_NSG`, nsg = ne20 / 32; the name adds ne20, ne30 and K.

        K, the snapshots of the state, is ne51 in pywhispercpp-1.5.1 and a parameter of the op since
        ggml-python-0.0.45; older rows have none. Raises GgmlAbort when ne20 is no multiple of 32,
        KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_gated_delta_net.
        """
        return self._of_op("gated_delta_net", op, (Op.GATED_DELTA_NET,))

    def get_pipeline_dsv4_hc(self, op: Tensor) -> "Pipeline":
        """`kernel_dsv4_hc_comb_f32`, `_pre_f32` or `_post_f32`; DSV4_HC_COMB, DSV4_HC_PRE, DSV4_HC_POST.

        Since llama-cpp-python-0.3.36: `_pre_gated_f32` and `_post_nocomb_f32` by the op, and pre's name adds
        n_hc = ne01.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_dsv4_hc.
        """
        ops = (Op.DSV4_HC_COMB, Op.DSV4_HC_PRE, Op.DSV4_HC_POST)
        if "ggml_tensor" in self._argument_types("dsv4_hc")[1]:
            return self._of_op("dsv4_hc", op, ops)
        self._check_op("dsv4_hc", op, ops)
        return self._call("dsv4_hc", self._source(op, RESULT).op)
