"""The ggml hosts we know: Python packages that bring a libggml of their own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Host:
    """A package whose extension module has loaded its libggml once it is imported."""

    package: str
    module: str


HOSTS = (Host(package="pywhispercpp", module="_pywhispercpp"),)
