"""The list of findings: see findings.py. Each was read in the sources of the row where it was met."""

from ..findings import Finding
from . import copies, matrices, rows, windows

FINDINGS: tuple[Finding, ...] = (
    *rows.FINDINGS,
    *matrices.FINDINGS,
    *copies.FINDINGS,
    *windows.FINDINGS,
)
