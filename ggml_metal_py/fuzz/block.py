"""A block: so many cases of one op, drawn from one seed. What comes of it depends on nothing else."""

import hashlib
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import NoSuchExample

from ..check.case import Case
from . import strategies
from .examiner import Examined
from .finding import Finding
from .simplify import simplify

_SIZE = 30
"""Cases in a block. hypothesis tries the simplest one first, in every block."""


class Examines(Protocol):
    """What examines a case: an Examiner, here or in another process."""

    def examine(self, case: Case) -> Examined: ...


@dataclass(frozen=True)
class Block:
    """What to draw."""

    op: str
    seed: int
    """The campaign's."""
    index: int
    size: int = _SIZE

    @property
    def random(self) -> random.Random:
        """A generator that depends on all of it."""
        digest = hashlib.sha256(f"{self.op} {self.seed} {self.index}".encode()).digest()
        return random.Random(int.from_bytes(digest[:8], "little"))


@dataclass
class Result:
    """What came of a block."""

    block: Block
    counts: Counter[str] = field(default_factory=Counter)
    """Cases by status: see Examined."""
    findings: list[Finding] = field(default_factory=list)
    """The first of each cause; of a listed mistake the one with the shortest case."""
    pipelines: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Host name and name of what ran, and in how many cases."""


def blocks(ops: Sequence[str], seed: int, size: int = _SIZE) -> Iterator[Block]:
    """An endless list, the same for the same seed: every op in each round, those with many kernels often."""
    names = [name for name in strategies.find(ops) for _ in range(strategies.weight(name))]
    shuffled = random.Random(seed)
    index = 0
    while True:
        shuffled.shuffle(names)
        for op in names:
            yield Block(op, seed, index, size)
            index += 1


def run(block: Block, examiner: Examines, seconds: float = math.inf) -> Result:
    """Examine the block's cases: as many as there is time for."""
    result = Result(block)
    found: dict[str, Finding] = {}
    end = time.monotonic() + seconds

    def look(case: Case) -> bool:
        if time.monotonic() >= end:
            return False
        examined = examiner.examine(case)
        result.counts[examined.status] += 1
        result.pipelines.update(examined.pipelines)
        for finding in examined.findings:
            if finding.plainer_than(found.get(finding.cause)):
                found[finding.cause] = finding
        return False

    _find(block, look, shrink=False)
    result.findings = list(found.values())
    return result


class _Limited:
    """Examines so many cases, for so many seconds.

    Then nothing more is found to be wrong, so that shrinking ends.
    """

    def __init__(self, examiner: Examines, most: int, seconds: float) -> None:
        self._examiner = examiner
        self._most = most
        self._end = time.monotonic() + seconds
        self._examined: dict[str, tuple[Finding, ...]] = {}
        self.refused = False
        """Whether there was a case more to look at."""

    def findings(self, case: Case) -> tuple[Finding, ...]:
        if case.text not in self._examined:
            if len(self._examined) >= self._most or time.monotonic() >= self._end:
                self.refused = True
                return ()
            self._examined[case.text] = self._examiner.examine(case).findings
        return self._examined[case.text]


def shrink(
    block: Block, cause: str, examiner: Examines, most: int = 500, seconds: float = math.inf
) -> Finding | None:
    """The plainest case that comes from the first one of that cause in the block, and is the same mistake.

    `most` cases are examined for it, and none begins after so many `seconds`: then it is the plainest one
    until then, `unfinished`, or None when there was not even time to come to the first.

    Its cause may be another one: what seemed to need views or special values may go without.
    """
    limited = _Limited(examiner, most, seconds)

    def has_cause(case: Case) -> bool:
        return any(finding.cause == cause for finding in limited.findings(case))

    smallest = _find(block, has_cause, shrink=True)
    if smallest is None:
        return None
    # Several kernels of a family may have it in one case: of the same cause, and so the same mistake.
    mistake = next(finding.mistake for finding in limited.findings(smallest) if finding.cause == cause)

    def has_mistake(case: Case) -> bool:
        return any(finding.mistake == mistake for finding in limited.findings(case))

    plainest = simplify(smallest, has_mistake)
    found = next(finding for finding in limited.findings(plainest) if finding.mistake == mistake)
    return replace(found, unfinished=limited.refused)


def shrink_all(
    wanted: Sequence[tuple[Block, str]], examiner: Examines, most: int = 500, seconds: float = math.inf
) -> list[Finding | None]:
    """As `shrink` for each cause, unless the case of one before shows it, too.

    Each has its share of the time that those before it left.
    """
    found: list[Finding | None] = []
    shown: dict[str, Finding] = {}
    end = time.monotonic() + seconds
    for done, (block, cause) in enumerate(wanted):
        if time.monotonic() >= end:
            return found + [None] * (len(wanted) - done)
        plainest = shown.get(cause)
        if plainest is None:
            share = (end - time.monotonic()) / (len(wanted) - done)
            plainest = shrink(block, cause, examiner, most, share)
            if plainest is not None:
                for other in examiner.examine(Case(plainest.op, plainest.case)).findings:
                    shown.setdefault(other.cause, replace(other, unfinished=plainest.unfinished))
        found.append(plainest)
    return found


def _find(block: Block, wanted: Callable[[Case], bool], *, shrink: bool) -> Case | None:
    phases = (Phase.generate, Phase.shrink) if shrink else (Phase.generate,)
    quiet = settings(
        max_examples=block.size,
        database=None,
        deadline=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
    )
    try:
        return hypothesis.find(strategies.op_cases(block.op), wanted, settings=quiet, random=block.random)
    except NoSuchExample:
        return None
