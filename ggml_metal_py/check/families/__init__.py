"""The cases, by family. A family yields ops and trees; what they are compared with is not its business."""

from collections.abc import Callable, Iterator

from ..expression import Tree
from . import (
    attention,
    binary,
    copies,
    experts,
    graphs,
    images,
    matmul,
    newer,
    norms,
    others,
    positions,
    reductions,
    rows,
    sequence,
    sorting,
    unary,
)

Family = Callable[[], Iterator[tuple[str, Tree]]]

FAMILIES: tuple[Family, ...] = (
    binary.cases,
    unary.cases,
    norms.cases,
    reductions.cases,
    matmul.cases,
    experts.cases,
    attention.cases,
    copies.cases,
    rows.cases,
    positions.cases,
    images.cases,
    sequence.cases,
    sorting.cases,
    others.cases,
    graphs.cases,
    newer.cases,
)
