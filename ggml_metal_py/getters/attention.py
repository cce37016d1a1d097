"""Flash attention, its helpers, and the lightning indexer."""

from typing import TYPE_CHECKING

from .._handle import pinned
from ..enums import Op
from ..tensor import Tensor
from .checks import Checked

if TYPE_CHECKING:
    from ..pipeline import Pipeline

_OPS = (Op.FLASH_ATTN_EXT,)
_NCPSG = 32
"""Cache values that a simdgroup of the vec kernels works on (upstream: OP_FLASH_ATTN_EXT_VEC_NCPSG)."""
_NWG = 32
"""Workgroups that upstream splits the cache over."""

# Rows of a head that a simdgroup of the vec kernels reads at once, by (dk, dv); 4 for all others.
_BASELINE_NE = {
    (64, 64): 2,
    (128, 128): 1,
    (192, 128): 2,
    (192, 192): 2,
    (256, 256): 1,
    (320, 256): 2,
    (512, 512): 1,
    (576, 512): 2,
}


class AttentionGetters(Checked):
    """flash_attn_ext*, lightning_indexer.

    `has_mask` and `has_sinks` of an op without that source raise ValueError. Numbers upstream would take from
    the op, but that C passes by hand, may be left out.
    """

    def get_pipeline_flash_attn_ext_pad(self, op: Tensor, has_mask: bool, ncpsg: int) -> "Pipeline":
        """`kernel_flash_attn_ext_pad`: fills the cache up to whole blocks. The name adds mask and ncpsg.

        ncpsg, the cache values of a simdgroup: upstream passes 64, or 32 before the vec kernels.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_flash_attn_ext_pad.
        """
        mask, block = self._flag("has_mask", has_mask), self._int("ncpsg", ncpsg)
        return self._attention("flash_attn_ext_pad", op, (mask, block), mask=mask)

    def get_pipeline_flash_attn_ext_blk(self, op: Tensor, nqptg: int, ncpsg: int) -> "Pipeline":
        """`kernel_flash_attn_ext_blk`: which blocks of the mask can be skipped. The name adds both numbers.

        nqptg, the queries of a threadgroup: upstream passes 8, and ncpsg 64.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_flash_attn_ext_blk.
        """
        queries, block = self._int("nqptg", nqptg), self._int("ncpsg", ncpsg)
        return self._of_op("flash_attn_ext_blk", op, _OPS, queries, block)

    def get_pipeline_flash_attn_ext_kv_f16(self, op: Tensor) -> "Pipeline":
        """`kernel_flash_attn_ext_kv_T1_f16`: quantised K and V to f16, before other kernels read them.

        Raises KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_flash_attn_ext_kv_f16.
        """
        return self._of_op("flash_attn_ext_kv_f16", op, _OPS)

    def get_pipeline_flash_attn_ext_vec_idx(self, op: Tensor) -> "Pipeline":
        """`kernel_flash_attn_ext_vec_idx`: lists the cache values that the mask lets through.

        Raises ValueError for an op without mask.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_flash_attn_ext_vec_idx.
        """
        return self._attention("flash_attn_ext_vec_idx", op, (), mask=True)

    def get_pipeline_flash_attn_ext(
        self,
        op: Tensor,
        has_mask: bool,
        has_sinks: bool,
        has_bias: bool,
        has_scap: bool,
        has_kvpad: bool,
        nsg: int,
        use_kv_f16: bool = False,
        ns10: int | None = None,
        ns20: int | None = None,
    ) -> "Pipeline":
        """`kernel_flash_attn_ext_T1_dkDK_dvDV`, DK = ne10, DV = ne20: for many queries.

        The name adds the flags, bcm (rows of the mask are no multiple of 8), ns10 and ns20 (values from row
        to row of K and V) and nsg (upstream: 4; since pywhispercpp-1.5.0 8 for heads of 512 and more); the
        Pipeline's own nsg and smem stay 0. use_kv_f16 puts f16 for T1. Only llama-cpp-python-0.3.36 takes the
        last three; elsewhere what the op does not say raises NotInUpstream. Raises KernelNotFound for heads
        without a kernel.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_flash_attn_ext.
        """
        getter = "flash_attn_ext"
        flags = self._flags(has_mask, has_sinks, has_bias, has_scap, has_kvpad)
        groups = self._int("nsg", nsg)
        steps = self._steps(getter, op, use_kv_f16, ns10, ns20, in_c=self._arity(getter) == 11)
        return self._attention(getter, op, (*flags, groups, *steps), mask=flags[0], sinks=flags[1])

    def get_pipeline_flash_attn_ext_vec(
        self,
        op: Tensor,
        has_mask: bool,
        has_sinks: bool,
        has_bias: bool,
        has_scap: bool,
        has_kvpad: bool,
        has_sparse: bool = False,
        nqpsg: int = 1,
        ne: int | None = None,
        nsg: int | None = None,
        nwg: int = _NWG,
        use_kv_f16: bool = False,
        ns10: int | None = None,
        ns20: int | None = None,
    ) -> "Pipeline":
        """`kernel_flash_attn_ext_vec_T1_dkDK_dvDV`, DK = ne10, DV = ne20: for few queries.

        The name adds the flags, ns10, ns20 (as flash_attn_ext), nsg and nwg: simdgroups and workgroups over
        the cache. nsg None: doubled up to 4 while they cover less than half of it. Only
        llama-cpp-python-0.3.36 has sparse in the name, the last three, and nqpsg and ne, queries and rows of
        a simdgroup, as suffix `_qNQPSG_neNE` unless they are 1 and the baseline of the head's size (ne None);
        elsewhere what the op does not say raises NotInUpstream. Raises KernelNotFound for heads without a
        kernel.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_flash_attn_ext_vec.
        """
        getter = "flash_attn_ext_vec"
        flags = self._flags(has_mask, has_sinks, has_bias, has_scap, has_kvpad)
        sparse, queries = self._flag("has_sparse", has_sparse), self._int("nqpsg", nqpsg)
        in_c = self._arity(getter) == 15
        if not in_c and sparse:
            self._lacks(getter, "has_sparse", sparse)
        if not in_c and queries != 1:
            self._lacks(getter, "nqpsg", queries)
        groups = self._groups(getter, op) if nsg is None else self._int("nsg", nsg)
        steps = self._steps(getter, op, use_kv_f16, ns10, ns20, in_c)
        rows = None if ne is None else self._int("ne", ne)
        if not in_c and rows is not None and rows != self._baseline_ne(getter, op):
            self._lacks(getter, "ne", rows)
        shape: tuple[int, ...] = ()
        if in_c:
            shape = sparse, queries, self._baseline_ne(getter, op) if rows is None else rows
        arguments = (*flags, *shape, groups, self._int("nwg", nwg), *steps)
        return self._attention(getter, op, arguments, mask=flags[0] or sparse, sinks=flags[1])

    def get_pipeline_flash_attn_ext_vec_reduce(self, op: Tensor, dv: int, nwg: int) -> "Pipeline":
        """`kernel_flash_attn_ext_vec_reduce`: joins what nwg workgroups found. The name adds dv and nwg.

        Upstream passes ne20 and 32.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_flash_attn_ext_vec_reduce.
        """
        head, workgroups = self._int("dv", dv), self._int("nwg", nwg)
        return self._of_op("flash_attn_ext_vec_reduce", op, _OPS, head, workgroups)

    def get_pipeline_lightning_indexer(self, op: Tensor) -> "Pipeline":
        """`kernel_lightning_indexer_T1`, T1 being the type of the keys.

        Raises KernelNotFound.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_lightning_indexer.
        """
        return self._of_op("lightning_indexer", op, (Op.LIGHTNING_INDEXER,))

    # ---- what they share

    def _attention(
        self, getter: str, op: Tensor, arguments: tuple[int, ...], mask: bool = False, sinks: bool = False
    ) -> "Pipeline":
        """`_of_op`; what was answered before had the sources that it needs."""
        if isinstance(op, Tensor) and (self, getter, arguments) not in op._pipelines:
            if mask:
                self._need_source(getter, op, _OPS, 3, "mask")
            if sinks:
                self._need_source(getter, op, _OPS, 4, "sinks")
        return self._of_op(getter, op, _OPS, *arguments)

    def _flags(self, mask: bool, sinks: bool, bias: bool, scap: bool, kvpad: bool) -> tuple[bool, ...]:
        names = "has_mask", "has_sinks", "has_bias", "has_scap", "has_kvpad"
        values = mask, sinks, bias, scap, kvpad
        return tuple(self._flag(name, value) for name, value in zip(names, values, strict=True))

    def _groups(self, getter: str, op: Tensor) -> int:
        self._check_op(getter, op, _OPS)
        values = self._source(op, 1).ne[1]
        groups = 1
        while 2 * _NWG * groups * _NCPSG < values and groups < 4:
            groups *= 2
        return groups

    def _baseline_ne(self, getter: str, op: Tensor) -> int:
        self._check_op(getter, op, _OPS)
        return _BASELINE_NE.get((self._source(op, 1).ne[0], self._source(op, 2).ne[0]), 4)

    def _derived_steps(self, getter: str, op: Tensor, as_f16: bool) -> tuple[int, int]:
        """ns10 and ns20 as upstream takes them from the op."""
        self._check_op(getter, op, _OPS)
        k, v = self._source(op, 1), self._source(op, 2)
        if as_f16:  # it reads contiguous copies
            return k.ne[0], k.ne[0] if self._v_is_in_k(op) else v.ne[0]
        return k.nb[1] // k.nb[0], v.nb[1] // v.nb[0]

    def _v_is_in_k(self, op: Tensor) -> bool:
        with pinned(op.context._reachable()):
            k, v = op._use().src[1], op._use().src[2]
            if v.view_src == self._native.ffi.NULL:
                return False
            return bool(v.view_src == k or (v.view_src == k.view_src and v.view_offs == k.view_offs))

    def _steps(
        self,
        getter: str,
        op: Tensor,
        use_kv_f16: bool,
        ns10: int | None,
        ns20: int | None,
        in_c: bool,
    ) -> tuple[int, ...]:
        """use_kv_f16, ns10 and ns20, checked, as C takes them in this row."""
        as_f16 = self._flag("use_kv_f16", use_kv_f16)
        if as_f16 and not in_c:
            self._lacks(getter, "use_kv_f16", as_f16)
        given = (
            None if ns10 is None else self._int("ns10", ns10),
            None if ns20 is None else self._int("ns20", ns20),
        )
        if given == (None, None) and not in_c:
            return ()
        derived = (0, 0) if in_c and None not in given else self._derived_steps(getter, op, as_f16)
        steps = tuple(own if step is None else step for step, own in zip(given, derived, strict=True))
        if in_c:
            return as_f16, self._int("ns10", steps[0]), self._int("ns20", steps[1])
        for name, step, own in zip(("ns10", "ns20"), steps, derived, strict=True):
            if step != own:
                self._lacks(getter, name, step)
        return ()
