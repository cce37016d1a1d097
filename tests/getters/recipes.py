"""Descriptions of op tensors that a strategy draws: printed as code to paste, realised in a Context.

    op("mul_mat", tensor("q4_0", 64, 32), tensor("f32", 64, 1))

Everything is in ggml's order, ne[0] first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ggml_metal_py as gm

from .tensor_types import TYPES, row_bytes


@dataclass(frozen=True, eq=False)
class Recipe:
    """A tensor to be made by `made_by`, a function of this module, with these arguments."""

    made_by: str
    arguments: tuple[Any, ...]
    ne: tuple[int, ...] = ()
    """Known for leaves and views only."""

    def __repr__(self) -> str:
        return f"{self.made_by}({', '.join(map(repr, self.arguments))})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))  # hypothesis would print the dataclass


def tensor(type: str, *ne: int) -> Recipe:
    """A contiguous leaf."""
    return Recipe("tensor", (type, *ne), (*ne, *[1] * (4 - len(ne))))


def op(name: str, *arguments: Any) -> Recipe:
    """ggml_NAME(context, arguments...): Recipes, None, numbers; a type goes by its name, as `Type("f32")`."""
    return Recipe("op", (name, *arguments))


@dataclass(frozen=True)
class Type:
    """An `enum ggml_type` among the arguments of an op."""

    name: str


def view(a: Recipe, ne: Sequence[int], nb: Sequence[int], offset: int = 0) -> Recipe:
    """A window of a's memory: 4 lengths, 3 strides (nb[1], nb[2], nb[3]), in bytes."""
    return Recipe("view", (a, tuple(ne), tuple(nb), offset), tuple(ne))


def permute(a: Recipe, *axes: int) -> Recipe:
    """ggml_permute: axis i of a becomes axis axes[i]."""
    ne = [1] * 4
    for i, axis in enumerate(axes):
        ne[axis] = a.ne[i]
    return Recipe("permute", (a, *axes), tuple(ne))


def sliced(type: str, ne: Sequence[int], *, extra: Sequence[int] = (0, 0, 0)) -> Recipe:
    """A leaf cut out of a larger one: `extra` blocks in each row, rows and matrices left out."""
    full = [*ne, *[1] * (4 - len(ne))]
    outer = [full[0] + extra[0] * TYPES[type].block, full[1] + extra[1], full[2] + extra[2], full[3]]
    nb = [row_bytes(type, outer[0])]
    nb += [nb[0] * outer[1], nb[0] * outer[1] * outer[2]]
    return view(tensor(type, *outer), full, nb)


def changed(
    a: Recipe,
    *,
    type: str | None = None,
    ne: Sequence[int] | None = None,
    nb: Sequence[int] | None = None,
    params: Mapping[int, int] | None = None,
    src: Mapping[int, Recipe | None] | None = None,
    flags: int | None = None,
) -> Recipe:
    """`a` with fields of its struct overwritten: for what no constructor of ggml makes."""
    fields = {"type": type, "ne": ne, "nb": nb, "params": params, "src": src, "flags": flags}
    return Recipe("changed", (a, {key: value for key, value in fields.items() if value is not None}), a.ne)


def realise(recipe: Recipe, context: gm.Context) -> gm.Tensor:
    """Make the tensor and what it refers to; the same Recipe twice is the same tensor."""
    return _Maker(context).tensor(recipe)


class _Maker:
    def __init__(self, context: gm.Context) -> None:
        self._context = context
        self._native = context._native
        self._made: dict[int, gm.Tensor] = {}

    def tensor(self, recipe: Recipe) -> gm.Tensor:
        made = self._made.get(id(recipe))
        if made is None:
            made = self._made[id(recipe)] = getattr(self, f"_{recipe.made_by}")(*recipe.arguments)
        return made

    def _tensor(self, type: str, *ne: int) -> gm.Tensor:
        context, make = self._context, self._native.ggml_new_tensor_4d
        full = (*ne, *[1] * (4 - len(ne)))
        return context._build(lambda: make(context._use(), TYPES[type].number, *full), len(ne), ())

    def _op(self, name: str, *arguments: Any) -> gm.Tensor:
        return gm.ops.apply(name, *map(self._argument, arguments), context=self._context)

    def _argument(self, argument: Any) -> Any:
        if isinstance(argument, Recipe):
            return self.tensor(argument)
        return TYPES[argument.name].number if isinstance(argument, Type) else argument

    def _view(self, a: Recipe, ne: tuple[int, ...], nb: tuple[int, ...], offset: int) -> gm.Tensor:
        return gm.ops.apply("view_4d", self.tensor(a), *ne, *nb, offset)

    def _permute(self, a: Recipe, *axes: int) -> gm.Tensor:
        # Not by gm.ops, which refuses what older rows do to axes of 2**31 and more.
        context, source, make = self._context, self.tensor(a), self._native.ggml_permute
        return context._build(lambda: make(context._use(), source._use(), *axes), 4, [source])

    def _changed(self, a: Recipe, fields: Mapping[str, Any]) -> gm.Tensor:
        # Its own copy: the unchanged one may be used, too.
        maker = _Maker(self._context)
        made = maker.tensor(a)
        struct = made._use()
        if "type" in fields:
            struct.type = TYPES[fields["type"]].number
        for field in ("ne", "nb"):
            for axis, value in enumerate(fields.get(field, ())):
                getattr(struct, field)[axis] = value
        for index, value in fields.get("params", {}).items():
            struct.op_params[index] = value
        for index, source in fields.get("src", {}).items():
            struct.src[index] = self._native.ffi.NULL if source is None else maker.tensor(source)._use()
        struct.flags = fields.get("flags", struct.flags)
        return made
