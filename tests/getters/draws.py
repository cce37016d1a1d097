"""The registry of strategies, and small strategies that several families share."""

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


# ---- shared


def near(*thresholds: int, least: int = 1, most: int | None = None) -> SearchStrategy[int]:
    """Lengths around thresholds: below, at and above each, and small ones."""
    wanted = {t + d for t in thresholds for d in (-1, 0, 1)} | {1, 2, 3, 4, 5, 8}
    return st.sampled_from(sorted(n for n in wanted if n >= least and (most is None or n <= most)))


def blocks_near(type: str, *thresholds: int) -> SearchStrategy[int]:
    """As `near`, but whole blocks of the type."""
    block = TYPES[type].block
    if block == 1:
        return near(*thresholds)
    wanted = {max(t // block + d, 1) * block for t in thresholds for d in (-1, 0, 1)} | {block, 2 * block}
    return st.sampled_from(sorted(wanted))


@st.composite
def leaves(draw: Any, type: str, ne: Sequence[int], *, rows: bool = False) -> Recipe:
    """A tensor of that type and shape: contiguous, cut out of a larger one, or permuted.

    With `rows`, as always with quantised types, the values of a row lie side by side.
    """
    full = [*ne, *[1] * (4 - len(ne))]
    kind = draw(st.sampled_from(("plain", "plain", "sliced", "permuted")))
    if kind == "sliced":
        extra = draw(st.tuples(*[st.integers(0, 2)] * 3))
        return sliced(type, full, extra=extra)
    if kind == "permuted":
        kept = [0] if rows or TYPES[type].block > 1 else []
        axes = kept + draw(st.permutations([axis for axis in range(4) if axis not in kept]))
        return permute(tensor(type, *(full[axis] for axis in axes)), *axes)
    return tensor(type, *full)
