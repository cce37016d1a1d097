"""A case's tree as tensors of a Context, and the values of its leaves.

Helpers that are no functions of ggml.h: `cut(a, [ne..], [start..])` is the window of a with these lengths,
whose first value is a's at `start` (all 0 when left out); `param(a)` marks a leaf as a trained one;
`with_sinks(a, b)` gives attention sinks to a result of soft_max_ext or flash_attn_ext; `on_zeros(a)` is a,
but the memory of all results is zero before they are computed, where it otherwise holds NaN.
"""

from collections.abc import Callable, Sequence
from typing import Any

from .. import ops
from ..described import enum_value
from ..op_checks import argument_kinds
from ..tensor import MAX_DIMS, Context, Tensor, Type, block_size
from .expression import Argument, Call, Leaf, Tree, nodes
from .values import bytes_of, random_for

NAN = 0xFF
"""In all bytes of a value: NaN, for every type of float."""


class Built:
    """The tensors of a tree."""

    def __init__(self, context: Context, root: Tree) -> None:
        self.context = context
        self._native = context._native
        self._made: dict[int, Tensor] = {}
        self.leaves: list[tuple[Leaf, Tensor]] = []
        self.unwritten = NAN
        """The bytes of memory before it is written."""
        for node in nodes(root):
            self._made[id(node)] = self._leaf(node) if isinstance(node, Leaf) else self._call(node)
        self.result = self.tensor(root)

    def tensor(self, tree: Tree) -> Tensor:
        """The tensor of a part of the tree."""
        return self._made[id(tree)]

    def store(self, values: Sequence[bytes]) -> None:
        """Give the leaves, which have memory, their values: bytes of the types that the tree names."""
        for (leaf, tensor), data in zip(self.leaves, values, strict=True):
            tensor._set_bytes(self.stored(leaf, data))

    def stored(self, leaf: Leaf, data: bytes) -> bytes:
        """The bytes of the leaf's type as those of its tensor here."""
        return data

    # ---- what a reference does in its own way

    def _leaf_type(self, leaf: Leaf) -> Type:
        return Type.of(leaf.type)

    def _type(self, name: str) -> Type:
        return Type.of(name)

    def _prepared(self, call: Call, arguments: list[Any]) -> list[Any]:
        return arguments

    # ---- making

    def _leaf(self, leaf: Leaf) -> Tensor:
        kind = self._leaf_type(leaf)
        if not 1 <= len(leaf.ne) <= MAX_DIMS or min(leaf.ne) < 0:
            raise ValueError(f"a tensor has 1 to {MAX_DIMS} lengths, none below 0: {leaf}")
        if leaf.ne[0] % block_size(self._native, kind):
            raise ValueError(f"the rows of {leaf} are not whole blocks")
        ne = [*leaf.ne, *[1] * (MAX_DIMS - len(leaf.ne))]
        # Not by new_tensor, which makes none without values.
        make, context = self._native.ggml_new_tensor_4d, self.context
        tensor = context._build(lambda: make(context._use(), int(kind), *ne), len(leaf.ne), ())
        self.leaves.append((leaf, tensor))
        return tensor

    def _call(self, call: Call) -> Tensor:
        helper = _HELPERS.get(call.name)
        if helper is not None:
            return helper(self, *call.arguments)
        kinds: list[Any] = [*argument_kinds(self._native, call.name)]
        kinds += [None] * (len(call.arguments) - len(kinds))
        plain = [
            self._argument(kind, argument) for kind, argument in zip(kinds, call.arguments, strict=False)
        ]
        return ops.apply(call.name, *self._prepared(call, plain), context=self.context, ndim=1)

    def _argument(self, kind: Any, argument: Argument) -> Any:
        if isinstance(argument, Leaf | Call):
            return self.tensor(argument)
        if isinstance(argument, tuple):
            return list(argument)
        if isinstance(argument, str) and kind is not None and kind.kind == "enum":
            if kind.cname == "enum ggml_type":
                return int(self._type(argument))
            return enum_value(kind, argument)
        return argument

    def cut(self, of: Argument, lengths: Argument, start: Argument = ()) -> Tensor:
        """See this module."""
        if not isinstance(of, Leaf | Call) or not isinstance(lengths, tuple) or not isinstance(start, tuple):
            raise ValueError("cut takes a tensor, a list of lengths and a list of starts")
        a = self.tensor(of)
        ne = [*lengths, *a.ne[len(lengths) :]]
        first = [*start, *[0] * (MAX_DIMS - len(start))]
        if any(n + skip > whole for n, skip, whole in zip(ne, first, a.ne, strict=True)):
            raise ValueError(f"cut: {ne} from {first} on is not inside of {list(a.ne)}")
        first[0] //= block_size(self._native, a.type)
        offset = sum(skip * nb for skip, nb in zip(first, a.nb, strict=True))
        return ops.apply("view_4d", a, *ne, *a.nb[1:], offset, context=self.context)

    def param(self, of: Argument) -> Tensor:
        """See this module."""
        if not isinstance(of, Leaf):
            raise ValueError("param takes a leaf")
        tensor = self.tensor(of)
        self._native.ggml_set_param(tensor._use())
        return tensor

    def with_sinks(self, of: Argument, sinks: Argument) -> Tensor:
        """See this module."""
        if not isinstance(of, Call) or not isinstance(sinks, Leaf | Call):
            raise ValueError("with_sinks takes a result of soft_max_ext or flash_attn_ext, and a tensor")
        name = {"soft_max_ext": "soft_max"}.get(of.name, of.name)
        result = self.tensor(of)
        getattr(self._native, f"ggml_{name}_add_sinks")(result._use(), self.tensor(sinks)._use())
        return result

    def on_zeros(self, of: Argument) -> Tensor:
        """See this module."""
        if not isinstance(of, Leaf | Call):
            raise ValueError("on_zeros takes a tensor")
        self.unwritten = 0
        return self.tensor(of)


_HELPERS: dict[str, Callable[..., Tensor]] = {
    "cut": Built.cut,
    "param": Built.param,
    "with_sinks": Built.with_sinks,
    "on_zeros": Built.on_zeros,
}


def values_of(context: Context, text: str, root: Tree) -> list[bytes]:
    """The values of the leaves, as their types store them, in the order in which Built has them."""
    leaves = [node for node in nodes(root) if isinstance(node, Leaf)]
    return [bytes_of(context._native, leaf, random_for(text, i)) for i, leaf in enumerate(leaves)]
