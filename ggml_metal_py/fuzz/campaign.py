"""A campaign: blocks of cases, one after the other or side by side, until time is over; then shrinking.

The list of blocks depends on the ops and the seed only, and what comes of a block on nothing else. How many
of them there are in so many seconds depends on the machine: ask for `blocks` to have the same campaign again.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from ..check.coverage import host_names
from ..device import open as open_device
from ..errors import GgmlMetalError
from . import block as blocks_of
from . import plan as tasks
from .block import Block, Result
from .executors import executor
from .finding import Finding
from .plan import Plan
from .report import Report

SHRINK_SECONDS = 60.0
"""For shrinking, unless something else is asked for."""

Progress = Callable[[float, str], object]
"""Called with the part that is done, 0..1, and a line."""


def run(
    ops: Sequence[str] = (),
    *,
    seconds: float = 60.0,
    shrink_seconds: float | None = None,
    blocks: int | None = None,
    seed: int = 0,
    workers: int = 1,
    scheduler: str | None = None,
    plan: Plan | None = None,
    progress: Progress | None = None,
) -> Report:
    """Draw cases of these ops, or of all, and examine them; shrink what was found.

    It ends after so many seconds, or after so many `blocks` of 30 cases; shrinking takes up to
    `shrink_seconds` more: 60, or with `blocks` as long as it takes, so that the same comes of it anywhere.
    Cases that have begun by then are waited for: some seconds, where kernels have to be compiled. A finding
    that was not shrunk to the end is `unfinished`.

    Raises ValueError for an op without a strategy, LibraryNotFound, GgmlMetalError when a worker process
    died, and what `executors.executor` raises.
    """
    plan = plan or Plan()
    started = time.monotonic()
    if shrink_seconds is None:
        shrink_seconds = SHRINK_SECONDS if blocks is None else math.inf
    campaign = _Campaign(plan, seconds if blocks is None else math.inf, blocks, progress)
    try:
        with executor(workers, isolate=plan.isolate, scheduler=scheduler) as made:
            with suppress(KeyboardInterrupt):  # what was found until then is reported
                campaign.examine(made, blocks_of.blocks(ops, seed), workers)
            campaign.shrink(made, shrink_seconds, workers)
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
        """Submit blocks as long as there is time, as many as can begin at once.

        Each is told what time is left.
        """
        started = time.monotonic()
        coming = islice(endless, self._blocks)
        pending: set[Future[Result]] = set()
        while True:
            while len(pending) < most and (left := self._seconds - (time.monotonic() - started)) > 0:
                block = next(coming, None)
                if block is None:
                    break
                pending.add(executor.submit(tasks.run, self._plan, block, left))
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

    def shrink(self, executor: Executor, seconds: float, most: int) -> None:
        """Look for the plainest case of every cause: those of a family, which often have one, in one task.

        Each task is told its share of the time that is left.
        """
        kept = self._kept()
        families: dict[str, list[str]] = {}
        for cause, (_, finding) in kept.items():
            if finding.known:
                self._shrunk[cause] = finding
            else:
                families.setdefault(finding.family, []).append(cause)
        end = time.monotonic() + seconds
        waiting = list(families)
        pending: dict[Future[list[Finding | None]], str] = {}
        found: dict[str, Finding | None] = {}
        while waiting or pending:
            while waiting and len(pending) < most:
                left = max(0.0, end - time.monotonic())
                share = left / math.ceil(len(waiting) / most)
                family = waiting.pop(0)
                begun = f"{len(families) - len(waiting)} of {len(families)}"
                self._progress(1.0, f"shrinking findings in {family} ({begun})")
                wanted = [(kept[cause][0], cause) for cause in families[family]]
                pending[executor.submit(tasks.shrink, self._plan, wanted, share)] = family
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                found.update(zip(families[pending.pop(future)], future.result(), strict=True))
        for cause, (_, finding) in kept.items():
            if not finding.known:
                plainest = found[cause] or replace(finding, unfinished=True)
                self._shrunk.setdefault(plainest.cause, plainest)

    def _kept(self) -> dict[str, tuple[Block, Finding]]:
        """Of each cause the finding to keep; earlier is by the order of blocks, whichever was done first."""
        found: dict[str, tuple[Block, Finding]] = {}
        for result in sorted(self._results, key=lambda result: (result.block.index, result.block.op)):
            for finding in result.findings:
                _, earlier = found.get(finding.cause, (None, None))
                if finding.plainer_than(earlier):
                    found[finding.cause] = result.block, finding
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
