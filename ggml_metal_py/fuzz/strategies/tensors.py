"""Strategies for tensors: types, lengths, values, and the ways in which they lie in memory.

What is drawn are trees (`ggml_metal_py.check.expression`): `f32(64, 3)`, `cut(f32(72, 5), [64, 3], [4, 1])`.
The simplest ones come first, so that hypothesis shrinks to them: short, f32, contiguous, plain values.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ...check.expression import Call, Leaf, Tree, call, leaf

T = TypeVar("T")


class Draw(Protocol):
    """What hypothesis' `composite` hands to a function."""

    def __call__(self, strategy: SearchStrategy[T], label: object = None) -> T: ...


Shape = tuple[int, ...]
Values = Mapping[str, Any]
"""Options of a leaf: `low`, `high`, `fill`."""

FLOATS = ("f32", "f16", "bf16")
BLOCKS_32 = ("q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "mxfp4", "iq4_nl")
BLOCKS_256 = (
    *("q4_k", "q6_k", "q2_k", "q3_k", "q5_k", "iq4_xs"),
    *("iq2_xxs", "iq2_xs", "iq2_s", "iq3_xxs", "iq3_s", "iq1_s", "iq1_m"),
)
QUANTISED = (*BLOCKS_32, "q1_0", *BLOCKS_256)
WEIGHTS = (*FLOATS, *QUANTISED)
"""Types that products and get_rows know."""

_BLOCK = {**dict.fromkeys(BLOCKS_32, 32), "q1_0": 128, **dict.fromkeys((*BLOCKS_256, "tq1_0", "tq2_0"), 256)}

# Where kernels change: a quarter of, one and several simdgroups, a threadgroup, and one more or less.
_EDGES = tuple(n + d for n in (8, 16, 32, 64, 96, 128, 256, 512, 1024) for d in (0, 1, -1, 4))

PLAIN: Values = {}
SPECIAL: Values = {"fill": "special"}
HUGE: Values = {"fill": "huge"}
SUBNORMAL: Values = {"fill": "subnormal"}
NAN: Values = {"fill": "nan"}
ANY_VALUES = (PLAIN, PLAIN, PLAIN, SPECIAL, HUGE, SUBNORMAL)
"""For ops that keep to the rules of floats; the plain ones most often."""


def block(type: str) -> int:
    """Values in a block of the type, by ggml's name in small letters."""
    return _BLOCK.get(type, 1)


# ---- types and lengths


def types(*names: str) -> SearchStrategy[str]:
    """One of these types, or of all that hold weights. The first one is the simplest."""
    return st.sampled_from(names or WEIGHTS)


@cache
def lengths(most: int = 1100) -> SearchStrategy[int]:
    """A length of an axis: small ones, those around the places where kernels change, any."""
    edges = [n for n in _EDGES if n <= most]
    small = st.integers(1, min(9, most))
    return st.one_of(small, st.sampled_from(edges), st.integers(1, most)) if edges else small


@st.composite
def shapes(draw: Draw, axes: int = 4, most: int = 1100, elements: int = 6000, unit: int = 1) -> Shape:
    """ne, innermost first: up to so many axes, a first one of up to `most`, so many values in all.

    The first one is a multiple of `unit`.
    """
    first = draw(lengths(max(most // unit, 1))) * unit
    ne = [first]
    for _ in range(draw(st.integers(0, axes - 1))):
        room = max(1, elements // math.prod(ne))
        ne.append(draw(st.integers(1, min(room, 9)) if len(ne) > 1 else lengths(min(room, 70))))
    return tuple(ne)


def some(*values: T) -> SearchStrategy[T]:
    """One of these. The first one is the simplest; one that is named twice is drawn more often."""
    return st.sampled_from(values)


def weighted(**names: int) -> SearchStrategy[str]:
    """One of these words, each as often as its number says."""
    return st.sampled_from([name for name, times in names.items() for _ in range(times)])


# ---- how tensors lie in memory


def padded(ne: Sequence[int]) -> tuple[int, int, int, int]:
    """ne with all four axes."""
    return (*ne, 1, 1, 1, 1)[:4]  # type: ignore[return-value]


def laid_out(draw: Draw, type: str, ne: Sequence[int], values: Values = PLAIN, *, rows: bool = False) -> Tree:
    """A tensor of these lengths that lies in memory in any way: whole, a window, axes exchanged, with steps.

    `rows`: the values of a row lie side by side.
    """
    kinds = {"plain": 6, "cut": 2, "permute": 2, "reshape": 1}
    if not rows and block(type) == 1 and padded(ne)[3] == 1:
        kinds["step"] = 1
    how = draw(weighted(**kinds))
    if how == "plain" or 0 in ne:
        return leaf(type, *ne, **values)
    return _LAYOUTS[how](draw, type, padded(ne), values, rows)


def _window(draw: Draw, type: str, ne: Shape, values: Values, rows: bool) -> Tree:
    unit = block(type)
    before = [draw(st.integers(0, 5)) * unit, *(draw(st.integers(0, 2)) for _ in ne[1:])]
    behind = [draw(st.integers(0, 5)) * unit, *(draw(st.integers(0, 2)) for _ in ne[1:])]
    whole = [a + n + b for a, n, b in zip(before, ne, behind, strict=True)]
    return call("cut", leaf(type, *whole, **values), tuple(ne), tuple(before))


def _permuted(draw: Draw, type: str, ne: Shape, values: Values, rows: bool) -> Tree:
    if rows or block(type) > 1:
        axes = (0, *draw(st.permutations((1, 2, 3))))
    else:
        axes = tuple(draw(st.permutations(range(4))))
    return call("permute", leaf(type, *(ne[axis] for axis in axes), **values), *axes)


def _reshaped(draw: Draw, type: str, ne: Shape, values: Values, rows: bool) -> Tree:
    return call("reshape_4d", leaf(type, math.prod(ne), **values), *ne)


def _stepped(draw: Draw, type: str, ne: Shape, values: Values, rows: bool) -> Tree:
    """Every second or third value of what lies side by side. An axis of its own counts the others."""
    step = draw(st.integers(2, 3))
    return call("permute", call("cut", leaf(type, step, *ne[:3], **values), (1, *ne[:3])), 3, 0, 1, 2)


_LAYOUTS = {"cut": _window, "permute": _permuted, "reshape": _reshaped, "step": _stepped}


@st.composite
def tensors(draw: Draw, *kinds: str, rows: bool = False, most: int = 1100) -> Tree:
    """Tensors of one of these types (f32 without any), of any lengths, that lie in memory in any way.

    `rows`: the values of a row lie side by side. `most`: the longest row.
    """
    type = draw(types(*kinds or ("f32",)))
    ne = draw(shapes(most=most, unit=block(type)))
    return laid_out(draw, type, ne, draw(values()) if type == "f32" else PLAIN, rows=rows)


def values() -> SearchStrategy[Values]:
    """What f32 tensors hold: values around 0, special, huge and subnormal ones. Options of a leaf."""
    return st.sampled_from(ANY_VALUES)


def repeated(draw: Draw, ne: Sequence[int]) -> Shape:
    """Lengths that divide these: of what is repeated to them."""
    return tuple(draw(st.sampled_from([n, *([1] if n > 1 else []), *_divisors(n)])) for n in ne)


@cache
def _divisors(n: int) -> tuple[int, ...]:
    return tuple(d for d in (2, 3, 4, 5, 7, 8, 16, 32) if d < n and n % d == 0)


__all__ = [
    "ANY_VALUES",
    "FLOATS",
    "HUGE",
    "NAN",
    "PLAIN",
    "QUANTISED",
    "SPECIAL",
    "SUBNORMAL",
    "WEIGHTS",
    "Call",
    "Draw",
    "Leaf",
    "Shape",
    "Tree",
    "Values",
    "block",
    "call",
    "laid_out",
    "leaf",
    "lengths",
    "padded",
    "repeated",
    "shapes",
    "some",
    "tensors",
    "types",
    "values",
    "weighted",
]
