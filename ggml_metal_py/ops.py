"""One function per ggml op: each adds a node to a graph and returns its result (upstream: ggml.h, ggml.c).

Nothing is computed here; `Backend.compute` does that. Shapes and axes are numpy's: the last axis is ggml's
ne[0]. The result goes into the newest Context among its sources, unless `context` names one. Arguments that
upstream refuses raise GgmlAbort with upstream's condition; those that are easy to explain raise ValueError.
"""

from collections.abc import Sequence
from typing import Any

from .op_checks import check_arguments, check_result
from .tensor import MAX_DIMS, Context, Tensor, Type


def apply(name: str, *arguments: Any, context: Context | None = None, ndim: int = 0) -> Tensor:
    """Any op of the row's ggml.h by its name there: `apply("diag_mask_inf", a, 0)` calls ggml_diag_mask_inf.

    `arguments` are the C function's without its context: Tensors, numbers, Types, None for no tensor.
    `ndim` is the least number of axes of the result. Raises NotInUpstream, GgmlAbort, TypeError, and
    ValueError when no tensor and no context is given, tensors of two upstreams meet, the name is not an
    op's, a tensor is None that ggml needs, a number is out of range, or the result would be nonsense.
    """
    sources = [argument for argument in arguments if isinstance(argument, Tensor)]
    if context is None:
        if not sources:
            raise ValueError(f"{name} has no tensor among its arguments: say which context")
        context = max((source.context for source in sources), key=lambda made: made._made)
    native = context._native
    for source in sources:
        context._check_upstream(source.context)
    check_arguments(native, name, arguments)
    function = getattr(native, f"ggml_{name}")
    plain = [native.ffi.NULL if a is None else a._use() if isinstance(a, Tensor) else a for a in arguments]
    target = context

    def make() -> Any:
        result = function(target._use(), *plain)
        check_result(native, name, result)
        return result

    return context._build(make, ndim or max((source.ndim for source in sources), default=0), sources)


# ---- element by element


def add(a: Tensor, b: Tensor, *, context: Context | None = None) -> Tensor:
    """a + b; b is repeated to a's shape."""
    return _elementwise("add", a, b, context)


def sub(a: Tensor, b: Tensor, *, context: Context | None = None) -> Tensor:
    """a - b; b is repeated to a's shape."""
    return _elementwise("sub", a, b, context)


def mul(a: Tensor, b: Tensor, *, context: Context | None = None) -> Tensor:
    """a * b, element by element; b is repeated to a's shape."""
    return _elementwise("mul", a, b, context)


def div(a: Tensor, b: Tensor, *, context: Context | None = None) -> Tensor:
    """a / b, element by element; b is repeated to a's shape."""
    return _elementwise("div", a, b, context)


def _elementwise(name: str, a: Tensor, b: Tensor, context: Context | None) -> Tensor:
    if any(longer % shorter if shorter else longer for longer, shorter in zip(a.ne, b.ne, strict=True)):
        raise ValueError(f"{name}: {b.shape} cannot be repeated to {a.shape}")
    return apply(name, a, b, context=context)


def scale(a: Tensor, factor: float, bias: float = 0.0, *, context: Context | None = None) -> Tensor:
    """a * factor + bias."""
    if bias:
        return apply("scale_bias", a, factor, bias, context=context)
    return apply("scale", a, factor, context=context)


def gelu(a: Tensor, *, context: Context | None = None) -> Tensor:
    """GELU, in the tanh approximation."""
    return apply("gelu", a, context=context)


def silu(a: Tensor, *, context: Context | None = None) -> Tensor:
    """a * sigmoid(a)."""
    return apply("silu", a, context=context)


def relu(a: Tensor, *, context: Context | None = None) -> Tensor:
    """max(a, 0)."""
    return apply("relu", a, context=context)


# ---- along the last axis


def norm(a: Tensor, eps: float = 1e-5, *, context: Context | None = None) -> Tensor:
    """(a - mean) / sqrt(variance + eps), along the last axis."""
    return apply("norm", a, eps, context=context)


def rms_norm(a: Tensor, eps: float = 1e-5, *, context: Context | None = None) -> Tensor:
    """a / sqrt(mean(a * a) + eps), along the last axis."""
    return apply("rms_norm", a, eps, context=context)


def soft_max(
    a: Tensor,
    mask: Tensor | None = None,
    scale: float = 1.0,
    max_bias: float = 0.0,
    *,
    context: Context | None = None,
) -> Tensor:
    """softmax(a * scale + mask), along the last axis (ggml_soft_max_ext). `max_bias` > 0 turns on ALiBi."""
    return apply("soft_max_ext", a, mask, scale, max_bias, context=context)


def sum_rows(a: Tensor, *, context: Context | None = None) -> Tensor:
    """The sum along the last axis, which gets length 1."""
    return apply("sum_rows", a, context=context)


# ---- matrices


def mul_mat(a: Tensor, b: Tensor, *, context: Context | None = None) -> Tensor:
    """b @ a.T: a is (..., m, k), of any type; b is (..., n, k); the result (..., n, m) is f32.

    Leading axes of a are repeated to b's. Raises ValueError when the shapes do not fit.
    """
    if a.ne[0] != b.ne[0]:
        raise ValueError(f"mul_mat: the last axes must be equal, {a.shape} against {b.shape}")
    if 0 not in a.ne[2:] and (b.ne[2] % a.ne[2] or b.ne[3] % a.ne[3]):
        raise ValueError(f"mul_mat: the leading axes of {a.shape} cannot be repeated to those of {b.shape}")
    return apply("mul_mat", a, b, context=context)


def flash_attn_ext(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    scale: float = 1.0,
    max_bias: float = 0.0,
    logit_softcap: float = 0.0,
    *,
    context: Context | None = None,
) -> Tensor:
    """softmax(q @ k.T * scale + mask) @ v in one op.

    q is (batch, heads, n, d), k and v are (batch, kv heads, n_kv, d), mask is f16 (1, 1, n, n_kv); the
    result is f32 (batch, n, heads, d).
    """
    return apply("flash_attn_ext", q, k, v, mask, scale, max_bias, logit_softcap, context=context)


def get_rows(a: Tensor, rows: Tensor, *, context: Context | None = None) -> Tensor:
    """a[rows] as f32: a is (n, k) of any type, rows is an i32 vector. Nobody checks the row numbers."""
    return apply("get_rows", a, rows, context=context)


# ---- convolution


def im2col(
    kernel: Tensor,
    data: Tensor,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    type: Type | str = Type.F16,
    *,
    context: Context | None = None,
) -> Tensor:
    """The windows of a one-dimensional convolution as rows.

    kernel is (out, in, width), data is (batch, in, length); the result is (batch, windows, in * width).
    """
    target = int(Type.of(type))
    return apply("im2col", kernel, data, stride, 0, padding, 0, dilation, 0, False, target, context=context)


def conv_1d(
    kernel: Tensor,
    data: Tensor,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    *,
    context: Context | None = None,
) -> Tensor:
    """Convolution of data f32 (batch, in, length) by kernel f16 (out, in, width): (batch, out, windows)."""
    if kernel.type is not Type.F16:
        raise ValueError(f"conv_1d: the kernel must be f16, it is {kernel.type.name.lower()}")
    return apply("conv_1d", kernel, data, stride, padding, dilation, context=context)


# ---- copies


def cpy(a: Tensor, to: Tensor, *, context: Context | None = None) -> Tensor:
    """Copy a into `to`, converting its type; the result is a view of `to`."""
    return apply("cpy", a, to, context=context)


def cont(a: Tensor, *, context: Context | None = None) -> Tensor:
    """a in contiguous memory."""
    return apply("cont", a, context=context)


def cast(a: Tensor, type: Type | str, *, context: Context | None = None) -> Tensor:
    """a as another type."""
    return apply("cast", a, int(Type.of(type)), context=context)


def repeat(a: Tensor, like: Tensor, *, context: Context | None = None) -> Tensor:
    """a, repeated along every axis to the shape of `like`."""
    return apply("repeat", a, like, context=context)


def concat(a: Tensor, b: Tensor, axis: int = 0, *, context: Context | None = None) -> Tensor:
    """a and b, one after the other along `axis`."""
    ndim = max(a.ndim, b.ndim)
    if not -ndim <= axis < ndim:
        raise ValueError(f"concat: axis {axis} of tensors with {ndim} axes")
    return apply("concat", a, b, ndim - 1 - axis % ndim, context=context)


# ---- views: another description of the same memory


def reshape(a: Tensor, shape: Sequence[int], *, context: Context | None = None) -> Tensor:
    """The same values, in order, with another shape. `a` must be contiguous (else use `cont` first)."""
    ne = _padded_ne("reshape", shape)
    if not a.is_contiguous:
        raise ValueError(f"reshape: {a!r} is not contiguous, use cont() first")
    if ne[0] * ne[1] * ne[2] * ne[3] != a.ne[0] * a.ne[1] * a.ne[2] * a.ne[3]:
        raise ValueError(f"reshape: {a.shape} has another number of values than {tuple(shape)}")
    return apply("reshape_4d", a, *ne, context=context, ndim=len(shape))


def view(
    a: Tensor,
    shape: Sequence[int],
    strides: Sequence[int] | None = None,
    offset: int = 0,
    *,
    context: Context | None = None,
) -> Tensor:
    """A window of a's memory, `offset` bytes into it.

    `strides` are bytes, one for every axis but the last, whose values lie side by side; without them the
    window is contiguous. Raises ValueError when it leaves a's memory.
    """
    ne = _padded_ne("view", shape)
    row = a._native.ggml_row_size(int(a.type), ne[0])
    if strides is None:
        nb = [row, row * ne[1], row * ne[1] * ne[2]]
    else:
        if len(strides) != len(shape) - 1 or any(stride < 0 for stride in strides):
            raise ValueError(f"view: needs {len(shape) - 1} strides, for every axis but the last: {strides}")
        nb = [int(stride) for stride in reversed(strides)]
        nb += [nb[-1] * ne[len(nb)] if nb else row] * (3 - len(nb))
    last = offset + row + sum((n - 1) * stride for n, stride in zip(ne[1:], nb, strict=True))
    if offset < 0 or last > a.nbytes:
        raise ValueError(f"view: bytes {offset}..{last} are outside of {a!r} with {a.nbytes} bytes")
    return apply("view_4d", a, *ne, *nb, offset, context=context, ndim=len(shape))


def permute(a: Tensor, axes: Sequence[int], *, context: Context | None = None) -> Tensor:
    """Reorder the axes as numpy.transpose does: the result's axis i is a's axis axes[i]."""
    if sorted(axes) != list(range(a.ndim)):
        raise ValueError(f"permute: {tuple(axes)} is no order of {a.ndim} axes")
    lead = MAX_DIMS - a.ndim
    full = [*range(lead), *(axis + lead for axis in axes)]
    # ggml counts from the other end and asks where each of a's axes goes.
    goes_to = [0] * MAX_DIMS
    for to, axis in enumerate(full):
        goes_to[MAX_DIMS - 1 - axis] = MAX_DIMS - 1 - to
    return apply("permute", a, *goes_to, context=context)


def transpose(a: Tensor, *, context: Context | None = None) -> Tensor:
    """Exchange the last two axes."""
    return apply("transpose", a, context=context, ndim=max(a.ndim, 2))


def _padded_ne(name: str, shape: Sequence[int]) -> list[int]:
    if not 1 <= len(shape) <= MAX_DIMS or any(n < 1 for n in shape):
        raise ValueError(f"{name}: a shape has 1 to {MAX_DIMS} axes of at least 1: {tuple(shape)}")
    return [int(n) for n in reversed(shape)] + [1] * (MAX_DIMS - len(shape))
