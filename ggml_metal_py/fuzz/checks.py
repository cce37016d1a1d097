"""The cases of `check` in checked mode, which looks at every access of their kernels: `check --checked`."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..check import Case, chosen
from ..check.coverage import host_names
from ..check.run import ABSENT, FAILED, FINDING, OK, UNSUPPORTED
from ..device import open as open_device
from .examiner import INVALID, Examined, Examiner
from .finding import Finding
from .known import reading

_MOST_CASES = 3
"""Texts of cases that are shown for a mistake or a kernel."""


@dataclass(frozen=True)
class Report:
    """What came of the cases, and the kernels that ran in them."""

    upstream: str
    declared: tuple[str, ...]
    """Host names of the row's kernels."""
    examined: tuple[Examined, ...]
    seconds: float

    @cached_property
    def counts(self) -> Counter[str]:
        """Cases by status: see Examined."""
        return Counter(examined.status for examined in self.examined)

    @property
    def failures(self) -> list[Examined]:
        """Cases with a finding that is on no list, or of which ggml makes no graph."""
        return [examined for examined in self.examined if examined.status in (FAILED, INVALID)]

    @cached_property
    def causes(self) -> dict[str, list[Finding]]:
        """Findings by their cause, the one with the shortest case first."""
        found: dict[str, list[Finding]] = {}
        for examined in sorted(self.examined, key=lambda examined: len(examined.case.text)):
            for finding in examined.findings:
                found.setdefault(finding.cause, []).append(finding)
        return dict(sorted(found.items()))

    @cached_property
    def kernels(self) -> dict[str, list[str]]:
        """Host names that ran, each with the texts of its cases, the shortest first."""
        found: dict[str, list[str]] = {}
        for examined in sorted(self.examined, key=lambda examined: len(examined.case.text)):
            for name in dict.fromkeys(base for base, _ in examined.pipelines):
                found.setdefault(name, []).append(examined.case.text)
        return dict(sorted(found.items()))

    def as_json(self, *, kernels: bool = False) -> dict[str, Any]:
        """As plain values, with the keys of check's report; `kernels` adds each kernel's cases."""
        host_names: dict[str, Any] = {"declared": len(self.declared) or None, "ran": len(self.kernels)}
        if kernels:
            host_names["cases"] = self.kernels
        return {
            "upstream": self.upstream,
            "checked": True,
            "cases": len(self.examined),
            **{status: self.counts[status] for status in (OK, UNSUPPORTED, ABSENT)},
            FAILED: len(self.failures),
            "findings": [
                {
                    "name": first.known,
                    "kinds": sorted({finding.kind for finding in (first, *others)}),
                    "reading": reading(first.known),
                    "cases": _texts([first, *others]),
                }
                for first, *others in self.causes.values()
                if first.known
            ],
            "failures": [
                {**first.as_json(), "cases": _texts([first, *others])}
                for first, *others in self.causes.values()
                if not first.known
            ],
            "invalid": [examined.case.text for examined in self.examined if examined.status == INVALID],
            "host_names": host_names,
            "seconds": round(self.seconds, 1),
        }

    def lines(self, *, kernels: bool = False) -> Iterator[str]:
        """For people: listed mistakes, others, kernels, and a sum at the end."""
        values = self.as_json()
        for listed in values["findings"]:
            kinds = ", ".join(listed["kinds"])
            yield f"known {listed['name']} ({kinds}, {len(listed['cases'])} cases): {listed['reading']}"
            yield from (f"    {text}" for text in listed["cases"][:_MOST_CASES])
        for failure in values["failures"]:
            yield f"FOUND {failure['cause']} ({len(failure['cases'])} cases)"
            yield f"    {failure['case']}"
            yield f"    {failure['problem']}"
        yield from (f"FAILED {text}: ggml makes no such graph" for text in values["invalid"])
        for name, texts in self.kernels.items() if kernels else ():
            yield f"{name}: {len(texts)} cases: {'; '.join(texts[:_MOST_CASES])}"
        yield self.summary()

    def summary(self) -> str:
        """One line."""
        of = f" of {len(self.declared)}" if self.declared else ""
        return (
            f"{len(self.examined)} cases in checked mode on {self.upstream}: {self.counts[OK]} right, "
            f"{len(self.failures)} failed, {self.counts[FINDING]} with known findings in upstream, "
            f"{self.counts[UNSUPPORTED] + self.counts[ABSENT]} not supported; {len(self.kernels)}{of} "
            f"kernels ran; {self.seconds:.0f} s"
        )


def run(
    ops: Sequence[str] = (),
    *,
    cases: Sequence[str] = (),
    upstream: str | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Report:
    """As check.run, and raises as that does, but in checked mode. Its kernels are compiled on demand."""
    wanted = tuple(map(Case.of, cases)) if cases else chosen(ops)
    started = time.monotonic()
    examined: list[Examined] = []
    with open_device(upstream, checked=True) as device, Examiner(device, may_die=True) as examiner:
        for case in wanted:
            examined.append(examiner.examine(case))
            if progress is not None:
                progress(len(examined), len(wanted))
        seconds = time.monotonic() - started
        return Report(device.upstream, host_names(device) or (), tuple(examined), seconds)


def _texts(findings: Sequence[Finding]) -> list[str]:
    return list(dict.fromkeys(finding.case for finding in findings))
