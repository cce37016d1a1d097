"""Kernel maps: which kernel upstream chooses for an op over a grid of shapes, as values and CSV."""

import csv
import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TextIO

from .described import DescribedOp
from .errors import KernelNotFound, UnsupportedOp
from .select import Selector, main_pipeline

if TYPE_CHECKING:
    from .device import Device

MOST_CELLS = 1_000_000


@dataclass(frozen=True)
class Cell:
    """One shape and the kernel for it; both None where the device does not support the op."""

    shape: dict[str, int]
    base: str | None
    name: str | None


@dataclass(frozen=True)
class KernelMap:
    """All cells of a grid; the last axis varies fastest."""

    op: str
    axes: dict[str, tuple[int, ...]]
    cells: tuple[Cell, ...]

    @property
    def bases(self) -> tuple[str, ...]:
        """The kernels in it, each once, in order of their first use."""
        return tuple(dict.fromkeys(cell.base for cell in self.cells if cell.base is not None))

    def counts(self) -> dict[str | None, int]:
        """Cells by kernel, the most frequent first."""
        return dict(Counter(cell.base for cell in self.cells).most_common())

    def as_json(self) -> dict[str, Any]:
        """As plain values: op, axes, cells."""
        return asdict(self)

    def write_csv(self, file: TextIO) -> None:
        """One line for each cell: the axes' values, base and name."""
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow([*self.axes, "base", "name"])
        for cell in self.cells:
            rows.writerow([*(cell.shape[name] for name in self.axes), cell.base or "", cell.name or ""])


def kernel_map(
    device: "Device",
    op: DescribedOp,
    axes: Mapping[str, Sequence[int]],
    progress: Callable[[int, int], object] | None = None,
) -> KernelMap:
    """Ask upstream for every shape of the grid. `progress` is called with cells done and cells in all.

    Raises ValueError when the axes are not those of the op's sources or the grid is too big, GgmlAbort for
    a shape that ggml refuses.
    """
    if set(axes) != set(op.names) or not axes:
        wanted = ", ".join(op.names) or "none: name one as in f32:KxN"
        raise ValueError(f"axes of the op's sources: {wanted}; given: {', '.join(axes) or 'none'}")
    grid = list(itertools.product(*axes.values()))
    if len(grid) > MOST_CELLS:
        raise ValueError(f"a map has at most {MOST_CELLS} cells, not {len(grid)}")
    cells = []
    with Selector(device) as selector:
        for values in grid:
            shape = dict(zip(axes, values, strict=True))
            cells.append(_cell(device, selector, op, shape))
            if progress is not None:
                progress(len(cells), len(grid))
    return KernelMap(op.name, {name: tuple(values) for name, values in axes.items()}, tuple(cells))


def _cell(device: "Device", selector: Selector, op: DescribedOp, shape: dict[str, int]) -> Cell:
    with device.context(2 * len(op.sources) + 8) as context:
        try:
            pipeline = main_pipeline(selector.dispatches(op.make(context, shape)))
        except UnsupportedOp:
            return Cell(shape, None, None)
        except KernelNotFound as missing:
            return Cell(shape, missing.name, None)
    return Cell(shape, pipeline.base if pipeline else None, pipeline.name if pipeline else None)
