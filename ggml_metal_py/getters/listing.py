"""What getters there are: upstream's, by row, and their mirrors."""

import difflib
import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .base import PREFIX
from .rows import FIRST_ROW

if TYPE_CHECKING:
    from ..device import Device


_MODULE = re.compile(r"\bggml_metal_py\.(\w+\.)*")


@dataclass(frozen=True)
class GetterInfo:
    """A getter of some row."""

    name: str
    """Upstream's function."""
    arguments: tuple[str, ...]
    """Of the mirror, which are the newest row's: `op: Tensor`."""
    mirror: str
    """The method of Library."""
    in_upstream: bool
    """Whether the open row has it."""
    first_row: str
    """The oldest row that has it."""
    doc: str


def getters(device: "Device", name: str | None = None) -> list[GetterInfo]:
    """All getters of all rows, by name; or the one called `name`, with or without what all names begin with.

    Raises ValueError when there is none.
    """
    if name is None:
        return sorted(_getters(device, FIRST_ROW), key=lambda getter: getter.name)
    getter = name.removeprefix(PREFIX).removeprefix("get_pipeline_")
    if getter not in FIRST_ROW:
        close = difflib.get_close_matches(getter, FIRST_ROW) or sorted(FIRST_ROW)
        raise ValueError(f"there is no getter {name!r}; there is {', '.join(close)}")
    return list(_getters(device, [getter]))


def _getters(device: "Device", names: Iterable[str]) -> Iterator[GetterInfo]:
    from ..library import Library

    for getter in names:
        method = getattr(Library, f"get_pipeline_{getter}")
        parameters = list(inspect.signature(method).parameters.values())[1:]
        yield GetterInfo(
            name=PREFIX + getter,
            arguments=tuple(_MODULE.sub("", str(parameter)) for parameter in parameters),
            mirror=f"Library.{method.__name__}",
            in_upstream=device._native.has(PREFIX + getter),
            first_row=FIRST_ROW[getter],
            doc=inspect.getdoc(method) or "",
        )
