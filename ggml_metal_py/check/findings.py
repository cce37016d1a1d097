"""Upstream's own mistakes that the cases meet: where its sources, read, say what the device did.

A case that a finding describes is expected to go wrong in that way. One that goes right all the same is a
failure: then the finding is to be taken off, or ends with an earlier row.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from .graph import Node

if TYPE_CHECKING:
    from ..device import Device
    from .run import Outcome

WRONG, NO_KERNEL, ABORT, DEVICE = "wrong", "no kernel", "abort", "device"


@dataclass(frozen=True)
class Finding:
    """A mistake of upstream's, in the rows from version `since` on, and before `until`."""

    name: str
    kind: str
    """What happens: `wrong` numbers, `no kernel`, an `abort`, an error of the `device`."""
    concerns: Callable[[Node, str], bool]
    """Whether it happens to a graph with this node, in a case of this text."""
    reading: str
    """What the source says."""
    since: str = "0"
    until: str = "999"

    def exists(self, version: str) -> bool:
        """Whether that version of ggml has it."""
        return _numbers(self.since) <= _numbers(version) < _numbers(self.until)


def apply(device: "Device", outcome: "Outcome") -> "Outcome":
    """The outcome, with what is known of its case."""
    from .known import FINDINGS

    for finding in FINDINGS:
        if not finding.exists(device.ggml_version) or not any(
            finding.concerns(node, outcome.case.text) for node in outcome.nodes
        ):
            continue
        if outcome.status == "ok":
            problem = f"right, although finding {finding.name} says otherwise"
            return replace(outcome, status="failed", problem=problem)
        if outcome.problem.startswith(f"{finding.kind}:"):
            return replace(outcome, status="finding", finding=finding.name)
    return outcome


@cache
def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))
