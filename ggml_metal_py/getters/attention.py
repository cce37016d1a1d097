"""Flash attention, its helpers, and the lightning indexer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._handle import pinned
from ..enums import Op
from ..tensor import Tensor
from .checks import Checked, Source

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
        self._need_mask("flash_attn_ext_pad", op, mask)
        return self._of_op("flash_attn_ext_pad", op, _OPS, mask, block)

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
        self._need_mask("flash_attn_ext_vec_idx", op, True)
        return self._of_op("flash_attn_ext_vec_idx", op, _OPS)

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
        to row of K and V) and nsg (upstream: 4, or 8 for heads of 512 and more); the Pipeline's own nsg and
        smem stay 0. use_kv_f16 puts f16 for T1. Only llama-cpp-python-0.3.36 takes the last three; elsewhere
        what the op does not say raises NotInUpstream. Raises KernelNotFound for heads without a kernel.
        Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_flash_attn_ext.
        """
        getter = "flash_attn_ext"
        flags = self._flags(getter, op, has_mask, has_sinks, has_bias, has_scap, has_kvpad)
        groups = self._int("nsg", nsg)
        steps = self._steps(getter, op, use_kv_f16, ns10, ns20, in_c=self._arity(getter) == 11)
        return self._of_op(getter, op, _OPS, *flags, groups, *steps)

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
        flags = self._flags(getter, op, has_mask, has_sinks, has_bias, has_scap, has_kvpad)
        sparse, queries = self._flag("has_sparse", has_sparse), self._int("nqpsg", nqpsg)
        self._need_mask(getter, op, sparse)
        in_c = self._arity(getter) == 15
        if not in_c and sparse:
            self._lacks(getter, "has_sparse", sparse)
        if not in_c and queries != 1:
            self._lacks(getter, "nqpsg", queries)
        groups = self._groups(getter, op) if nsg is None else self._int("nsg", nsg)
        steps = self._steps(getter, op, use_kv_f16, ns10, ns20, in_c)
        shape: tuple[int, ...] = ()
        if in_c or ne is not None:
            baseline = self._baseline_ne(getter, op)
            rows = baseline if ne is None else self._int("ne", ne)
            if not in_c and rows != baseline:
                self._lacks(getter, "ne", rows)
            shape = (sparse, queries, rows) if in_c else ()
        return self._of_op(getter, op, _OPS, *flags, *shape, groups, self._int("nwg", nwg), *steps)

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

    def _check_op(self, getter: str, op: Tensor, ops: Sequence[Op]) -> None:
        super()._check_op(getter, op, ops)
        if getter in ("flash_attn_ext", "flash_attn_ext_vec"):
            for index in (1, 2):  # older rows divide by it
                if self._source(op, index).nb[0] < 1:
                    raise ValueError(f"get_pipeline_{getter}: src{index} of {op!r} has a stride nb0 of 0")

    def _need_mask(self, getter: str, op: Tensor, needed: bool) -> None:
        if needed:
            self._need_source(getter, op, _OPS, 3, "mask")

    def _flags(
        self, getter: str, op: Tensor, mask: bool, sinks: bool, bias: bool, scap: bool, kvpad: bool
    ) -> tuple[bool, ...]:
        names = "has_mask", "has_sinks", "has_bias", "has_scap", "has_kvpad"
        values = mask, sinks, bias, scap, kvpad
        flags = tuple(self._flag(name, value) for name, value in zip(names, values, strict=True))
        self._need_mask(getter, op, flags[0])
        if flags[1]:
            self._need_source(getter, op, _OPS, 4, "sinks")
        return flags

    def _sources_of(self, getter: str, op: Tensor) -> tuple[Source, Source, bool]:
        """K, V, and whether V is a view of K's memory."""
        self._check_op(getter, op, _OPS)
        k, v = self._source(op, 1), self._source(op, 2)
        return k, v, self._same_memory(op)

    def _same_memory(self, op: Tensor) -> bool:
        with pinned(op.context._reachable()):
            k, v = op._use().src[1], op._use().src[2]
            if v.view_src == self._native.ffi.NULL:
                return False
            return bool(v.view_src == k or (v.view_src == k.view_src and v.view_offs == k.view_offs))

    def _groups(self, getter: str, op: Tensor) -> int:
        k = self._sources_of(getter, op)[0]
        groups = 1
        while 2 * _NWG * groups * _NCPSG < k.ne[1] and groups < 4:
            groups *= 2
        return groups

    def _baseline_ne(self, getter: str, op: Tensor) -> int:
        k, v, _ = self._sources_of(getter, op)
        return _BASELINE_NE.get((k.ne[0], v.ne[0]), 4)

    def _steps(
        self,
        getter: str,
        op: Tensor,
        use_kv_f16: bool,
        ns10: int | None,
        ns20: int | None,
        in_c: bool,
    ) -> tuple[int, ...]:
        """use_kv_f16, ns10 and ns20, checked, as C takes them."""
        as_f16 = self._flag("use_kv_f16", use_kv_f16)
        if as_f16 and not in_c:
            self._lacks(getter, "use_kv_f16", as_f16)
        given = {
            name: self._int(name, step) for name, step in (("ns10", ns10), ("ns20", ns20)) if step is not None
        }
        if not in_c and not given:
            return ()
        steps = given
        if not in_c or len(given) < 2:
            k, v, shared = self._sources_of(getter, op)
            if as_f16:
                derived = {"ns10": k.ne[0], "ns20": k.ne[0] if shared else v.ne[0]}
            else:
                derived = {"ns10": k.nb[1] // k.nb[0], "ns20": v.nb[1] // v.nb[0]}
            steps = {name: self._int(name, step) for name, step in (derived | given).items()}
            if not in_c:
                for name, step in given.items():
                    if step != derived[name]:
                        self._lacks(getter, name, step)
                return ()
        return as_f16, steps["ns10"], steps["ns20"]
