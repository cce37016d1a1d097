"""One measured figure, and the table of all."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Result:
    """A figure; `against` names what it was measured beside, `ratio` is the figure over that one's."""

    name: str
    value: float
    unit: str
    against: str | None = None
    ratio: float | None = None


@dataclass(frozen=True)
class KernelResult(Result):
    """An op on the device beside the CPU backend. `value` and `ratio` are those of one thread."""

    kernels: tuple[str, ...] = ()
    """Host names, as upstream dispatches them."""
    cpu: float = 0.0
    """The CPU backend's time, with one thread."""
    two_threads: float | None = None
    """The device's time with two; None where nobody can set that."""
    speed_up: float | None = None
    aim: float = 0.0
    """What `ratio` should be at most."""
    sketch: str = ""
    """What it was in the first sketch of softmetal."""

    def cells(self) -> tuple[str, ...]:
        """Its row in the table."""
        return (
            "\n".join((self.name, *(f"  {kernel}" for kernel in self.kernels))),
            f"{_number(self.value)} {self.unit}",
            f"{_number(self.cpu)} {self.unit}",
            f"{self.ratio:.2f}x",
            f"{self.aim:g}x",
            f"{self.sketch}x",
            "" if self.two_threads is None else f"{_number(self.two_threads)} {self.unit}",
            "" if self.speed_up is None else f"{self.speed_up:.2f}x",
        )


def as_json(results: Sequence[Result]) -> str:
    """One JSON object with the key `results`."""
    return json.dumps({"results": [asdict(result) for result in results]})


def print_table(results: Sequence[Result]) -> None:
    """The results as tables on standard output: kernels have one of their own."""
    from rich.console import Console
    from rich.table import Column, Table

    table = Table("what", "value", "against", "ratio")
    name = Column("kernel", overflow="fold")
    kernels = Table(name, "device", "CPU", "ratio", "aim", "sketch", "2 threads", "gain")
    for result in results:
        if isinstance(result, KernelResult):
            kernels.add_row(*result.cells())
        else:
            ratio = "" if result.ratio is None else f"{result.ratio:.2f}x"
            table.add_row(result.name, f"{_number(result.value)} {result.unit}", result.against or "", ratio)
    # rich takes a pipe or a file to be 80 columns wide.
    console = Console(width=None if sys.stdout.isatty() else 140)
    if table.row_count:
        console.print(table)
    if kernels.row_count:
        console.print(kernels)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
