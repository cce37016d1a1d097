"""How a campaign examines its cases, and its tasks: functions of plain values, for any process to run."""

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from .block import Block, Examines, Result, shrink_all
from .block import run as run_block
from .examiner import Examiner
from .finding import Finding

_MOST, _FEWER = 500, 120
"""Cases that are examined to shrink one; fewer where each may need kernels that have to be compiled first."""


@dataclass(frozen=True)
class Plan:
    """What every case of a campaign has in common."""

    upstream: str | None = None
    profile: str | None = None
    oracles: tuple[str, ...] = ()
    checked: bool = False
    isolate: bool = False
    """Examine in a process of its own, which may die."""
    may_die: bool = False
    """This is such a process. In checked mode no kernel ends one."""


def run(plan: Plan, block: Block, seconds: float) -> Result:
    """Examine a block's cases: as many as there is time for."""
    return run_block(block, _examiner(plan), seconds)


def shrink(plan: Plan, wanted: Sequence[tuple[Block, str]], seconds: float) -> list[Finding | None]:
    """The plainest case of each cause that comes from its block, and is found in that time."""
    return shrink_all(wanted, _examiner(plan), _FEWER if plan.checked else _MOST, seconds)


def open_examiner(plan: Plan, stack: ExitStack) -> Examines:
    """An examiner that is closed with the stack."""
    if plan.isolate:
        from .isolated import Isolated

        return stack.enter_context(Isolated(plan))
    from ..device import open as open_device

    opened = open_device(plan.upstream, profile=plan.profile, checked=plan.checked)
    device = stack.enter_context(opened)
    return stack.enter_context(Examiner(device, plan.oracles, may_die=plan.may_die or plan.checked))


class _Kept(threading.local):
    """The examiner of a thread: opening one takes longer than most blocks."""

    def __init__(self) -> None:
        self.plan: Plan | None = None
        self.examiner: Examines | None = None
        self.close: Callable[[], None] = lambda: None


_kept = _Kept()


def _examiner(plan: Plan) -> Examines:
    if _kept.plan != plan or _kept.examiner is None:
        release()
        stack = ExitStack()
        _kept.examiner, _kept.plan, _kept.close = open_examiner(plan, stack), plan, stack.close
    return _kept.examiner


def release() -> None:
    """Close this thread's examiner."""
    _kept.close()
    _kept.examiner, _kept.plan, _kept.close = None, None, lambda: None
