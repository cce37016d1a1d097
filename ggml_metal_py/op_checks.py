"""What ggml's op constructors take for granted (upstream: ggml.c, all rows), told before and after the call.

Most of what is wrong they refuse themselves. This is about the rest: what would end or hang the process, and
results whose description is nonsense, which would do the same later.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from ._native import Native
from .tensor import Tensor

_TENSOR = "struct ggml_tensor *"
_NUMBERS = {
    "int": (-(2**31), 2**31 - 1),
    "int32_t": (-(2**31), 2**31 - 1),
    "uint32_t": (0, 2**32 - 1),
    "int64_t": (-(2**63), 2**63 - 1),
    "size_t": (0, 2**64 - 1),
    "_Bool": (0, 1),
}
_LISTS = {"int *": "int", "int64_t *": "int64_t"}
"""Always four of them: the sections of rope_multi, the axes of im2col_back and new_tensor."""

_FINDERS = ("get_first_tensor", "get_next_tensor", "get_tensor")
"""Functions that look like ops and make nothing."""


class Axes(NamedTuple):
    """Axes of a tensor argument, in ggml's order, by which a constructor divides, or over which it loops."""

    argument: int
    """Its position after the context, as everywhere here."""
    axes: tuple[int, ...]
    lowest: int = 1
    highest: int = 2**63 - 1


# Tensors that constructors do without.
_OPTIONAL = {
    "soft_max_ext": 1,
    "soft_max_ext_inplace": 1,
    "rope_ext": 2,
    "rope_ext_inplace": 2,
    "rope_ext_back": 2,
    "rope_multi": 2,
    "rope_multi_inplace": 2,
    "rope_multi_back": 2,
    "flash_attn_ext": 3,
    "dsv4_hc_post": 3,
}

# The same, in rows that have the function named here, too.
_OPTIONAL_SINCE = {"dsv4_hc_post": "ggml_dsv4_hc_pre_gated"}

# Whole numbers by which constructors divide: strides, channels, the size of a window.
_DIVISORS = {
    "conv_1d": (2,),
    "conv_1d_ph": (2,),
    "conv_1d_dw": (2,),
    "conv_1d_dw_ph": (2,),
    "conv_2d": (2, 3),
    "conv_2d_direct": (2, 3),
    "conv_2d_dw": (2, 3),
    "conv_2d_dw_direct": (2, 3),
    "conv_3d": (2, 3, 4, 5),
    "conv_3d_direct": (2, 3, 4),
    "group_norm": (1,),
    "group_norm_inplace": (1,),
    "im2col": (2, 3),
    "im2col_3d": (2, 3, 4, 5),
    "win_part": (1,),
}

_AXES = {
    "conv_1d_dw": (Axes(1, (1,)),),
    "conv_1d_dw_ph": (Axes(1, (1,)),),
    "conv_2d_dw": (Axes(0, (2, 3)),),
    "conv_2d_sk_p0": (Axes(0, (0, 1), highest=2**31 - 1),),  # they become strides, of 32 bits
    "dsv4_hc_comb": (Axes(0, (0,), lowest=0, highest=2**31 - 1),),
    "flash_attn_ext": (Axes(1, (2, 3)), Axes(3, (2, 3))),
    "lightning_indexer": (Axes(3, (3,)),),
    "mul_mat": (Axes(0, (2, 3)),),
    "mul_mat_id": (Axes(1, (1,)),),
    "out_prod": (Axes(0, (2, 3)),),
    "set_rows": (Axes(2, (1, 2)),),
    "soft_max_ext": (Axes(1, (2, 3)),),
    "soft_max_ext_inplace": (Axes(1, (2, 3)),),
}


@cache
def argument_kinds(native: Native, name: str) -> tuple[Any, ...]:
    """cffi's types of an op's arguments, the context left out. Raises NotInUpstream, ValueError."""
    getattr(native, f"ggml_{name}")
    builder = native.function_type(f"ggml_{name}")
    kinds: tuple[Any, ...] = builder.args
    if (
        builder.result.cname != _TENSOR
        or not kinds
        or kinds[0].cname != "struct ggml_context *"
        or name in _FINDERS
    ):
        raise ValueError(f"ggml_{name} is not an op: it does not make a tensor in a context")
    return kinds[1:]


# ---- before the call


def check_arguments(native: Native, name: str, arguments: Sequence[Any]) -> None:
    """Raises ValueError or TypeError for arguments that the constructor cannot be given."""
    kinds = argument_kinds(native, name)
    optional = _optional(native, name)
    for i, (kind, argument) in enumerate(zip(kinds, arguments, strict=False)):
        what = f"{name}: argument {i + 1}"
        if kind.cname == _TENSOR:
            _check_tensor(what, argument, i == optional)
        elif kind.kind == "enum":
            _check_enum(what, kind, argument)
        elif kind.cname in _NUMBERS:
            _check_number(what, kind.cname, argument)
        elif kind.cname in _LISTS:
            _check_list(what, _LISTS[kind.cname], argument)
    if len(kinds) != len(arguments):
        wanted = ", ".join(kind.cname for kind in kinds)
        raise TypeError(f"{name} takes {len(kinds)} arguments ({wanted}), not {len(arguments)}")
    _check_divisors(name, arguments)
    for known in _AXES.get(name, ()):
        _check_axes(name, known, arguments[known.argument])
    if name in ("group_norm", "group_norm_inplace") and arguments[1] > arguments[0].ne[2]:
        raise ValueError(f"{name}: {arguments[0].shape} has no {arguments[1]} groups of matrices")
    if name == "conv_3d" and arguments[1].ne[3] < arguments[2]:
        raise ValueError(f"conv_3d: {arguments[1].shape} has no images of {arguments[2]} channels")


def _optional(native: Native, name: str) -> int | None:
    since = _OPTIONAL_SINCE.get(name)
    return None if since is not None and not native.has(since) else _OPTIONAL.get(name)


def _check_tensor(what: str, value: Any, optional: bool) -> None:
    if value is None and not optional:
        raise ValueError(f"{what} is a tensor that ggml needs, it cannot be None")
    # cffi would make an empty struct of a list.
    if value is not None and not isinstance(value, Tensor):
        raise TypeError(f"{what} is a Tensor, not {value!r}")


def _check_enum(what: str, kind: Any, value: Any) -> None:
    # The last value of upstream's enums counts the others.
    name = kind.elements.get(value, "COUNT") if hasattr(value, "__index__") else "COUNT"
    if name.endswith("COUNT"):
        raise ValueError(f"{what} is no value of {kind.cname}: {value!r}")


def _check_number(what: str, kind: str, value: Any) -> None:
    if not hasattr(value, "__index__"):
        raise TypeError(f"{what} is a whole number, not {value!r}")
    low, high = _NUMBERS[kind]
    if not low <= value <= high:
        raise ValueError(f"{what} is {low}..{high}, not {value}")


def _check_list(what: str, kind: str, values: Any) -> None:
    if not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
        raise TypeError(f"{what} is a list of 4 whole numbers, not {values!r}")
    if len(values) != 4:
        raise ValueError(f"{what} is a list of 4 whole numbers, not of {len(values)}")
    for value in values:
        _check_number(what, kind, value)


def _check_divisors(name: str, arguments: Sequence[Any]) -> None:
    divisors = _DIVISORS.get(name, ())
    if name == "im2col" and not arguments[8]:  # in one dimension the second stride is not used
        divisors = divisors[:1]
    for i in divisors:
        if arguments[i] < 1:
            raise ValueError(f"{name}: argument {i + 1} must be at least 1, not {arguments[i]}")


def _check_axes(name: str, known: Axes, tensor: Tensor | None) -> None:
    if tensor is None:
        return
    ne = tensor.ne
    for axis in known.axes:
        if not known.lowest <= ne[axis] <= known.highest:
            raise ValueError(
                f"{name}: ne[{axis}] of argument {known.argument + 1} must be "
                f"{known.lowest}..{known.highest}, not {ne[axis]}: {tensor!r}"
            )


# ---- after the call


def check_result(native: Native, name: str, result: Any) -> None:
    """Raises ValueError for a result with lengths that cannot be, or that leaves its memory."""
    ne, nb = list(result.ne), list(result.nb)
    count, size = ne[0] * ne[1] * ne[2] * ne[3], int(native.ggml_type_size(result.type))
    op = native.op_names[result.op]
    if op == "PERMUTE" and _long_axes(result) != _long_axes(result.src[0]):
        raise ValueError(f"{name}: upstream {native.row} cuts lengths and strides of 2**31 and more")
    if min(ne) < 0 or count * size >= 2**63:
        raise ValueError(f"{name}: the result would have the lengths {ne[::-1]}")
    if result.view_src:
        end = result.view_offs + _extent(native, result, ne, nb)
        _check_window(name, "the result", end, _nbytes(native, result.view_src))
    if op in ("CPY", "DUP", "CONT", "SET"):
        _check_blocks(native, name, result)
    if op in ("ACC", "SET"):
        _check_set(native, name, result)


def _check_blocks(native: Native, name: str, result: Any) -> None:
    """The device divides by the number of blocks in a row."""
    block = int(native.ggml_blck_size(result.type))
    rows = [int(tensor.ne[0]) for tensor in (result, *result.src[0:2]) if tensor]
    if any(row % block for row in rows):
        raise ValueError(f"{name}: rows of {min(rows)} cannot become blocks of {block}")


def _check_set(native: Native, name: str, result: Any) -> None:
    """b goes into a window of a, with these strides and offset."""
    target, source = result.src[0], result.src[1]
    if min(source.ne) < 1:
        raise ValueError(f"{name}: there is nothing in {list(source.ne)[::-1]}")
    *strides, offset = (int(number) for number in result.op_params[0:4])
    if offset < 0 or any(n > 1 and nb < 0 for n, nb in zip(source.ne[1:4], strides, strict=True)):
        raise ValueError(f"{name}: the window's strides and offset are at most 2**31 - 1")
    end = offset + _extent(native, source, list(source.ne), [source.nb[0], *strides])
    _check_window(name, "the window", end, _nbytes(native, target))


def _check_window(name: str, what: str, end: int, size: int) -> None:
    if end > size:
        raise ValueError(f"{name}: {what} would end at byte {end} of a tensor with {size} bytes")


def _long_axes(tensor: Any) -> list[tuple[int, int]]:
    return sorted((n, stride) for n, stride in zip(tensor.ne, tensor.nb, strict=True) if n != 1)


def _nbytes(native: Native, tensor: Any) -> int:
    return _extent(native, tensor, list(tensor.ne), list(tensor.nb))


def _extent(native: Native, tensor: Any, ne: Sequence[int], nb: Sequence[int]) -> int:
    """ggml_nbytes, without C's limits: from the first byte to the last."""
    if min(ne) < 1:
        return 0
    block = int(native.ggml_blck_size(tensor.type))
    row = ne[0] * nb[0] // block
    if block == 1:
        row = int(native.ggml_type_size(tensor.type)) + (ne[0] - 1) * nb[0]
    return row + sum((n - 1) * stride for n, stride in zip(ne[1:], nb[1:], strict=True))
