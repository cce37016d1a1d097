"""A campaign's report as one HTML file, which loads nothing."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .report import Report


def page(report: "Report") -> str:
    """The page."""
    return report.summary()
