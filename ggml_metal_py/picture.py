"""Pictures of kernel maps, by matplotlib (the extra `plot`)."""

from collections.abc import Callable, Sequence
from os import PathLike

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from .kernel_map import KernelMap

# Okabe and Ito's, which colour-blind people can tell apart.
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#000000")
_MOST_LABELS = 12


def draw(found: KernelMap, path: "str | PathLike[str]") -> None:
    """Write the map as a picture; the suffix of `path` says which kind.

    Raises ValueError for more than two axes, or for a kind of picture that matplotlib does not write.
    """
    if len(found.axes) > 2:
        raise ValueError(f"a picture has two axes, the map has {len(found.axes)}: {', '.join(found.axes)}")
    *rows, columns = found.axes
    down = found.axes[rows[0]] if rows else (0,)
    across = found.axes[columns]
    numbers = {base: i for i, base in enumerate(found.bases)}
    values = np.array([numbers.get(cell.base or "", -1) for cell in found.cells], float)
    values[values < 0] = np.nan
    figure = Figure(figsize=(9, 5 if rows else 2), layout="constrained")
    FigureCanvasAgg(figure)
    plot = figure.subplots()
    colours = [_COLOURS[i % len(_COLOURS)] for i in range(max(1, len(numbers)))]
    plot.pcolormesh(
        np.arange(len(across) + 1) - 0.5,
        np.arange(len(down) + 1) - 0.5,
        values.reshape(len(down), len(across)),
        cmap=ListedColormap(colours),
        vmin=-0.5,
        vmax=len(colours) - 0.5,
    )
    _label(plot.set_xticks, across)
    plot.set_xlabel(columns)
    if rows:
        _label(plot.set_yticks, down)
        plot.set_ylabel(rows[0])
    else:
        plot.set_yticks([])
    plot.set_facecolor("0.85")
    plot.set_title(f"{found.op}: the kernel that is chosen")
    patches = [Patch(color=colour, label=base) for base, colour in zip(numbers, colours, strict=False)]
    if np.isnan(values).any():
        patches.append(Patch(color="0.85", label="not supported"))
    figure.legend(handles=patches, loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(path, dpi=120)


def _label(set_ticks: Callable[..., object], values: Sequence[int]) -> None:
    step = max(1, -(-len(values) // _MOST_LABELS))
    set_ticks(range(0, len(values), step), [str(value) for value in values[::step]])
