"""Which strategies there are: one for each op, by the op's name in ggml.h."""

from collections.abc import Callable, Sequence
from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ...check.case import Case
from ...check.expression import Tree
from .tensors import Draw

Drawing = Callable[[Draw, str], Tree]
"""Draws a graph whose last op is the one of that name."""

_DRAWINGS: dict[str, Drawing] = {}
_WEIGHTS: dict[str, int] = {}


def op(*names: str, weight: int = 1) -> Callable[[Drawing], Drawing]:
    """Register a function as the one that draws graphs of these ops.

    Campaigns draw `weight` times as many of them as of others: of those with many kernels.
    """

    def register(function: Drawing) -> Drawing:
        for name in names:
            assert name not in _DRAWINGS, name
            _DRAWINGS[name] = function
            _WEIGHTS[name] = weight
        return function

    return register


def names() -> tuple[str, ...]:
    """All ops that there are strategies for."""
    return tuple(_DRAWINGS)


def weight(name: str) -> int:
    """How many times as often as others a campaign draws it."""
    return _WEIGHTS[name]


def find(wanted: Sequence[str]) -> tuple[str, ...]:
    """The ops of these names, or all without any. Raises ValueError for an op without a strategy."""
    asked = [name.lower().removeprefix("ggml_") for name in wanted]
    for name in asked:
        if name not in _DRAWINGS:
            raise ValueError(f"there is no strategy for {name!r}; ops: {', '.join(_DRAWINGS)}")
    return tuple(dict.fromkeys(asked)) or names()


@cache
def trees(name: str) -> SearchStrategy[Tree]:
    """Graphs whose last op is this one, as trees. Raises ValueError."""
    (name,) = find([name])

    @st.composite
    def tree(draw: Draw) -> Tree:
        return _DRAWINGS[name](draw, name)

    return tree()


@cache
def op_cases(name: str) -> SearchStrategy[Case]:
    """The same as cases."""
    (name,) = find([name])
    return trees(name).map(lambda tree: Case(name, str(tree)))
