"""The registry of strategies, and small strategies that several families share."""

import itertools
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from .recipes import Recipe, permute, sliced, tensor
from .rows import Row
from .tensor_types import TYPES

Arguments = tuple[Any, ...]
Maker = Callable[[Row], SearchStrategy[Arguments]]

_makers: dict[str, Maker] = {}


def draws(getter: str) -> Callable[[Maker], Maker]:
    """Register what draws the arguments of `ggml_metal_library_get_pipeline_GETTER`."""

    def register(maker: Maker) -> Maker:
        assert getter not in _makers, f"two strategies for {getter}"
        _makers[getter] = maker
        return maker

    return register


def makers() -> dict[str, Maker]:
    """All of them by getter."""
    from . import strategies  # imports every module there

    assert strategies
    return _makers


@cache
def arguments_of(getter: str, row: Row) -> SearchStrategy[Arguments]:
    """Draws the getter's arguments for a row."""
    return makers()[getter](row)


# ---- shared. A draw costs about as much as a call: everything is prepared, one choice is one draw.

Draw = Callable[[SearchStrategy[Any]], Any]
"""What `@st.composite` hands to a strategy."""


@cache
def one_of(*choices: Any) -> SearchStrategy[Any]:
    """One of these values; the first is the simplest."""
    return st.sampled_from(choices)


@cache
def near(*thresholds: int, least: int = 1, most: int = 2**31 - 1) -> SearchStrategy[int]:
    """Lengths around thresholds: mostly each itself; below, above, the next multiple of 4; and small ones."""
    around = {t + d for t in thresholds for d in (-1, 0, 1, 4)} | {1, 2, 3, 4, 5, 8}
    return st.sampled_from([n for n in [*sorted(around), *thresholds * 2] if least <= n <= most])


@cache
def blocks_near(type: str, *thresholds: int) -> SearchStrategy[int]:
    """As `near`, but whole blocks of the type."""
    block = TYPES[type].block
    if block == 1:
        return near(*thresholds)
    wanted = {max(t // block + d, 1) * block for t in thresholds for d in (-1, 0, 1)} | {block, 2 * block}
    return st.sampled_from(sorted(wanted))


_PLAIN = [("plain", ())] * 6
_SLICED = [("sliced", extra) for extra in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (2, 1, 0))]
_ROWS = [("permuted", (0, *axes)) for axes in itertools.permutations((1, 2, 3))]
_AXES = [
    ("permuted", axes) for axes in ((1, 0, 2, 3), (1, 2, 0, 3), (2, 1, 0, 3), (3, 1, 2, 0), (3, 2, 1, 0))
]
_LAYOUTS_OF_ROWS = st.sampled_from([*_PLAIN, *_SLICED, *_ROWS])
_LAYOUTS = st.sampled_from([*_PLAIN, *_SLICED, *_ROWS, *_AXES])


def leaf(draw: Draw, type: str, ne: Sequence[int], *, rows: bool = False) -> Recipe:
    """A tensor of that type and shape: contiguous, cut out of a larger one, or permuted.

    With `rows`, as always with quantised types, the values of a row lie side by side.
    """
    full = [*ne, *[1] * (4 - len(ne))]
    kind, detail = draw(_LAYOUTS_OF_ROWS if rows or TYPES[type].block > 1 else _LAYOUTS)
    if kind == "sliced":
        return sliced(type, full, extra=detail)
    if kind == "permuted" and max(full) < 2**31:  # ggml_permute moves lengths of 32 bits
        return permute(tensor(type, *(full[axis] for axis in detail)), *detail)
    return tensor(type, *full)
