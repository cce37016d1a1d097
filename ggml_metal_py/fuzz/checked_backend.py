"""A Backend that keeps what checked mode reports of its graphs."""

from typing import TYPE_CHECKING

from .. import checked
from ..backend import Backend, Graph
from ..tensor import Tensor

if TYPE_CHECKING:
    from ..device import Device


class CheckedBackend(Backend):
    """As Backend, on a device in checked mode."""

    def __init__(self, device: "Device") -> None:
        self.reports: list[checked.Report] = []
        self._checking = False
        super().__init__(device)

    def compute(self, *what: Graph | Tensor) -> None:
        """As Backend.compute."""
        if self._checking or not what or (len(what) > 1 and not all(isinstance(w, Tensor) for w in what)):
            super().compute(*what)
            return
        self._checking = True
        try:
            if isinstance(what[0], Graph):
                self.reports += checked.compute(self, what[0])
                return
            with Graph(*(tensor for tensor in what if isinstance(tensor, Tensor))) as graph:
                self.reports += checked.compute(self, graph)
        finally:
            self._checking = False
