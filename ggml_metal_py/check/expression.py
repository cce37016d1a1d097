"""Graphs as text, and as trees: `add(f32(8, 2), f32(8))`.

A type's name makes a leaf: `f32(64, 3)` is ggml's ne = [64, 3], ne[0] first. Any other name is a function of
ggml.h without `ggml_`, or one of the helpers of `build.py`. `x := f32(8)` names a part that is used again.
What the names mean is not known here.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Union

from ..tensor import Type

TYPES = frozenset(type.name.lower() for type in Type)
_CONSTANTS = {"inf": float("inf"), "nan": float("nan")}


@dataclass(frozen=True, eq=False)
class Leaf:
    """A tensor with values of its own. `options` say which: see `values.py`."""

    type: str
    ne: tuple[int, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return text_of(self)


@dataclass(frozen=True, eq=False)
class Call:
    """A function and its arguments. The same object in two places is the same tensor."""

    name: str
    arguments: tuple["Argument", ...]

    def __str__(self) -> str:
        return text_of(self)


Tree = Leaf | Call
Argument = Union[Leaf, Call, None, bool, int, float, str, tuple[int, ...]]  # noqa: UP007


def leaf(type: str, *ne: int, **options: Any) -> Leaf:
    """`leaf("f32", 64, 3)` is the tree of `f32(64, 3)`."""
    return Leaf(type, ne, options)


def call(name: str, *arguments: Argument) -> Call:
    """`call("add", a, b)` is the tree of `add(a, b)`."""
    return Call(name, arguments)


def nodes(root: Tree) -> Iterator[Tree]:
    """Every part once, in the order in which they are made: sources first."""
    seen: set[int] = set()

    def walk(node: Tree) -> Iterator[Tree]:
        if id(node) in seen:
            return
        seen.add(id(node))
        if isinstance(node, Call):
            for argument in node.arguments:
                if isinstance(argument, Leaf | Call):
                    yield from walk(argument)
        yield node

    return walk(root)


def names(root: Tree) -> frozenset[str]:
    """All functions in it."""
    return frozenset(node.name for node in nodes(root) if isinstance(node, Call))


# ---- to text


def text_of(root: Tree) -> str:
    """The text of a tree; `parse` makes an equal tree of it."""
    uses: dict[int, int] = {}
    for node in nodes(root):
        if isinstance(node, Call):
            for argument in node.arguments:
                uses[id(argument)] = uses.get(id(argument), 0) + 1
    shared = [id(node) for node in nodes(root) if uses.get(id(node), 0) > 1]
    return _Printer({key: f"x{i}" if i else "x" for i, key in enumerate(shared)}).text(root)


class _Printer:
    def __init__(self, labels: dict[int, str]) -> None:
        self._labels = labels
        self._printed: set[int] = set()

    def text(self, argument: Argument) -> str:
        if isinstance(argument, tuple):
            return f"[{', '.join(map(str, argument))}]"
        if not isinstance(argument, Leaf | Call):
            return repr(argument)
        label = self._labels.get(id(argument))
        if label is not None and id(argument) in self._printed:
            return label
        self._printed.add(id(argument))
        text = self._node(argument)
        return text if label is None else f"({label} := {text})"

    def _node(self, node: Tree) -> str:
        if isinstance(node, Call):
            return f"{node.name}({', '.join(map(self.text, node.arguments))})"
        options = [f"{name}={value!r}" for name, value in node.options.items()]
        return f"{node.type}({', '.join([*map(str, node.ne), *options])})"


# ---- from text


def parse(text: str) -> Tree:
    """The tree of a text. Raises ValueError, saying what cannot be read."""
    try:
        body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, RecursionError) as error:
        raise ValueError(f"{text!r} is no expression such as add(f32(8, 2), f32(8)): {error}") from None
    made = _Parser().argument(body)
    if not isinstance(made, Leaf | Call):
        raise ValueError(f"{text!r} makes no tensor; write it as add(f32(8, 2), f32(8))")
    return made


class _Parser:
    def __init__(self) -> None:
        self._named: dict[str, Argument] = {}

    def argument(self, node: ast.expr) -> Argument:
        if isinstance(node, ast.NamedExpr):
            self._named[node.target.id] = made = self.argument(node.value)
            return made
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._call(node.func.id, node)
        if isinstance(node, ast.List | ast.Tuple):
            return tuple(self._whole(element) for element in node.elts)
        return self._number(node)

    def _name(self, name: str) -> Argument:
        if name not in self._named and name not in _CONSTANTS:
            raise ValueError(f"nothing is named {name!r} here: name it before, as in ({name} := f32(8))")
        return self._named[name] if name in self._named else _CONSTANTS[name]

    def _call(self, name: str, node: ast.Call) -> Argument:
        if name in TYPES:
            options = {word.arg: self._number(word.value) for word in node.keywords if word.arg}
            return Leaf(name, tuple(self._whole(argument) for argument in node.args), options)
        if node.keywords:
            raise ValueError(f"{name} takes no words, only values in ggml.h's order")
        return Call(name, tuple(self.argument(argument) for argument in node.args))

    def _whole(self, node: ast.expr) -> int:
        value = self._number(node)
        if not isinstance(value, int):
            raise ValueError(f"a length is a whole number, not {value!r}")
        return value

    def _number(self, node: ast.expr) -> bool | int | float | str | None:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self._number(node.operand)
            if not isinstance(value, int | float):
                raise ValueError(f"{value!r} has no sign")
            return -value
        if isinstance(node, ast.Name) and node.id in _CONSTANTS:
            return _CONSTANTS[node.id]
        if isinstance(node, ast.Constant) and (
            node.value is None or isinstance(node.value, bool | int | float | str)
        ):
            return node.value
        raise ValueError(f"{ast.unparse(node)!r} is no value here")
