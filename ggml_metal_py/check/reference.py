"""The same graph for ggml's CPU backend, which does less than the device, and some things wrong.

Where it refuses a type or a layout, a wide reference takes f32 values and contiguous copies instead.
"""

from collections.abc import Iterator
from typing import Any

from .. import ops
from ..tensor import Context, Tensor, Type, block_size, decode, encode, type_size
from .build import Built
from .expression import Call, Leaf, Tree, names, nodes

# What holds real numbers, and can be held as f32 instead.
_REAL = frozenset(type for type in Type if type not in (Type.I8, Type.I16, Type.I32, Type.I64, Type.F64))

# It takes these sources' values, or rows, to lie side by side, and does not look.
_SIDE_BY_SIDE = frozenset(["leaky_relu", "argsort", "argsort_top_k", "top_k"])

# These only describe memory anew: what writes into their result writes into their source.
_VIEWS = frozenset(["permute", "transpose", "view_4d", *(f"reshape_{i}d" for i in (1, 2, 3, 4))])

# It counts in the wrong rows of tensors with more than two axes.
_FLAT = frozenset(["count_equal"])

# It rounds the other source to the type of the weights, or to 8 bits: that would hide the device's errors.
_ROUNDED = frozenset(["mul_mat", "mul_mat_id", "flash_attn_ext", "conv_transpose_1d"])

# Arguments of which it takes no other type.
_KEPT = {"flash_attn_ext": 3}

# Arguments that an op writes into.
_TARGETS = {"cpy": 1, "set_rows": 0, "set": 0, "clamp": 0}


def needs_wide(root: Tree) -> bool:
    """Whether only a wide reference is exact."""
    return bool(names(root) & _ROUNDED)


class Reference(Built):
    """The tensors of a tree for the CPU backend. `wide`: see this module."""

    def __init__(self, context: Context, root: Tree, *, wide: bool = False) -> None:
        self.wide = wide
        self._kept = set(_kept_leaves(root))
        super().__init__(context, root)

    def stored(self, leaf: Leaf, data: bytes) -> bytes:
        """The bytes of the leaf's type as those of its tensor here."""
        kind, here = Type.of(leaf.type), self._leaf_type(leaf)
        if kind is here:
            return data
        count = len(data) // type_size(self._native, kind) * block_size(self._native, kind)
        return encode(self._native, decode(self._native, data, kind, count), here)

    def _leaf_type(self, leaf: Leaf) -> Type:
        return Type.of(leaf.type) if id(leaf) in self._kept else self._type(leaf.type)

    def _type(self, name: str) -> Type:
        kind = Type.of(name)
        return Type.F32 if self.wide and kind in _REAL else kind

    def _prepared(self, call: Call, arguments: list[Any]) -> list[Any]:
        if call.name in _VIEWS:
            return arguments
        if self.wide or call.name in _SIDE_BY_SIDE | _FLAT:
            arguments = [self._contiguous(call, i, argument) for i, argument in enumerate(arguments)]
        if call.name == "cpy":
            arguments = [self._in_rows_of(*arguments[:2]), *arguments[1:]]
        if call.name in _FLAT:
            arguments = [ops.reshape(a, (a.ne[0] * a.ne[1] * a.ne[2] * a.ne[3],)) for a in arguments]
        return arguments

    def _in_rows_of(self, a: Tensor, to: Tensor) -> Tensor:
        """It has memory for a row of the target, and converts the longer ones of the source in it."""
        if a.ne[0] <= to.ne[0] or block_size(self._native, a.type) > 1:
            return a
        return ops.apply("reshape_4d", a if a.is_contiguous else ops.cont(a), *to.ne)

    def _contiguous(self, call: Call, index: int, argument: Any) -> Any:
        written = (call.name.endswith("_inplace") and index == 0) or _TARGETS.get(call.name) == index
        if not isinstance(argument, Tensor) or written:
            return argument
        # Strides of axes of length 1 do not count for ggml, and are used all the same.
        packed = all(argument.nb[i] == argument.nb[i - 1] * argument.ne[i - 1] for i in (2, 3))
        return argument if argument.is_contiguous and packed else ops.cont(argument)


def _kept_leaves(root: Tree) -> Iterator[int]:
    for node in nodes(root):
        kept = _KEPT.get(node.name) if isinstance(node, Call) else None
        if kept is not None and isinstance(node, Call):
            argument = node.arguments[kept]
            if isinstance(argument, Leaf | Call):
                yield from (id(part) for part in nodes(argument))
