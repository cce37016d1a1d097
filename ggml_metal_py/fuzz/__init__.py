"""Fuzzing of ops: strategies that draw graphs, oracles that judge them, campaigns, reproducers.

`gm.fuzz.run(["mul_mat"], seconds=30).findings`, `ggml-metal-py fuzz`. Needs the extra `fuzz`. Every name is
fetched from its module when it is first used: pytest loads the plugin in here in every run of it.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import strategies
    from .block import Block, blocks
    from .campaign import run
    from .examiner import Examined, Examiner
    from .finding import Finding
    from .plan import Plan
    from .report import Report
    from .reproducer import examine, reproduce

_HOMES = {
    "Block": "block",
    "Examined": "examiner",
    "Examiner": "examiner",
    "Finding": "finding",
    "Plan": "plan",
    "Report": "report",
    "blocks": "block",
    "examine": "reproducer",
    "reproduce": "reproducer",
    "run": "campaign",
}

__all__ = [
    "Block",
    "Examined",
    "Examiner",
    "Finding",
    "Plan",
    "Report",
    "blocks",
    "examine",
    "reproduce",
    "run",
    "strategies",
]


def __getattr__(name: str) -> Any:
    if name == "strategies":
        return importlib.import_module(f".{name}", __name__)
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{home}", __name__), name)
