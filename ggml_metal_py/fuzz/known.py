"""Mistakes of upstream's that campaigns met, beyond those of `ggml_metal_py.check.known`: each was read."""

from dataclasses import replace
from typing import TYPE_CHECKING

from ..check.findings import Finding as Listed
from ..check.run import Outcome
from .finding import Finding

if TYPE_CHECKING:
    from ..device import Device

FINDINGS: tuple[Listed, ...] = ()


def known(device: "Device", outcome: Outcome, finding: Finding) -> Finding:
    """The finding, with the name of the listed mistake that it is."""
    for listed in FINDINGS:
        if (
            listed.kind == finding.kind
            and listed.exists(device.ggml_version)
            and any(listed.concerns(node, outcome.case.text) for node in outcome.nodes)
        ):
            return replace(finding, known=listed.name)
    return finding
