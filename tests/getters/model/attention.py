"""Flash attention: the two kernels that compute it and their helpers, and the lightning indexer."""

from .. import c
from ..expected import Abort, Expected, boolean, int32, rule
from ..rows import Row
from ..views import OpView

FC_PAD = 100
FC_BLK = 200
FC_FULL = 300
FC_VEC = 400
FC_VEC_REDUCE = 500

# Elements of a head that a lane handles, in the plain instance of the vector kernel; else 4.
VEC_NE = {
    (64, 64): 2,
    (128, 128): 1,
    (192, 192): 2,
    (192, 128): 2,
    (256, 256): 1,
    (320, 256): 2,
    (512, 512): 1,
    (576, 512): 2,
}


def row_stride(of: OpView, as_f16: bool) -> int:
    """From row to row, in elements (or blocks) that lie side by side; a converted copy is packed."""
    return of.ne[0] if as_f16 else c.int32(of.nb[1] // of.nb[0])


@rule("flash_attn_ext_pad")
def flash_attn_ext_pad(row: Row, op: OpView, has_mask: bool, ncpsg: int) -> Expected:
    base = "kernel_flash_attn_ext_pad"
    constants = boolean(FC_PAD, has_mask), int32(FC_PAD + 25, ncpsg)
    return Expected(base, f"{base}_mask={has_mask:d}_ncpsg={ncpsg}", constants=constants)


@rule("flash_attn_ext_blk")
def flash_attn_ext_blk(row: Row, op: OpView, nqptg: int, ncpsg: int) -> Expected:
    base = "kernel_flash_attn_ext_blk"
    constants = int32(FC_BLK + 24, nqptg), int32(FC_BLK + 25, ncpsg)
    return Expected(base, f"{base}_nqptg={nqptg}_ncpsg={ncpsg}", constants=constants)


@rule("flash_attn_ext_kv_f16")
def flash_attn_ext_kv_f16(row: Row, op: OpView) -> Expected:
    return Expected(f"kernel_flash_attn_ext_kv_{op.sources(2)[1].type}_f16")


@rule("flash_attn_ext")
def flash_attn_ext(
    row: Row,
    op: OpView,
    *,
    has_mask: bool,
    has_sinks: bool,
    has_bias: bool,
    has_scap: bool,
    has_kvpad: bool,
    nsg: int,
    use_kv_f16: bool = False,
    ns10: int | None = None,
    ns20: int | None = None,
) -> Expected:
    """Strides that are not given come from the tensors, as always before 0.25.3."""
    _, k, v = op.sources(3)
    mask = op.src[3]
    bc_mask = mask is not None and mask.ne[1] % 8 != 0
    ns10 = row_stride(k, use_kv_f16) if ns10 is None else ns10
    ns20 = row_stride(v, use_kv_f16) if ns20 is None else ns20
    kind = "f16" if use_kv_f16 else k.type
    base = f"kernel_flash_attn_ext_{kind}_dk{k.ne[0]}_dv{v.ne[0]}"
    name = (
        f"{base}_mask={has_mask:d}_sinks={has_sinks:d}_bias={has_bias:d}_scap={has_scap:d}"
        f"_kvpad={has_kvpad:d}_bcm={bc_mask:d}_ns10={ns10}_ns20={ns20}_nsg={nsg}"
    )
    flags = (has_mask, has_sinks, has_bias, has_scap, has_kvpad)
    constants = [boolean(FC_FULL + i, flag) for i, flag in enumerate(flags)]
    constants.append(boolean(FC_FULL + 10, bc_mask))
    constants += [int32(FC_FULL + 20 + i, value) for i, value in enumerate((ns10, ns20, nsg))]
    return Expected(base, name, constants=tuple(constants))


@rule("flash_attn_ext_vec")
def flash_attn_ext_vec(
    row: Row,
    op: OpView,
    *,
    has_mask: bool,
    has_sinks: bool,
    has_bias: bool,
    has_scap: bool,
    has_kvpad: bool,
    nsg: int,
    nwg: int,
    has_sparse: bool = False,
    nqpsg: int = 1,
    ne: int | None = None,
    use_kv_f16: bool = False,
    ns10: int | None = None,
    ns20: int | None = None,
) -> Expected:
    """From 0.25.3 on there are instances with other nqpsg and ne than the plain one, and sparse masks."""
    _, k, v = op.sources(3)
    ns10 = row_stride(k, use_kv_f16) if ns10 is None else ns10
    ns20 = row_stride(v, use_kv_f16) if ns20 is None else ns20
    kind = "f16" if use_kv_f16 else k.type
    base = f"kernel_flash_attn_ext_vec_{kind}_dk{k.ne[0]}_dv{v.ne[0]}"
    plain = VEC_NE.get((k.ne[0], v.ne[0]), 4)
    ne = plain if ne is None else ne
    if (nqpsg, ne) != (1, plain):
        base += f"_q{nqpsg}_ne{ne}"[:15]
    sparse = f"_sparse={has_sparse:d}" if row >= Row.V0_25_3 else ""
    name = (
        f"{base}_mask={has_mask:d}_sink={has_sinks:d}_bias={has_bias:d}_scap={has_scap:d}"
        f"_kvpad={has_kvpad:d}{sparse}_ns10={ns10}_ns20={ns20}_nsg={nsg}_nwg={nwg}"
    )
    flags = [has_mask, has_sinks, has_bias, has_scap, has_kvpad]
    if row >= Row.V0_25_3:
        flags.append(has_sparse)
    constants = [boolean(FC_VEC + i, flag) for i, flag in enumerate(flags)]
    constants += [int32(FC_VEC + 20 + i, value) for i, value in enumerate((ns10, ns20, nsg, nwg))]
    return Expected(base, name, constants=tuple(constants))


@rule("flash_attn_ext_vec_idx")
def flash_attn_ext_vec_idx(row: Row, op: OpView) -> Expected:
    return Expected("kernel_flash_attn_ext_vec_idx")


@rule("flash_attn_ext_vec_reduce")
def flash_attn_ext_vec_reduce(row: Row, op: OpView, dv: int, nwg: int) -> Expected:
    base = "kernel_flash_attn_ext_vec_reduce"
    constants = int32(FC_VEC_REDUCE, dv), int32(FC_VEC_REDUCE + 1, nwg)
    return Expected(base, f"{base}_dv={dv}_nwg={nwg}", constants=constants)


@rule("lightning_indexer")
def lightning_indexer(row: Row, op: OpView) -> Expected | Abort:
    return Expected(f"kernel_lightning_indexer_{op.sources(2)[1].type}")
