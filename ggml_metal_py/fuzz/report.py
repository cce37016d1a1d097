"""What a campaign came to, as values, lines and files."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .coverage import by_getter, by_host_name
from .examiner import INVALID
from .finding import Finding
from .known import reading
from .plan import Plan
from .reproducer import reproducer


@dataclass(frozen=True)
class Report:
    """The findings of a campaign, and what it looked at."""

    upstream: str
    declared: tuple[str, ...]
    """Host names of the row's kernels; none where nobody can tell."""
    plan: Plan
    seed: int
    blocks: int
    """So many blocks of the seed's list were examined."""
    seconds: float
    counts: Counter[str]
    """Cases by status: see Examined."""
    ops: dict[str, Counter[str]]
    """The same for each op."""
    pipelines: Counter[tuple[str, str]]
    """Host name and name of what ran, in how many cases."""
    all_findings: tuple[Finding, ...]
    """One of each cause, the smallest case that was found; those of listed mistakes, too."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is on no list."""
        return tuple(finding for finding in self.all_findings if not finding.known)

    @property
    def known(self) -> tuple[Finding, ...]:
        """Listed mistakes that showed."""
        return tuple(finding for finding in self.all_findings if finding.known)

    @property
    def cases(self) -> int:
        """Cases that were drawn."""
        return sum(self.counts.values())

    def as_json(self, folder: Path | None = None) -> dict[str, Any]:
        """As plain values; `folder` is where `write` puts the reproducers."""
        return {
            "upstream": self.upstream,
            "checked": self.plan.checked,
            "cases": self.cases,
            "seconds": round(self.seconds, 1),
            "seed": self.seed,
            "blocks": self.blocks,
            "counts": dict(self.counts),
            "ops": {op: dict(counts) for op, counts in sorted(self.ops.items())},
            "findings": [self._finding(finding, folder) for finding in self.findings],
            "known": [
                {**self._finding(finding, folder), "reading": reading(finding.known)}
                for finding in self.known
            ],
            "host_names": {"declared": len(self.declared), "ran": len(by_host_name(self.pipelines))},
            "kernels": {ran.name: ran.cases for ran in by_host_name(self.pipelines)},
            "getters": {
                branches.name: branches.as_json() for branches in by_getter(self.pipelines, self.declared)
            },
        }

    def _finding(self, finding: Finding, folder: Path | None) -> dict[str, Any]:
        path = None if folder is None else str(folder / f"{file_name(finding)}.py")
        return {**finding.as_json(), "reproducer": path}

    def write(self, folder: Path) -> None:
        """A reproducer for each finding, listed or not, findings.json and report.html. Raises OSError."""
        from .html import page

        folder.mkdir(parents=True, exist_ok=True)
        _forget_earlier(folder)
        plan = replace(self.plan, upstream=self.upstream)  # the default row may be another one some day
        for finding in self.all_findings:
            (folder / f"{file_name(finding)}.py").write_text(reproducer(finding, plan), "utf-8")
        text = json.dumps(self.as_json(folder), indent=1, ensure_ascii=False)
        (folder / "findings.json").write_text(text + "\n", "utf-8")
        (folder / "report.html").write_text(page(self), "utf-8")

    def lines(self) -> Iterator[str]:
        """For people."""
        for finding in self.known:
            yield f"known {finding.known} ({finding.kind}): {finding.case}"
        for finding in self.findings:
            yield f"FOUND {finding.cause}"
            yield f"    {finding.case}{' (not shrunk to the end)' if finding.unfinished else ''}"
            yield f"    {finding.problem}"
        yield self.summary()

    def summary(self) -> str:
        """One line."""
        count = self.counts
        kernels = f"{len(by_host_name(self.pipelines))} of {len(self.declared)} kernels"
        unfinished = sum(finding.unfinished for finding in self.findings)
        return (
            f"{self.cases} cases in {self.blocks} blocks of seed {self.seed}, {self.seconds:.0f} s, "
            f"{self.cases / max(self.seconds, 1e-9):.0f} a second: {count['ok']} right, "
            f"{count['unsupported'] + count['absent']} not supported, {count[INVALID]} not made by ggml, "
            f"{count['refused']} refused without --isolate; "
            f"{kernels}; {len(self.findings)} findings"
            f"{f' ({unfinished} not shrunk to the end)' if unfinished else ''}, {len(self.known)} listed ones"
        )


def _forget_earlier(folder: Path) -> None:
    """Take away the scripts of the campaign that was written here before."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        earlier = json.loads((folder / "findings.json").read_text("utf-8"))
        for finding in (*earlier["findings"], *earlier["known"]):
            (folder / Path(finding["reproducer"]).name).unlink(missing_ok=True)


def file_name(finding: Finding) -> str:
    """A name for its files."""
    return re.sub(r"[^a-z0-9]+", "-", f"{finding.op} {finding.cause}".lower()).strip("-")
