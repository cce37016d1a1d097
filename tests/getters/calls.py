"""The library's side: opened devices, the getters that a row's header declares, and calling them."""

import re
from functools import cache
from typing import Any

import ggml_metal_py as gm

from .expected import Abort, Expected, rules
from .host_names import UPSTREAM
from .recipes import Recipe, realise
from .rows import Row
from .views import view_of

_DECLARED = re.compile(r"\b(?:wsp_)?ggml_metal_library_get_pipeline_(\w+)\s*\(")


@cache
def getters_of(row: Row) -> tuple[str, ...]:
    """Names of the getters in the row's ggml-metal-device.h, without their common prefix."""
    header = UPSTREAM / row.upstream / "src" / "ggml-metal" / "ggml-metal-device.h"
    return tuple(sorted(set(_DECLARED.findall(header.read_text(encoding="utf-8")))))


@cache
def device_of(row: Row) -> gm.Device:
    """The row's device, open for the whole run."""
    return gm.open(upstream=row.upstream)


class Call:
    """A drawn call: its arguments made real in a Context of its own. Use with `with`.

    A dict as the last argument holds keyword arguments.
    """

    def __init__(self, row: Row, getter: str, arguments: tuple[Any, ...]) -> None:
        self.device = device_of(row)
        self.row = row
        self.getter = getter
        self.options = arguments[-1] if arguments and isinstance(arguments[-1], dict) else {}
        self._context = self.device.context(tensors=64)
        try:
            self.arguments = tuple(
                realise(argument, self._context) if isinstance(argument, Recipe) else argument
                for argument in arguments
                if argument is not self.options
            )
        except BaseException:
            self._context.close()
            raise
        self.views = tuple(
            view_of(argument) if isinstance(argument, gm.Tensor) else argument for argument in self.arguments
        )

    def __enter__(self) -> "Call":
        return self

    def __exit__(self, *_: object) -> None:
        self._context.close()

    def __call__(self) -> gm.Pipeline:
        for argument in self.arguments:
            if isinstance(argument, gm.Tensor):
                argument._pipelines.clear()  # ask upstream, not the tensor's memory
        return getattr(self.device.library, f"get_pipeline_{self.getter}")(*self.arguments, **self.options)

    def expected(self) -> Expected | Abort:
        """What the model says of this call."""
        return rules()[self.getter](self.row, *self.views, **self.options)
