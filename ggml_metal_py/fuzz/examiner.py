"""Examines a case: lets it run, and asks every oracle."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..check.build import NAN
from ..check.case import Case
from ..check.machine import Machine
from ..check.run import ABSENT, FAILED, FINDING, OK, REFUSED, UNSUPPORTED, Opened, Outcome, Runner, Snapshot
from ..checked import Report
from ..select import main_pipeline
from .checker import Checker
from .finding import Finding
from .known import known, may_crash
from .oracles import ORACLES, Trial, is_right

if TYPE_CHECKING:
    from ..device import Device

INVALID = "invalid"
_WITHOUT_A_RUN = ("no kernel", "abort", "device", "threadgroup")
"""Oracles that can be asked of a case that did not run, which is what the first three say."""
_PREFIX = re.compile(r"^(wrong|no kernel|abort|device): ")


@dataclass(frozen=True)
class Examined:
    """What came of a case. Plain values, so that it goes between processes."""

    case: Case
    status: str
    """`ok`; `failed`: there are findings; `finding`: it is one that is listed; `unsupported` by the device;
    `absent` from the row; `invalid`: ggml makes no such graph; `refused`: it is listed that it may end the
    process, and this is not one that may die."""
    findings: tuple[Finding, ...] = ()
    pipelines: tuple[tuple[str, str], ...] = ()
    """What ran: host names, and names of pipelines, which also say what they were specialised with."""

    def lines(self) -> list[str]:
        """For people."""
        lines = [f"{self.case.text}: {self.status}"]
        for finding in self.findings:
            listed = f" (listed as {finding.known})" if finding.known else ""
            lines.append(f"    {finding.kind}: {finding.problem}{listed}")
        return lines

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "case": self.case.text,
            "status": self.status,
            "findings": [finding.as_json() for finding in self.findings],
        }


class Examiner:
    """Examines cases on a device. Use it as a context manager.

    `oracles` are names in oracles.ORACLES; all of them without any. `may_die`: run even what is listed as a
    graph that can end the process.
    """

    def __init__(self, device: "Device", oracles: Sequence[str] = (), *, may_die: bool = False) -> None:
        self.device = device
        unknown = set(oracles) - set(ORACLES)
        if unknown:
            raise ValueError(f"there is no oracle {min(unknown)!r}; oracles: {', '.join(ORACLES)}")
        self._oracles = {name: oracle for name, oracle in ORACLES.items() if not oracles or name in oracles}
        self._checker = Checker() if device.checked else None
        machine = Machine(device, compute=self._checker.compute) if self._checker else None
        self._runner = Runner(
            device, machine, refuse=lambda outcome: not may_die and may_crash(device, outcome)
        )
        self._machines: dict[tuple[str, ...], Machine] = {}
        limit = device.props.max_theadgroup_memory_size
        self.threadgroup_memory = 2**31 if limit is None else limit

    def __enter__(self) -> "Examiner":
        return self

    def __exit__(self, *exception: object) -> None:
        for machine in self._machines.values():
            machine.close()
        self._runner.__exit__()

    def examine(self, case: Case) -> Examined:
        """Never raises for what a case does."""
        with self._set("threadgroup_fill", NAN), self._runner.opened(case) as opened:
            return self._examined(case, opened)

    def named(self, finding: Finding) -> Finding:
        """A finding of a case that ended its process, with the name of the listed mistake that it is."""
        case = Case.of(finding.case)
        with self._runner.built(case) as outcome:
            return known(self.device, outcome, finding)

    def _examined(self, case: Case, opened: Opened) -> Examined:
        outcome = opened.outcome
        ran = (dispatch.pipeline for dispatch in outcome.dispatches)
        pipelines = tuple(dict.fromkeys((pipeline.base, pipeline.name) for pipeline in ran))
        if outcome.status in (ABSENT, UNSUPPORTED, REFUSED):
            return Examined(case, outcome.status)
        if outcome.problem.startswith("invalid: "):
            return Examined(case, INVALID)
        if self._checker is not None:
            findings = tuple(self._reported(opened, self._checker.take()))
            return Examined(case, _status(findings), findings, pipelines)
        if outcome.status == FINDING:
            kind = outcome.problem.partition(":")[0]
            found = (_finding(kind, outcome, outcome.problem, known=outcome.finding),)
            return Examined(case, FINDING, found, pipelines)
        if outcome.problem.startswith("right, "):  # a listed mistake does not show with every value
            return Examined(case, OK, (), pipelines)
        findings = tuple(self._asked(Trial(self, opened)))
        return Examined(case, _status(findings), findings, pipelines)

    def _reported(self, opened: Opened, reports: Sequence[Report]) -> Iterator[Finding]:
        """What checked mode saw, and what became of the graph otherwise."""
        outcome = opened.outcome
        for report in reports:
            text = str(report).removeprefix(f"{report.kind} in ")
            finding = _finding(report.kind, outcome, text, kernel=report.kernel)
            yield known(self.device, outcome, replace(finding, line=str(report.line or "")))
        kind = outcome.problem.partition(":")[0]
        if kind == "wrong" and self._is_right(opened):
            return
        if outcome.status in (FAILED, FINDING) and kind in ORACLES:
            finding = _finding(kind, outcome, outcome.problem, known=outcome.finding)
            yield finding if finding.known else known(self.device, outcome, finding)

    def _is_right(self, opened: Opened) -> bool:
        try:
            return is_right(Trial(self, opened))
        except Exception:  # then nobody can say so, and the campaign goes on
            return False

    def _asked(self, trial: Trial) -> list[Finding]:
        """The first property that does not hold: what follows is a consequence of it, more often than not.

        What threadgroups are like has no consequences here: other properties are looked at then, too.
        """
        found: list[Finding] = []
        for name, oracle in self._oracles.items():
            if trial.failed_by in _WITHOUT_A_RUN and name not in _WITHOUT_A_RUN:
                continue  # there is no result
            try:
                problem = oracle(trial)
            except Exception as error:  # a campaign of hours does not end for a mistake of ours
                name, problem = "error", f"{name}: {type(error).__name__}: {error}"
            if problem:
                finding = _finding(name, trial.outcome, problem, kernel=trial.blamed)
                found.append(known(self.device, trial.outcome, finding))
                if name != "threadgroup":
                    break
        return found

    def again(
        self, opened: Opened, unwritten: int | None, threads: int, order: int, settings: tuple[str, ...]
    ) -> Snapshot:
        """See Trial.again. Threads, order and what threadgroup memory holds are for softmetal only."""
        machine = self._machines.get(settings)
        if machine is None:
            machine = self._machines[settings] = Machine(self.device, dict.fromkeys(settings, "1"))
        fill = NAN if unwritten is None else unwritten
        with (
            self._set("threads", threads or None),
            self._set("order", order or None),
            self._set("threadgroup_fill", fill),
        ):
            return opened.again(machine, unwritten)

    @contextmanager
    def _set(self, setting: str, value: int | None) -> Iterator[None]:
        """A setting of softmetal's; None leaves it as it is."""
        native = self.device._native
        if value is None or not native.has(f"softmetal_set_{setting}"):
            yield
            return
        change: Callable[[int], None] = getattr(native, f"softmetal_set_{setting}")
        usual: int = getattr(native, f"softmetal_{setting}")()
        change(value)
        try:
            yield
        finally:
            change(usual)


def _status(findings: Sequence[Finding]) -> str:
    if not findings:
        return OK
    return FINDING if all(finding.known for finding in findings) else FAILED


def _finding(kind: str, outcome: Outcome, problem: str, *, kernel: str = "", known: str = "") -> Finding:
    text = _PREFIX.sub("", problem)
    if kind == "no kernel":
        kernel = text.split(" ")[0]
    if not kernel and outcome.dispatches:
        last = outcome.dispatches[-1].op
        main = main_pipeline([dispatch for dispatch in outcome.dispatches if dispatch.op == last])
        kernel = main.base if main else ""
    return Finding(
        kind=kind,
        op=outcome.case.op,
        case=outcome.case.text,
        problem=text,
        kernel=kernel,
        kernels=outcome.kernels,
        line=text.partition(": ")[0].rpartition("/")[2] if kind == "abort" else "",
        known=known,
    )
