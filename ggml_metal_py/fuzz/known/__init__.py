"""Mistakes of upstream's that campaigns met, beyond those that `ggml_metal_py.check.known` lists.

Each was read in the sources of the row where it was met. A case that a rule describes may go right all the
same: with other values, or because the memory beside it holds the right ones.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...check import known as checks
from ...check.findings import Finding as CheckFinding
from ...check.graph import Node
from ...check.run import Outcome
from ..finding import Finding

if TYPE_CHECKING:
    from ...device import Device


@dataclass(frozen=True)
class Listed:
    """A mistake of upstream's, in the rows from version `since` on, and before `until`."""

    name: str
    kinds: tuple[str, ...]
    """Findings of which oracles it is."""
    concerns: Callable[[Node, str], bool]
    """Whether it may show in a graph with this node, in a case of this text."""
    reading: str
    """What the source says."""
    example: str
    """A case that shows it."""
    since: str = "0"
    until: str = "999"
    kernels: str = ".*"
    """Host names of the kernels that have it, as a pattern."""
    problem: str = ""
    """What the problem's text has in it, as a pattern."""

    def exists(self, version: str) -> bool:
        """Whether that version of ggml has it."""
        return CheckFinding(self.name, "", self.concerns, self.reading, self.since, self.until).exists(
            version
        )


def known(device: "Device", outcome: Outcome, finding: Finding) -> Finding:
    """The finding, with the name of the listed mistake that it is."""
    for listed in all_listed():
        if (
            finding.kind in listed.kinds
            and re.fullmatch(listed.kernels, finding.kernel)
            and re.search(listed.problem, finding.problem)
            and listed.exists(device.ggml_version)
            and any(listed.concerns(node, outcome.case.text) for node in outcome.nodes)
        ):
            return replace(finding, known=listed.name)
    return finding


def may_crash(device: "Device", outcome: Outcome) -> bool:
    """Whether it is listed that such a graph can end the process."""
    return known(device, outcome, Finding("crash", outcome.case.op, outcome.case.text, "")).known != ""


def all_listed() -> tuple[Listed, ...]:
    """Every one."""
    from .accesses import LISTED as ACCESSES
    from .layouts import LISTED as LAYOUTS
    from .threadgroups import LISTED as THREADGROUPS

    return (*LAYOUTS, *THREADGROUPS, *ACCESSES)


def reading(name: str) -> str:
    """What the source says of a listed mistake, by its name, here or in `check`."""
    readings = {finding.name: finding.reading for finding in checks.FINDINGS}
    return {**readings, **{listed.name: listed.reading for listed in all_listed()}}.get(name, "")
