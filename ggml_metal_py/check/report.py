"""What a run of cases came to, as values and as lines."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .coverage import Coverage
from .known import FINDINGS
from .run import ABSENT, FAILED, FINDING, OK, UNSUPPORTED, Outcome

_FEW = 10
"""Cases of which every one is told about."""
_MOST_CASES = 3
"""Texts of cases that are shown for a finding or a kernel."""


@dataclass(frozen=True)
class Report:
    """The outcomes of cases, and the kernels that ran in them."""

    upstream: str
    outcomes: tuple[Outcome, ...]
    coverage: Coverage
    seconds: float

    @cached_property
    def counts(self) -> Counter[str]:
        """Cases by status."""
        return Counter(outcome.status for outcome in self.outcomes)

    @property
    def failures(self) -> list[Outcome]:
        """What nobody expected."""
        return [outcome for outcome in self.outcomes if outcome.status == FAILED]

    @cached_property
    def findings(self) -> dict[str, list[Outcome]]:
        """The listed mistakes of upstream's that showed, by name, with their cases."""
        found: dict[str, list[Outcome]] = {}
        for outcome in self.outcomes:
            if outcome.status == FINDING:
                found.setdefault(outcome.finding, []).append(outcome)
        return found

    def worst(self) -> dict[str, Outcome]:
        """Of each op the right case that came nearest to its limit."""
        found: dict[str, Outcome] = {}
        for outcome in self.outcomes:
            if outcome.status == OK:
                known = found.get(outcome.case.op)
                if known is None or _nearness(outcome) > _nearness(known):
                    found[outcome.case.op] = outcome
        return found

    # ---- as values

    def as_json(self, *, kernels: bool = False) -> dict[str, Any]:
        """As plain values; `kernels` adds each kernel's cases, and why the others did not run."""
        per_op = Counter(outcome.case.op for outcome in self.outcomes)
        host_names: dict[str, Any] = {
            "declared": None if self.coverage.declared is None else len(self.coverage.declared),
            "ran": len(self.coverage.ran),
        }
        if kernels:
            host_names["cases"] = {name: list(texts) for name, texts in sorted(self.coverage.ran.items())}
            host_names["unreached"] = self.coverage.unreached
        return {
            "upstream": self.upstream,
            "cases": len(self.outcomes),
            **{status: self.counts[status] for status in (OK, FAILED, UNSUPPORTED)},
            "absent": self.counts[ABSENT],
            "findings": list(self._findings_as_json()),
            "failures": [_as_json(outcome) for outcome in self.failures],
            "ops": {
                op: {"cases": per_op[op], "worst": _as_json(outcome)} for op, outcome in self.worst().items()
            },
            "host_names": host_names,
            "seconds": round(self.seconds, 1),
        }

    def _findings_as_json(self) -> Iterator[dict[str, Any]]:
        for finding in FINDINGS:
            if finding.name in self.findings:
                yield {
                    "name": finding.name,
                    "kind": finding.kind,
                    "reading": finding.reading,
                    "cases": [outcome.case.text for outcome in self.findings[finding.name]],
                }

    # ---- as lines

    def lines(self, *, kernels: bool = False) -> Iterator[str]:
        """For people: each op's worst case, findings, failures, kernels, and a sum at the end."""
        for op, outcome in self.worst().items():
            yield f"{op}: worst {outcome.error:.2g} of {outcome.limit:.2g}: {outcome.case.text}"
            yield f"    by {', '.join(outcome.kernels) or 'no kernel'}"
        for found in self._findings_as_json():
            texts = found["cases"]
            yield f"finding {found['name']} ({found['kind']}, {len(texts)} cases): {found['reading']}"
            yield from (f"    {text}" for text in texts[:_MOST_CASES])
        for outcome in self.failures:
            yield f"FAILED {outcome.case.text}"
            yield f"    {outcome.problem}{_by(outcome)}"
        if len(self.outcomes) <= _FEW:
            rest = [o for o in self.outcomes if o.status in (UNSUPPORTED, ABSENT)]
            yield from (f"not run: {outcome.case.text}: {outcome.problem}" for outcome in rest)
        if kernels:
            yield from self._kernel_lines()
        yield self.summary()

    def _kernel_lines(self) -> Iterator[str]:
        for name, texts in sorted(self.coverage.ran.items()):
            yield f"{name}: {len(texts)} cases: {'; '.join(sorted(texts, key=len)[:_MOST_CASES])}"
        for name, reason in self.coverage.unreached.items():
            yield f"{name}: not run: {reason}"

    def summary(self) -> str:
        """One line."""
        declared = self.coverage.declared
        of = f" of {len(declared)}" if declared is not None else ""
        return (
            f"{len(self.outcomes)} cases on {self.upstream}: {self.counts[OK]} right, "
            f"{self.counts[FAILED]} failed, {self.counts[UNSUPPORTED]} not supported, "
            f"{self.counts[FINDING]} known findings in upstream; {len(self.coverage.ran)}{of} kernels ran "
            f"and were right; {self.seconds:.0f} s"
        )


def _nearness(outcome: Outcome) -> float:
    return (outcome.error or 0.0) / (outcome.limit or 1.0)


def _by(outcome: Outcome) -> str:
    return f" [{', '.join(outcome.kernels)}]" if outcome.kernels else ""


def _as_json(outcome: Outcome) -> dict[str, Any]:
    values: dict[str, Any] = {
        "case": outcome.case.text,
        "error": _finite(outcome.error),
        "limit": outcome.limit,
        "kernels": list(outcome.kernels),
    }
    return {**values, "problem": outcome.problem} if outcome.problem else values


def _finite(error: float | None) -> float | None:
    """JSON has no infinity."""
    return None if error is None or error in (float("inf"), float("-inf")) else error
