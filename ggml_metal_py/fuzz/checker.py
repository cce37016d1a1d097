"""The oracle of checked mode: every access of a kernel is looked at while it runs."""

from .. import checked
from ..backend import Backend
from ..tensor import Tensor


class Checker:
    """Computes graphs in checked mode, and keeps what is reported."""

    def __init__(self) -> None:
        self._reports: list[checked.Report] = []

    def compute(self, backend: Backend, tensor: Tensor) -> None:
        """As Backend.compute."""
        self._reports += checked.compute(backend, tensor)

    def take(self) -> list[checked.Report]:
        """The reports since the last time."""
        reports, self._reports = self._reports, []
        return reports
