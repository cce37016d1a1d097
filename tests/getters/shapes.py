"""Shapes and tensors that the strategies of several families share."""

from collections.abc import Sequence
from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from .draws import Draw, leaf, one_of
from .recipes import Recipe, tensor
from .tensor_types import TYPES

Shape = tuple[int, int, int, int]

SMALL: tuple[Shape, ...] = (
    *((1, 1, 1, 1), (2, 1, 1, 1), (3, 1, 1, 1), (4, 1, 1, 1), (5, 3, 1, 1), (7, 1, 2, 1), (8, 3, 2, 2)),
    *((1, 4, 1, 1), (2, 2, 1, 1), (1, 1, 1, 3), (64, 1, 1, 2), (1023, 2, 1, 1), (1024, 1, 1, 1)),
    (1025, 1, 1, 1),
)
"""Rows that are and are not multiples of 4, one and several rows, matrices and stacks of them."""

NUMBERS = ("f32", "f32", "f32", "f16", "f16", "bf16", "i32", "q4_0")
"""Types that stand for all: the usual ones, most often f32, an integer, one stored in blocks."""


def around(elements: int) -> tuple[Shape, ...]:
    """Shapes with so many elements (a multiple of 16), and with a few less and more."""
    quarter = elements // 4
    return (
        *((elements + d, 1, 1, 1) for d in (-1, 0, 1)),
        *((4, quarter + d, 1, 1) for d in (-1, 0, 1)),
        *((quarter, 2, 2, 1), (quarter, 1, 1, 4), (quarter + 1, 2, 2, 1), (1, quarter, 4, 1)),
    )


def fitted(type: str, ne: Sequence[int]) -> Shape:
    """The shape with whole blocks of the type in a row."""
    block = TYPES[type].block
    return -(-ne[0] // block) * block, ne[1], ne[2], ne[3]


@cache
def typed(types: Sequence[str], shapes: Sequence[Shape] = SMALL) -> SearchStrategy[tuple[str, Shape]]:
    """A type and a shape of whole blocks: one choice. A type that is named twice is drawn more often."""
    return st.sampled_from([(type, ne) for type in types for ne in {fitted(type, ne): None for ne in shapes}])


def any_leaf(
    draw: Draw, types: Sequence[str], shapes: Sequence[Shape] = SMALL, *, rows: bool = False
) -> Recipe:
    """A tensor of one of these types and shapes, laid out in any way; `rows`: with packed rows."""
    return leaf(draw, *draw(typed(types, shapes)), rows=rows)


def packed(draw: Draw, types: Sequence[str], shapes: Sequence[Shape] = SMALL) -> Recipe:
    """A contiguous tensor of one of these types and shapes."""
    type, ne = draw(typed(types, shapes))
    return tensor(type, *ne)


def tidy(draw: Draw, type: str, ne: Sequence[int]) -> Recipe:
    """A tensor that is contiguous in most draws: for getters that refuse others."""
    return leaf(draw, type, ne) if seldom(draw) else tensor(type, *ne)


def seldom(draw: Draw) -> bool:
    """True once in six times."""
    return draw(one_of(False, False, False, False, False, True))
