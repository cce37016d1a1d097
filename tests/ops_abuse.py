"""Odd arguments for every op's constructor. Run it in a process of its own, which must survive.

python -c "import ops_abuse; ops_abuse.abuse('pywhispercpp-1.5.1', draws=40)"
"""

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mirror_calls import Ops

import ggml_metal_py as gm
from ggml_metal_py.op_checks import argument_kinds

ALLOWED = (ValueError, TypeError, gm.GgmlAbort)
ROOM = 64
"""Results in one context, before the next one is opened."""

TENSOR = "struct ggml_tensor *"
ALWAYS_ABORTS = "flash_attn_back"

Arguments = tuple[Any, ...]


def abuse(row: str, draws: int) -> int:
    """Call every constructor with each argument replaced by all that is odd, and `draws` times at random.

    Prints the name of each before. Returns the number of calls. Raises AssertionError when a legal call
    fails, or an odd one raises what is not ALLOWED.
    """
    rng = random.Random(row)
    calls = 0
    with gm.open(upstream=row) as device, device.context(tensors=40000) as sources:
        values = Values(row, device, sources)
        results = Results(device)
        for name in constructors(sources._native):
            print(name, flush=True)
            kinds = argument_kinds(sources._native, name)
            legal = legal_arguments(Ops(sources), name, kinds)
            if name != ALWAYS_ABORTS:
                _look(gm.ops.apply(name, *legal, context=results.context()))
            odd = _one_odd(values, kinds, legal), _other_axes(legal), _drawn(values, kinds, legal, draws, rng)
            for arguments in itertools.chain(*odd):
                calls += 1
                try:
                    result = gm.ops.apply(name, *arguments, context=results.context())
                except ALLOWED:
                    continue
                except Exception as error:
                    raise AssertionError(f"{name}{arguments} raised {error!r}") from error
                _look(result)
    return calls


def constructors(native: Any) -> list[str]:
    """Names of all functions of the row's ggml.h that `ops.apply` calls."""
    names = []
    for function in native.functions("ggml_"):
        name = function.removeprefix("ggml_")
        try:
            argument_kinds(native, name)
        except ValueError:
            continue
        names.append(name)
    return names


class Results:
    """Contexts for results: a new one when the last is nearly full."""

    def __init__(self, device: gm.Device) -> None:
        self._device = device
        self._context = device.context(ROOM + 16)

    def context(self) -> gm.Context:
        if self._context._count > ROOM:
            self._context.close()
            self._context = self._device.context(ROOM + 16)
        return self._context


def _look(tensor: gm.Tensor) -> None:
    """Everything that can be asked of a tensor without memory."""
    assert tensor.op
    assert repr(tensor)
    assert min(tensor.ne) >= 0
    assert len(tensor.nb) == 4
    assert len(tensor.shape) == tensor.ndim
    assert 0 <= tensor.nbytes < 2**63
    assert isinstance(tensor.type, gm.Type)
    assert isinstance(tensor.name, str)
    assert isinstance(tensor.is_contiguous, bool)
    assert not tensor.allocated
    try:
        assert tensor.numpy().shape == tensor.shape
    except (ValueError, gm.NotInUpstream):
        return  # without memory, of parts of blocks, or of a type without a conversion
    assert 0 in tensor.shape


# ---- calls


def _one_odd(values: "Values", kinds: Sequence[Any], legal: Arguments) -> Iterator[Arguments]:
    for i, kind in enumerate(kinds):
        for value in values.of(kind):
            yield (*legal[:i], value, *legal[i + 1 :])
    yield legal[:-1]
    yield (*legal, 1)


def _other_axes(legal: Arguments) -> Iterator[Arguments]:
    """Another length of one axis, of each tensor and of all."""
    where = [i for i, argument in enumerate(legal) if isinstance(argument, gm.Tensor)]
    for axis, n in itertools.product(range(4), (0, 1, 2, 2**32)):
        for changed in (*([i] for i in where), where):
            yield tuple(_with_axis(a, axis, n) if i in changed else a for i, a in enumerate(legal))


def _with_axis(tensor: gm.Tensor, axis: int, n: int) -> gm.Tensor:
    ne = [*tensor.ne[:axis], n, *tensor.ne[axis + 1 :]]
    if n == 0:
        return gm.ops.apply("view_4d", tensor, *ne, *tensor.nb[1:], 0)
    return tensor.context.new_tensor(tensor.type, ne[::-1])


def _drawn(
    values: "Values", kinds: Sequence[Any], legal: Arguments, draws: int, rng: random.Random
) -> Iterator[Arguments]:
    """Mostly tensors: shapes that fit together lead further than numbers."""
    for _ in range(draws):
        arguments = list(legal)
        for i, kind in enumerate(kinds):
            if rng.random() < 0.5:
                usable = values.tensors if kind.cname == TENSOR else values.of(kind)
                arguments[i] = rng.choice(usable)
        yield tuple(arguments)


class Values:
    """Odd values of every kind of argument."""

    def __init__(self, row: str, device: gm.Device, sources: gm.Context) -> None:
        self.tensors = list(_odd_tensors(Ops(sources)))
        with device.context() as closed:
            gone = closed.new_tensor("f32", (4, 4))
        self._open = device.context()
        with device.context() as closed:
            orphan = gm.ops.apply("view_1d", closed.new_tensor("f32", (4,)), 4, 0, context=self._open)
        other = next(name for name in ("pywhispercpp-1.5.1", "pywhispercpp-1.5.0") if name != row)
        self._foreign = gm.open(upstream=other).context()
        foreign = self._foreign.new_tensor("f32", (4, 4))
        junk = [None, [], [1], (), {}, "a", b"a", 0, 1.5, object(), self.tensors[0]._pointer, sources]
        self._tensors = [*self.tensors, gone, orphan, foreign, *junk]

    def of(self, kind: Any) -> Sequence[Any]:
        if kind.cname == TENSOR:
            return self._tensors
        if kind.kind == "enum":
            return [*kind.elements, -1, 999, 2**32, None, "F32", 1.5, True]
        return _ODD[kind.cname]


_WIDE = (2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64)
_INTEGERS = [
    0,
    1,
    2,
    3,
    4,
    7,
    16,
    64,
    *_WIDE,
    *(-n for n in (1, 2, *_WIDE)),
    None,
    "1",
    1.5,
    math.nan,
    [1],
    True,
]
_BAD_FOURS = [[n] * 4 for n in (0, 1, -1, 2**31 - 1, 2**31, "a", 1.5)]
_LISTS = [[], [1], [1] * 5, *_BAD_FOURS, (1, 2, 3, 4), "1234", None, 4]
_ODD: dict[str, list[Any]] = {
    **dict.fromkeys(("int", "int32_t", "uint32_t", "int64_t", "size_t"), _INTEGERS),
    **dict.fromkeys(("int *", "int64_t *"), _LISTS),
    "float": [0.0, -1.0, 1, 1e-45, 1e30, -1e30, 1e300, math.nan, math.inf, -math.inf, None, "1", [1.0]],
    "_Bool": [True, False, 0, 1, 2, -1, None, "yes", 1.5],
}


def _odd_tensors(o: Ops) -> Iterator[gm.Tensor]:
    """Small, empty, strided, huge ones, and ones of every kind of type."""
    for ne in ((1,), (4,), (64,), (3, 2), (8, 8, 2), (2, 2, 2, 2), (1, 1, 1, 4), (4, 1, 3), (4, 3, 4, 1)):
        yield o.f32(*ne)
    for type in ("f16", "bf16", "i8", "i32", "i64", "f64"):
        yield o.new(type, 4)
        yield o.new(type, 4, 4)
    for type in ("q4_0", "q8_0", "iq2_xxs", "q6_k"):
        yield o.new(type, 256, 4)
    base, block = o.f32(64), o.new("q4_0", 64)
    for axis in range(4):
        yield o("view_4d", base, *(0 if i == axis else 4 for i in range(4)), 4, 4, 4, 0)
    yield o("view_4d", base, 4, 4, 0, 0, 4, 4, 4, 0)
    yield o("view_1d", block, 0, 0)
    yield o("view_1d", block, 16, 0)
    yield o("view_2d", base, 4, 4, 0, 0)
    yield o("view_2d", base, 4, 4, 5, 1)
    for axes in ((1, 0, 2, 3), (3, 2, 1, 0), (2, 0, 1, 3)):
        yield o("permute", o.f32(4, 4, 4, 4), *axes)
    for n in (2**31 - 1, 2**31, 2**32, 2**40, 2**60):
        yield o.f32(n)
        yield o.f32(1, n)
        yield o.f32(1, 1, n)
        yield o.f32(1, 1, 1, n)
    yield o.f32(2**15, 2**15, 2**15, 2**15)
    yield o("gelu", o.f32(4, 4))


# ---- one legal call of each


def legal_arguments(o: Ops, name: str, kinds: Sequence[Any]) -> Arguments:
    """Arguments that the constructor accepts."""
    for names, make in _LEGAL.items():
        if name in names.split():
            return make(o)
    if name in ("ssm_scan", "gated_delta_net"):
        return _states(o, name, len(kinds))
    numbers: dict[str, Any] = {TENSOR: o.f32(4, 4), "float": 1.0, "int *": [1] * 4, "int64_t *": [1] * 4}
    return tuple(0 if kind.kind == "enum" else numbers.get(kind.cname, 1) for kind in kinds)


def _states(o: Ops, name: str, wanted: int) -> Arguments:
    """What newer rows ask for, too, is how many states are kept."""
    made = o.scan() if name == "ssm_scan" else o.delta_net()
    arguments = [_source(made, i) for i in range(7 if name == "ssm_scan" else 6)]
    return (*arguments, *[1] * (wanted - len(arguments)))


def _sources(made: gm.Tensor, count: int) -> Arguments:
    return tuple(_source(made, i) for i in range(count))


def _source(made: gm.Tensor, index: int) -> gm.Tensor:
    return gm.Tensor(made.context, made._use().src[index], 1)


def _square(o: Ops, *rest: Any) -> Arguments:
    return (o.f32(4, 4), *rest)


def _rope(o: Ops, *rest: Any) -> Arguments:
    return (o.f32(64, 2, 4), o.new("i32", 4), *rest)


_YARN = (10000.0, 1.0, 0.0, 1.0, 32.0, 1.0)

_LEGAL: dict[str, Callable[[Ops], Arguments]] = {
    "add1 add1_inplace": lambda o: _square(o, o.f32(1)),
    "add_cast": lambda o: (o.new("f16", 4, 4), o.f32(4, 4), 0),
    "add_id": lambda o: (o.f32(4, 2, 3), o.f32(4, 5), o.new("i32", 2, 3)),
    "add_rel_pos add_rel_pos_inplace": lambda o: (o.f32(4, 4, 3), o.f32(2, 2, 2, 3), o.f32(2, 2, 2, 3)),
    "arange": lambda o: (0.0, 8.0, 1.0),
    "cont_1d reshape_1d": lambda o: _square(o, 16),
    "cont_2d reshape_2d": lambda o: _square(o, 8, 2),
    "cont_3d reshape_3d": lambda o: _square(o, 4, 2, 2),
    "cont_4d reshape_4d": lambda o: _square(o, 2, 2, 2, 2),
    "conv_1d_dw": lambda o: (o.new("f16", 3, 1, 4), o.f32(8, 4), 1, 1, 1),
    "conv_1d_dw_ph": lambda o: (o.new("f16", 3, 1, 4), o.f32(8, 4), 1, 1),
    "conv_3d_direct": lambda o: (
        *(o.f32(3, 3, 3, 8), o.f32(8, 8, 8, 2)),
        *(1, 1, 1, 0, 0, 0, 1, 1, 1, 2, 1, 4),
    ),
    "conv_transpose_1d": lambda o: (o.f32(3, 4, 2), o.f32(8, 2), 1, 0, 1),
    "cross_entropy_loss_back": lambda o: (o.f32(1), o.f32(4, 4), o.f32(4, 4)),
    "diag": lambda o: (o.f32(4),),
    "dsv4_hc_comb": lambda o: (o.f32(24, 3), o.f32(3), o.f32(24), 1e-5, 2),
    "dsv4_hc_post": lambda o: (o.f32(64, 3), o.f32(64, 4, 3), o.f32(4, 3), o.f32(4, 4, 3)),
    "dsv4_hc_pre": lambda o: (o.f32(64, 4, 3), o.f32(4, 3)),
    "dsv4_hc_pre_gated": lambda o: (o.f32(64, 4, 3), o.f32(64, 4, 3), 1.0),
    "flash_attn_ext": lambda o: (*_sources(o.attention(), 4), 1.0, 0.0, 0.0),
    "gated_linear_attn": lambda o: (*(o.f32(4, 2, 3) for _ in range(4)), o.f32(32, 1), 1.0),
    "get_rel_pos": lambda o: (o.f32(4, 5), 3, 3),
    "get_rows": lambda o: _square(o, o.new("i32", 2)),
    "get_rows_back": lambda o: (o.f32(4, 2), o.new("i32", 2), o.f32(4, 8)),
    "lightning_indexer": lambda o: _sources(o.indexer(), 4),
    "mul_mat_id": lambda o: _sources(o.product_of_experts(), 3),
    "opt_step_adamw": lambda o: (o.trained(), o.f32(64), o.f32(64), o.f32(64), o.f32(7)),
    "opt_step_sgd": lambda o: (o.trained(), o.f32(64), o.f32(2)),
    "permute": lambda o: _square(o, 1, 0, 2, 3),
    "repeat_4d": lambda o: _square(o, 4, 4, 2, 2),
    "roll": lambda o: _square(o, 1, 1, 0, 0),
    "rope rope_inplace": lambda o: _rope(o, 64, 0),
    "rope_custom rope_custom_inplace": lambda o: _rope(o, 64, 0, 0, *_YARN),
    "rope_ext rope_ext_inplace rope_ext_back": lambda o: _rope(o, None, 64, 0, 0, *_YARN),
    "rope_multi rope_multi_inplace rope_multi_back": lambda o: (
        *(o.f32(64, 2, 4), o.new("i32", 16), None, 64, [8] * 4, 8, 0),
        *_YARN,
    ),
    "rwkv_wkv6": lambda o: _sources(o.rwkv(), 6),
    "rwkv_wkv7": lambda o: (*(o.f32(64, 2, 4) for _ in range(6)), o.f32(64 * 64 * 2, 1)),
    "set_1d set_1d_inplace": lambda o: _square(o, o.f32(4), 0),
    "set_rows": lambda o: (o.f32(64, 8), o.f32(64, 4), o.new("i64", 4)),
    "solve_tri": lambda o: (o.f32(8, 8), o.f32(4, 8), True, True, False),
    "upscale": lambda o: _square(o, 2, 0),
}
