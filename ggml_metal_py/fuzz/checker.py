"""The oracle of checked mode: every access of a kernel is looked at while it runs."""

import importlib
from typing import Any

from ..backend import Backend
from ..tensor import Tensor


class Checker:
    """Computes graphs in checked mode, and keeps what is reported (`ggml_metal_py.checked`)."""

    def __init__(self) -> None:
        self._mode: Any = importlib.import_module("ggml_metal_py.checked")
        self._reports: list[Any] = []

    def compute(self, backend: Backend, tensor: Tensor) -> None:
        """As Backend.compute."""
        self._reports += self._mode.compute(backend, tensor)

    def take(self) -> list[Any]:
        """The reports since the last time."""
        reports, self._reports = self._reports, []
        return reports
