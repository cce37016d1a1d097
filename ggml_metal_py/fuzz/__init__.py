"""Fuzzing of ops: strategies that draw graphs, oracles that judge them, campaigns, reproducers.

`gm.fuzz.run(["mul_mat"], seconds=30).findings`, `ggml-metal-py fuzz`. Needs the extra `fuzz`. Nothing of it
is loaded with the package.
"""

from . import strategies
from .block import Block, blocks
from .campaign import run
from .examiner import Examined, Examiner
from .finding import Finding
from .plan import Plan
from .report import Report
from .reproducer import examine, reproduce

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
