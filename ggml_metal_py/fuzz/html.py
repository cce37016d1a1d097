"""A campaign's report as one HTML file, which loads nothing."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from .coverage import Branches, Ran, by_getter, by_host_name
from .finding import Finding
from .known import reading

if TYPE_CHECKING:
    from .report import Report

_MOST_VALUES = 8
"""Values of a function constant that are shown."""

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>
 body {{ font: 15px/1.5 sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; color: #222 }}
 h1 {{ font-size: 1.4em }} h2 {{ font-size: 1.15em; margin-top: 2em }}
 table {{ border-collapse: collapse; width: 100% }}
 th, td {{ text-align: left; padding: .25em .6em; border-bottom: 1px solid #ddd; vertical-align: top }}
 td.number, th.number {{ text-align: right }}
 code {{ font: 13px monospace; overflow-wrap: anywhere }}
 .kind {{ background: #b3261e; color: #fff; padding: .1em .5em; border-radius: .3em; white-space: nowrap }}
 .known .kind {{ background: #666 }}
 details {{ margin: .4em 0 }}
</style>
<h1>{title}</h1>
<p>{summary}</p>
<h2>Findings</h2>{findings}
<h2>Listed mistakes of upstream that showed</h2>{known}
<h2>Getters</h2>
<p>What upstream's getters chose: their branches end in host names and values of function constants.</p>
{getters}
<h2>Kernels</h2>
<p>{ran} of {declared} host names ran.</p>{kernels}
<h2>Ops</h2>{ops}
</html>
"""


def page(report: "Report") -> str:
    """The page."""
    names = by_host_name(report.pipelines)
    declared = report.declared
    return _PAGE.format(
        title=f"ggml's Metal kernels, fuzzed: {escape(report.upstream)}",
        summary=escape(report.summary()),
        findings=_findings(report.findings) or "<p>none</p>",
        known=_findings(report.known, "known") or "<p>none</p>",
        getters=_getters(by_getter(report.pipelines, declared)),
        ran=len(names),
        declared=len(declared) if declared else "an unknown number of",
        kernels=_kernels(names),
        ops=_ops(report),
    )


def _findings(findings: Iterable[Finding], kind: str = "found") -> str:
    rows = []
    for finding in findings:
        why = reading(finding.known) if finding.known else finding.problem
        why += " (not shrunk to the end)" if finding.unfinished else ""
        rows.append(
            f'<tr class="{kind}"><td><span class="kind">{escape(finding.kind)}</span></td>'
            f"<td>{escape(finding.known or finding.op)}</td><td><code>{escape(finding.kernel)}</code><br>"
            f"{escape(finding.line)}</td><td><code>{escape(finding.case)}</code><br>{escape(why)}</td></tr>"
        )
    return _table(("kind", "op", "kernel", "case"), rows)


def _getters(rows: Iterable[Branches]) -> str:
    return _table(
        ("getter", "cases", "host names", "function constants", "specialisations"),
        [
            f"<tr><td><code>{escape(row.name)}</code></td>{_number(row.cases)}"
            f"<td>{len(row.ran)} of {len(row.ran) + len(row.missing)}{_missing(row)}</td>"
            f"<td><code>{'<br>'.join(_constant(*constant) for constant in row.constants.items())}</code></td>"
            f"{_number(row.specialisations)}</tr>"
            for row in rows
        ],
    )


def _missing(row: Branches) -> str:
    if not row.missing:
        return ""
    names = escape(", ".join(row.missing))
    return f"<details><summary>not chosen</summary><code>{names}</code></details>"


def _constant(name: str, values: Sequence[int]) -> str:
    shown = ", ".join(map(str, values[:_MOST_VALUES]))
    more = f" ... {len(values)} values" if len(values) > _MOST_VALUES else ""
    return escape(f"{name} = {shown}{more}")


def _kernels(rows: Iterable[Ran]) -> str:
    return _table(
        ("host name", "cases", "specialisations"),
        [
            f"<tr><td><code>{escape(row.name)}</code></td>{_number(row.cases)}{_number(row.specialisations)}</tr>"
            for row in rows
        ],
    )


def _ops(report: "Report") -> str:
    statuses = ("ok", "failed", "finding", "unsupported", "absent", "invalid", "refused")
    rows = [
        f"<tr><td>{escape(op)}</td>{''.join(_number(counts[status]) for status in statuses)}</tr>"
        for op, counts in sorted(report.ops.items())
    ]
    return _table(("op", *statuses), rows)


def _number(value: int) -> str:
    return f'<td class="number">{value}</td>'


def _table(head: Iterable[str], rows: list[str]) -> str:
    if not rows:
        return ""
    return f"<table><tr>{''.join(f'<th>{word}</th>' for word in head)}</tr>{''.join(rows)}</table>"
