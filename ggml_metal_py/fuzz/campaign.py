"""A campaign: blocks of cases, one after the other or side by side, until time is over; then shrinking.

The list of blocks depends on the ops and the seed only, and what comes of a block on nothing else. How many
of them there are in so many seconds depends on the machine: ask for `blocks` to have the same campaign again.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import suppress
from itertools import islice

from ..check.coverage import host_names
from ..device import open as open_device
from ..errors import GgmlMetalError
from . import block as blocks_of
from . import plan as tasks
from .block import Block, Result
from .executors import Here, executor
from .finding import Finding
from .plan import Plan
from .report import Report

Progress = Callable[[float, str], object]
"""Called with the part that is done, 0..1, and a line."""


def run(
    ops: Sequence[str] = (),
    *,
    seconds: float = 60.0,
    blocks: int | None = None,
    seed: int = 0,
    workers: int = 1,
    scheduler: str | None = None,
    plan: Plan | None = None,
    progress: Progress | None = None,
) -> Report:
    """Draw cases of these ops, or of all, and examine them; shrink what was found.

    It ends after so many seconds, or after so many `blocks` of 30 cases. Raises ValueError for an op
    without a strategy, LibraryNotFound, GgmlMetalError when a worker process died, and what
    `executors.executor` raises.
    """
    plan = plan or Plan()
    started = time.monotonic()
    campaign = _Campaign(plan, seconds if blocks is None else float("inf"), blocks, progress)
    try:
        with executor(workers, isolate=plan.isolate, scheduler=scheduler) as made:
            with suppress(KeyboardInterrupt):  # what was found until then is reported
                ahead = 1 if isinstance(made, Here) else 2 * workers
                campaign.examine(made, blocks_of.blocks(ops, seed), ahead)
            campaign.shrink(made)
    except BrokenExecutor as error:
        raise GgmlMetalError("a worker process died: `isolate` tells of which case") from error
    return campaign.report(seed, time.monotonic() - started)


class _Campaign:
    def __init__(self, plan: Plan, seconds: float, blocks: int | None, progress: Progress | None) -> None:
        self._plan = plan
        self._seconds = seconds
        self._blocks = blocks
        self._progress = progress or (lambda part, line: None)
        self._results: list[Result] = []
        self._shrunk: dict[str, Finding] = {}

    def examine(self, executor: Executor, endless: Iterator[Block], most: int) -> None:
        """Submit blocks as long as there is time, some ahead of what is done."""
        started = time.monotonic()
        coming = islice(endless, self._blocks)
        pending: set[Future[Result]] = set()
        while True:
            while len(pending) < most and time.monotonic() - started < self._seconds:
                block = next(coming, None)
                if block is None:
                    break
                pending.add(executor.submit(tasks.run, self._plan, block))
            if not pending:
                return
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            self._results += [future.result() for future in done]
            self._tell(time.monotonic() - started)

    def _tell(self, elapsed: float) -> None:
        cases = sum(sum(result.counts.values()) for result in self._results)
        causes = {f.cause for result in self._results for f in result.findings if not f.known}
        part = len(self._results) / self._blocks if self._blocks else elapsed / self._seconds
        line = f"{cases} cases, {cases / elapsed:.0f} a second, {len(causes)} findings"
        self._progress(min(part, 1.0), line)

    def shrink(self, executor: Executor) -> None:
        """Look for the plainest case of every cause: those of a family, which often have one, in one task."""
        first = self._first()
        families: dict[str, list[str]] = {}
        for cause, (_, finding) in first.items():
            if finding.known:
                self._shrunk[cause] = finding
            else:
                families.setdefault(finding.family, []).append(cause)
        tasks_of: dict[str, Future[list[Finding | None]]] = {
            family: executor.submit(tasks.shrink, self._plan, [(first[cause][0], cause) for cause in causes])
            for family, causes in families.items()
        }
        for done, (family, causes) in enumerate(families.items()):
            self._progress(1.0, f"shrinking findings in {family} ({done + 1} of {len(families)})")
            for cause, plainest in zip(causes, tasks_of[family].result(), strict=True):
                found = plainest or first[cause][1]
                self._shrunk.setdefault(found.cause, found)

    def _first(self) -> dict[str, tuple[Block, Finding]]:
        """Of each cause the first finding, by the order of blocks, whichever was done first."""
        found: dict[str, tuple[Block, Finding]] = {}
        for result in sorted(self._results, key=lambda result: (result.block.index, result.block.op)):
            for finding in result.findings:
                found.setdefault(finding.cause, (result.block, finding))
        return dict(sorted(found.items()))

    def report(self, seed: int, seconds: float) -> Report:
        """What it came to."""
        counts: Counter[str] = Counter()
        ops: dict[str, Counter[str]] = {}
        pipelines: Counter[tuple[str, str]] = Counter()
        for result in self._results:
            counts.update(result.counts)
            ops.setdefault(result.block.op, Counter()).update(result.counts)
            pipelines.update(result.pipelines)
        with open_device(self._plan.upstream, profile=self._plan.profile) as device:
            upstream, declared = device.upstream, host_names(device) or ()
        return Report(
            upstream=upstream,
            declared=declared,
            plan=self._plan,
            seed=seed,
            blocks=len(self._results),
            seconds=seconds,
            counts=counts,
            ops=ops,
            pipelines=pipelines,
            all_findings=tuple(finding for _, finding in sorted(self._shrunk.items())),
        )
