"""The result of a graph by numpy, in double precision, from what the ops mean: it shares no code with ggml.

Arrays have numpy's order of axes and all four of them.
"""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..check.case import Case
from ..check.expression import Call, Leaf, nodes
from ..tensor import Type, block_size, decode, type_size

if TYPE_CHECKING:
    from ..device import Device

Array = npt.NDArray[Any]
Op = Callable[..., Array]

_OPS: dict[str, Op] = {}


def exact(device: "Device", case: Case, values: Sequence[bytes], *, magnitudes: bool = False) -> Array | None:
    """The result; None for a graph with an op that is not defined here. `values`: of the leaves, in order.

    `magnitudes`: of their values without signs.
    """
    if not all(values):
        return None  # what means and maxima of nothing are is not said
    found: dict[int, Array] = {}
    remaining = iter(values)
    for node in nodes(case.tree):
        if isinstance(node, Leaf):
            leaf = _leaf(device, node, next(remaining))
            found[id(node)] = np.abs(leaf) if magnitudes else leaf
            continue
        op = _OPS.get(node.name.removesuffix("_inplace"))
        if op is None:
            return None
        arguments = [
            found[id(argument)] if isinstance(argument, Leaf | Call) else argument
            for argument in node.arguments
        ]
        with np.errstate(all="ignore"):
            found[id(node)] = op(*arguments)
    return found[id(case.tree)]


def _leaf(device: "Device", leaf: Leaf, data: bytes) -> Array:
    native, kind = device._native, Type.of(leaf.type)
    count = len(data) // type_size(native, kind) * block_size(native, kind)
    values = decode(native, data, kind, count).reshape(_shape(leaf.ne))
    return values.astype(np.float64) if values.dtype.kind == "f" else values.astype(np.int64)


def _shape(ne: Sequence[int]) -> tuple[int, ...]:
    return tuple(reversed((*ne, 1, 1, 1, 1)[:4]))


def _define(*names: str) -> Callable[[Op], Op]:
    def register(op: Op) -> Op:
        _OPS.update(dict.fromkeys(names, op))
        return op

    return register


def _repeated(a: Array, shape: Sequence[int]) -> Array:
    return np.tile(a, [n // m for n, m in zip(shape, a.shape, strict=True)])


# ---- element by element

_BINARY: dict[str, Op] = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}


def _binary(function: Op) -> Op:
    return lambda a, b: function(a, _repeated(b, a.shape))


_OPS.update({name: _binary(function) for name, function in _BINARY.items()})


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _gelu(x: Array) -> Array:
    return np.asarray(0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * x * (1 + 0.044715 * x * x))))


def _gelu_erf(x: Array) -> Array:
    return np.asarray(0.5 * x * (1 + np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2))))


_UNARY: dict[str, Op] = {
    "abs": np.abs,
    "sgn": np.sign,
    "neg": np.negative,
    "step": lambda x: np.greater(x, 0).astype(float),
    "tanh": np.tanh,
    "elu": lambda x: np.asarray(np.where(x > 0, x, np.expm1(x))),
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": _sigmoid,
    "gelu": _gelu,
    "gelu_erf": _gelu_erf,
    "gelu_quick": lambda x: x * _sigmoid(1.702 * x),
    "silu": lambda x: x * _sigmoid(x),
    "hardswish": lambda x: x * np.clip((x + 3) / 6, 0, 1),
    "hardsigmoid": lambda x: np.clip((x + 3) / 6, 0, 1),
    "exp": np.exp,
    "expm1": np.expm1,
    "softplus": lambda x: np.logaddexp(0, x),
    "floor": np.floor,
    "ceil": np.ceil,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "trunc": np.trunc,
    "sqr": np.square,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "log": np.log,
    "scale": lambda x, factor: x * factor,
    "scale_bias": lambda x, factor, bias: x * factor + bias,
    "clamp": lambda x, low, high: np.clip(x, low, high),
    "leaky_relu": lambda x, slope, inplace: np.where(x > 0, x, slope * x),
    "fill": lambda x, value: np.full(x.shape, value),
}
_OPS.update(_UNARY)

_GATED = {
    "reglu": "relu",
    "geglu": "gelu",
    "swiglu": "silu",
    "geglu_erf": "gelu_erf",
    "geglu_quick": "gelu_quick",
}


def _halves(function: Op) -> Op:
    def op(a: Array) -> Array:
        half = a.shape[-1] // 2
        return np.asarray(function(a[..., :half]) * a[..., half:])

    return op


def _swapped(function: Op) -> Op:
    def op(a: Array) -> Array:
        half = a.shape[-1] // 2
        return np.asarray(a[..., :half] * function(a[..., half:]))

    return op


def _split(function: Op) -> Op:
    return lambda a, b: function(a) * b


for _name, _function in _GATED.items():
    _OPS[_name] = _halves(_UNARY[_function])
    _OPS[f"{_name}_swapped"] = _swapped(_UNARY[_function])
    _OPS[f"{_name}_split"] = _split(_UNARY[_function])


# ---- along rows


@_define("norm")
def _norm(a: Array, eps: float) -> Array:
    centred = a - a.mean(-1, keepdims=True)
    return np.asarray(centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps))


@_define("rms_norm")
def _rms_norm(a: Array, eps: float) -> Array:
    return np.asarray(a / np.sqrt((a**2).mean(-1, keepdims=True) + eps))


@_define("l2_norm")
def _l2_norm(a: Array, eps: float) -> Array:
    return np.asarray(a / np.maximum(np.sqrt((a**2).sum(-1, keepdims=True)), eps))


@_define("soft_max")
def _soft_max(a: Array) -> Array:
    weights = np.exp(a - a.max(-1, keepdims=True))
    return np.asarray(weights / weights.sum(-1, keepdims=True))


@_define("soft_max_ext")
def _soft_max_ext(a: Array, mask: Array | None, scale: float, max_bias: float) -> Array:
    scores = a * scale
    if mask is not None:
        mask = _repeated(mask[:, :, : a.shape[2]], (*a.shape[:2], *mask[:, :, : a.shape[2]].shape[2:]))
        scores = scores + mask * _slopes(a.shape[1], max_bias)
    return _soft_max(scores)


def _slopes(heads: int, max_bias: float) -> Array:
    """ALiBi's, one for each head."""
    if max_bias == 0:
        return np.ones((1, 1, 1))
    power = 2 ** math.floor(math.log2(heads))
    first, second = 2 ** (-max_bias / power), 2 ** (-max_bias / 2 / power)
    slopes = [first ** (h + 1) if h < power else second ** (2 * (h - power) + 1) for h in range(heads)]
    return np.array(slopes).reshape(heads, 1, 1)


_OPS["sum_rows"] = lambda a: a.sum(-1, keepdims=True)
_OPS["mean"] = lambda a: a.mean(-1, keepdims=True)
_OPS["sum"] = lambda a: a.sum(keepdims=True)
_OPS["cumsum"] = lambda a: a.cumsum(-1)
_OPS["count_equal"] = lambda a, b: np.full((1, 1, 1, 1), np.count_nonzero(a == b))


# ---- matrices


@_define("mul_mat")
def _mul_mat(a: Array, b: Array) -> Array:
    stacked = _stacked(a, b.shape[:2])
    return np.asarray(b @ stacked.swapaxes(-1, -2))


def _stacked(a: Array, stacks: Sequence[int]) -> Array:
    """Each matrix so many times, one after the other, as heads share keys."""
    for axis, n in enumerate(stacks):
        a = np.repeat(a, n // a.shape[axis], axis)
    return a


@_define("mul_mat_id")
def _mul_mat_id(a: Array, b: Array, ids: Array) -> Array:
    tokens, used = ids.shape[2:]
    result = np.zeros((1, tokens, used, a.shape[2]))
    for token in range(tokens):
        for i in range(used):
            result[0, token, i] = a[0, ids[0, 0, token, i]] @ b[0, token, i % b.shape[2]]
    return result


@_define("flash_attn_ext")
def _attention(
    q: Array, k: Array, v: Array, mask: Array | None, scale: float, max_bias: float, cap: float
) -> Array:
    keys, values = (_stacked(part, q.shape[:2]) for part in (k, v))
    scores = q @ keys.swapaxes(-1, -2) * scale
    if cap:
        scores = cap * np.tanh(scores / cap)
    weights = np.nan_to_num(_soft_max_ext(scores, mask, 1.0, max_bias))  # 0 for queries that see nothing
    return np.asarray((weights @ values).swapaxes(1, 2))


# ---- other places

for _name in ("cont", "dup"):
    _OPS[_name] = lambda a: a
_OPS["cast"] = lambda a, type: a
_OPS["cpy"] = lambda a, to: a.reshape(to.shape)
_OPS["repeat"] = lambda a, like: _repeated(a, like.shape)
_OPS["concat"] = lambda a, b, axis: np.concatenate([a, b], 3 - axis)
_OPS["tri"] = lambda a, kind: np.where(_triangle(a.shape[-1], kind), a, 0)
_OPS["diag"] = lambda a: np.eye(a.shape[-1]) * a
_OPS["reshape_4d"] = lambda a, *ne: a.reshape(_shape(ne))
_OPS["roll"] = lambda a, *shifts: np.roll(a, tuple(reversed(shifts)), (0, 1, 2, 3))
_OPS["pad"] = lambda a, *after: np.pad(a, [(0, n) for n in reversed(after)])
_OPS["pad_reflect_1d"] = lambda a, before, after: np.pad(
    a, [(0, 0), (0, 0), (0, 0), (before, after)], "reflect"
)
_OPS["arange"] = lambda start, stop, step: np.arange(start, stop, step).reshape(1, 1, 1, -1)


def _triangle(n: int, kind: int) -> Array:
    row, column = np.indices((n, n))
    return np.asarray((column >= row, column > row, column <= row, column < row)[kind])


@_define("permute")
def _permute(a: Array, *axes: int) -> Array:
    """ggml says where each axis goes, and counts them from the other end."""
    order = [0] * 4
    for source, target in enumerate(axes):
        order[3 - target] = 3 - source
    return np.asarray(a.transpose(order))


@_define("transpose")
def _transpose(a: Array) -> Array:
    return np.asarray(a.swapaxes(-1, -2))


@_define("cut")
def _cut(a: Array, lengths: Sequence[int], start: Sequence[int] = ()) -> Array:
    whole = tuple(reversed(a.shape))
    ne = (*lengths, *whole[len(lengths) :])
    first = (*start, 0, 0, 0, 0)[:4]
    return np.asarray(a[tuple(slice(f, f + n) for f, n in zip(reversed(first), reversed(ne), strict=True))])


@_define("pad_ext")
def _pad_ext(a: Array, *pads: int) -> Array:
    return np.pad(a, [(pads[2 * axis], pads[2 * axis + 1]) for axis in (3, 2, 1, 0)])


@_define("pad_circular")
def _pad_circular(a: Array, *after: int) -> Array:
    return np.pad(a, [(0, n) for n in reversed(after)], "wrap")


@_define("get_rows")
def _get_rows(a: Array, rows: Array) -> Array:
    result = np.zeros((*rows.shape[1:], a.shape[-1]), a.dtype)
    for i in range(rows.shape[1]):
        for j in range(rows.shape[2]):
            result[i, j] = a[i, j][rows[0, i, j]]
    return result


@_define("add_id")
def _add_id(a: Array, b: Array, ids: Array) -> Array:
    return np.asarray(a + b[0, 0][ids[0, 0]])


@_define("im2col")
def _im2col(
    a: Array, b: Array, s0: int, s1: int, p0: int, p1: int, d0: int, d1: int, two: bool, type: str
) -> Array:
    if not two:
        return _columns(b[0][:, :, None, :], (1, a.shape[-1]), (1, s0), (0, p0), (1, d0))
    return _columns(b, a.shape[-2:], (s1, s0), (p1, p0), (d1, d0))


def _columns(b: Array, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Array:
    """For each image and place of the window its values, channel by channel."""
    padded = np.pad(b, [(0, 0), (0, 0), *((p, p) for p in padding)])
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(padded, reach, (2, 3))
    windows = windows[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]
    images, _, height, width = windows.shape[:4]
    return np.asarray(windows.transpose(0, 2, 3, 1, 4, 5).reshape(images, height, width, -1))


@_define("conv_2d_direct")
def _conv_2d(a: Array, b: Array, s0: int, s1: int, p0: int, p1: int, d0: int, d1: int) -> Array:
    columns = _columns(b, a.shape[-2:], (s1, s0), (p1, p0), (d1, d0))
    return np.asarray((columns @ a.reshape(a.shape[0], -1).T).transpose(0, 3, 1, 2))


@_define("conv_3d_direct")
def _conv_3d(a: Array, b: Array, *numbers: int) -> Array:
    stride, padding, dilation = (numbers[i : i + 3][::-1] for i in (0, 3, 6))
    channels, images, out = numbers[9:]
    kernel = a.reshape(out, channels, *a.shape[1:])
    volumes = b.reshape(images, channels, *b.shape[1:])
    padded = np.pad(volumes, [(0, 0), (0, 0), *((p, p) for p in padding)])
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, a.shape[1:], strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(padded, reach, (2, 3, 4))
    every = slice(None)
    at = (every, every, *(slice(None, None, step) for step in (*stride, *dilation)))
    sums = np.einsum("ncdhwijk,ocijk->nodhw", windows[at], kernel)
    return np.asarray(sums.reshape(images * out, *sums.shape[2:]))
