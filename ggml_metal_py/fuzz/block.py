"""A block: so many cases of one op, drawn from one seed. What comes of it depends on nothing else."""

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
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
    """The first of each cause."""
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


def run(block: Block, examiner: Examines) -> Result:
    """Examine the block's cases."""
    result = Result(block)
    seen: set[str] = set()

    def look(case: Case) -> bool:
        examined = examiner.examine(case)
        result.counts[examined.status] += 1
        result.pipelines.update(examined.pipelines)
        for finding in examined.findings:
            if finding.cause not in seen:
                seen.add(finding.cause)
                result.findings.append(finding)
        return False

    _find(block, look, shrink=False)
    return result


def shrink(block: Block, cause: str, examiner: Examines, most: int = 500) -> Finding | None:
    """The plainest case that comes from the first one of that cause in the block, and is the same mistake.

    `most`: cases that are examined for it.

    Its cause may be another one: what seemed to need views or special values may go without.
    """
    examined: dict[str, tuple[Finding, ...]] = {}

    def findings(case: Case) -> tuple[Finding, ...]:
        if case.text not in examined:
            if len(examined) == most:  # nothing more is found to be wrong, so that shrinking ends
                return ()
            examined[case.text] = examiner.examine(case).findings
        return examined[case.text]

    def has_cause(case: Case) -> bool:
        return any(finding.cause == cause for finding in findings(case))

    smallest = _find(block, has_cause, shrink=True)
    if smallest is None:
        return None
    # Several kernels of a family may have it in one case: of the same cause, and so the same mistake.
    mistake = next(finding.mistake for finding in findings(smallest) if finding.cause == cause)

    def has_mistake(case: Case) -> bool:
        return any(finding.mistake == mistake for finding in findings(case))

    plainest = simplify(smallest, has_mistake)
    return next(finding for finding in findings(plainest) if finding.mistake == mistake)


def shrink_all(
    wanted: Sequence[tuple[Block, str]], examiner: Examines, most: int = 500
) -> list[Finding | None]:
    """As `shrink` for each cause, unless the case of one before shows it, too."""
    found: list[Finding | None] = []
    for block, cause in wanted:
        cases = dict.fromkeys((finding.op, finding.case) for finding in found if finding is not None)
        others = (examiner.examine(Case(op, text)).findings for op, text in cases)
        there = [finding for findings in others for finding in findings if finding.cause == cause]
        found.append(there[0] if there else shrink(block, cause, examiner, most))
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
