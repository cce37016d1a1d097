"""One measured figure, and the table of all."""

from __future__ import annotations

import json
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


def as_json(results: Sequence[Result]) -> str:
    """One JSON object with the key `results`."""
    return json.dumps({"results": [asdict(result) for result in results]})


def print_table(results: Sequence[Result]) -> None:
    """The results as a table on standard output."""
    from rich.console import Console
    from rich.table import Table

    table = Table("what", "value", "against", "ratio")
    for result in results:
        ratio = "" if result.ratio is None else f"{result.ratio:.2f}x"
        value = f"{result.value:,.0f}" if result.value >= 100 else f"{result.value:.3g}"
        table.add_row(result.name, f"{value} {result.unit}", result.against or "", ratio)
    Console().print(table)
