"""Puts this project's backend into another ggml host inside the same process, with nothing of it changed.

    from pywhispercpp.model import Model
    import ggml_metal_py.dropin

    ggml_metal_py.dropin.attach()
    model = Model("ggml-tiny.en.bin")    # its graphs run on ggml's Metal backend now

`python -m ggml_metal_py.dropin SCRIPT` and `ggml-metal-py run -- COMMAND` do the same for a program as it is.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .attaching import Attachment, HostError, HostMismatch, HostNotFound, attach

__all__ = ["Attachment", "HostError", "HostMismatch", "HostNotFound", "attach"]


def __getattr__(name: str) -> Any:
    # Late: the import hook lives in this package and is loaded in every Python that a command starts.
    if name in __all__:
        return getattr(importlib.import_module(".attaching", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
