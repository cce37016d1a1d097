"""State-space and recurrent models, triangular systems, transforms, hyper-connections."""

from .. import c
from ..expected import Abort, Expected, boolean, int16, int32, rule
from ..rows import Row
from ..views import OpView

FC_SSM_CONV = 900
FC_SOLVE_TRI = 1000
FC_GATED_DELTA_NET = 1600
FC_DSV4_HC = 2000


def _unfit_for_conv(op: OpView) -> Abort | None:
    for i, source in enumerate(op.sources(2)):
        if source.type != "f32":
            return Abort(f"op->src[{i}]->type == GGML_TYPE_F32")
    for i, source in enumerate(op.sources(2)):
        if not source.is_contiguous:
            return Abort(f"ggml_is_contiguous(op->src[{i}])")
    return None


@rule("ssm_conv")
def ssm_conv(row: Row, op: OpView, nc: int | None = None, use_silu: bool = False) -> Expected | Abort:
    unfit = _unfit_for_conv(op)
    if unfit:
        return unfit
    width = op.sources(2)[1].ne[0]
    base = "kernel_ssm_conv_f32_f32" + ("" if width % 4 else "_4")
    if row < Row.V0_25_3:
        return Expected(base)
    nc = width if nc is None else nc
    constants = boolean(FC_SSM_CONV + 1, use_silu), int32(FC_SSM_CONV + 2, nc)
    return Expected(base, f"{base}_nc={nc}_silu={use_silu:d}", constants=constants)


@rule("ssm_conv_batched")
def ssm_conv_batched(
    row: Row, op: OpView, ssm_conv_bs: int, nc: int | None = None, use_silu: bool = False
) -> Expected | Abort:
    unfit = _unfit_for_conv(op)
    if unfit:
        return unfit
    width = op.sources(2)[1].ne[0]
    base = "kernel_ssm_conv_f32_f32_batched" + ("" if width % 4 else "_4")
    name = f"{base}_ssm_conv_bs={ssm_conv_bs}"
    constants = [int16(FC_SSM_CONV, ssm_conv_bs)]
    if row >= Row.V0_25_3:
        nc = width if nc is None else nc
        name += f"_nc={nc}_silu={use_silu:d}"
        constants += [boolean(FC_SSM_CONV + 1, use_silu), int32(FC_SSM_CONV + 2, nc)]
    return Expected(base, name, constants=tuple(constants))


@rule("ssm_scan")
def ssm_scan(row: Row, op: OpView, tail: bool = False) -> Expected:
    """nsg is in the name only. Two more floats for each simdgroup since 0.9.5."""
    (state,) = op.sources(1)
    nsg = (state.ne[0] + 31) // 32
    base = f"kernel_ssm_scan_{state.type}" + ("_tail" if tail else "")
    smem = (32 if row < Row.V0_9_5 else 34) * 4 * nsg
    return Expected(base, f"{base}_nsg={nsg}", smem=c.pad(smem, 16) if row >= Row.V0_25_3 else smem)


@rule("ssm_scan_ssd_mma")
def ssm_scan_ssd_mma(row: Row, op: OpView) -> Expected:
    """Chunks of 64 tokens, heads of 64, 4 simdgroups."""
    floats = 3 * 64 + 64 * 64 + 4 * 8 * 64 + 4 * 2 * 8 * 8
    return Expected(f"kernel_ssm_scan_ssd_mma_{op.sources(1)[0].type}", smem=4 * floats)


@rule("rwkv")
def rwkv(row: Row, op: OpView) -> Expected | Abort:
    (first,) = op.sources(1)
    version = {"RWKV_WKV6": 6, "RWKV_WKV7": 7}[op.op]
    state_index = {6: 5, 7: 6}[version]
    state = op.src[state_index]
    assert state is not None
    if state.type != "f32":
        return Abort(f"op->src[{state_index}]->type == GGML_TYPE_F32")
    channels, heads = op.ne[0], first.ne[1]
    if channels % heads:
        return Abort("C % H == 0")
    if channels // heads != 64:
        return Abort("C / H == 64")
    return Expected(f"kernel_rwkv_wkv{version}_{first.type}")


@rule("gated_delta_net")
def gated_delta_net(row: Row, op: OpView) -> Expected | Abort:
    """K, the number of snapshots, is an axis of the state in 0.13.1 and a parameter later."""
    q, _, v, gate, _, state = op.sources(6)
    ne20, ne21, ne30 = v.ne[0], v.ne[1], gate.ne[0]
    nsg = ne20 // 32
    if state.type != "f32":
        return Abort("op->src[5]->type == GGML_TYPE_F32")
    if op.ne[0] != ne20 * ne21:
        return Abort("op->ne[0] == ne20 * ne21")
    if ne20 % 32:
        return Abort("ne20 % 32 == 0")
    base = f"kernel_gated_delta_net_{q.type}_{nsg}"
    name = f"{base}_ne20={ne20}_ne30={ne30}"
    constants = [int16(FC_GATED_DELTA_NET, ne20), int16(FC_GATED_DELTA_NET + 1, ne30)]
    if row >= Row.V0_13_1:
        snapshots = state.ne[1] if row < Row.V0_15_3 else op.params[0]
        name += f"_K={snapshots}"
        constants.append(int16(FC_GATED_DELTA_NET + 2, snapshots))
    return Expected(base, name, nsg=nsg, constants=tuple(constants))


@rule("solve_tri")
def solve_tri(row: Row, op: OpView) -> Expected:
    a, b = op.sources(2)
    k, n = b.ne[:2]
    base = f"kernel_solve_tri_{a.type}"
    constants = tuple(int16(FC_SOLVE_TRI + i, value) for i, value in enumerate((8, n, k)))
    smem = c.pad(n, 32) * 8 * 4
    return Expected(base, f"{base}_nsg=8_n={n}_k={k}", nsg=8, smem=smem, constants=constants)


@rule("fwht")
def fwht(row: Row, n: int, tsrc: str = "f32") -> Expected:
    return Expected(f"kernel_fwht_{tsrc}_{n}")


@rule("dsv4_hc")
def dsv4_hc(row: Row, op: OpView) -> Expected:
    step = {"DSV4_HC_COMB": "comb", "DSV4_HC_PRE": "pre", "DSV4_HC_POST": "post"}[op.op]
    modern = row >= Row.V0_25_3
    if step == "post" and modern and op.src[3] is None:
        step = "post_nocomb"
    if step == "pre" and modern:
        gated = "_gated" if op.params[1] else ""
        lanes = op.sources(1)[0].ne[1]
        base = f"kernel_dsv4_hc_pre{gated}_f32"
        return Expected(base, f"{base}_n_hc={lanes}", constants=(int32(FC_DSV4_HC, lanes),))
    return Expected(f"kernel_dsv4_hc_{step}_f32")
