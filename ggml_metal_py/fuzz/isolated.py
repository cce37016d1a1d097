"""An examiner in a process of its own, which may crash or hang: then the next case gets a new one."""

import multiprocessing
import signal
from contextlib import ExitStack, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from ..check.case import Case
from ..check.run import FAILED
from .examiner import Examined
from .finding import Finding

if TYPE_CHECKING:
    from .plan import Plan

_PATIENCE = 120.0
"""Seconds that a case may take, kernels that have to be compiled first included."""


class Isolated:
    """Examines as an Examiner does. Use it as a context manager."""

    def __init__(self, plan: "Plan", patience: float = _PATIENCE) -> None:
        self._plan = replace(plan, isolate=False)
        self._patience = patience
        self._process: Any = None
        self._pipe: Connection | None = None

    def __enter__(self) -> "Isolated":
        return self

    def __exit__(self, *exception: object) -> None:
        self._end()

    def examine(self, case: Case) -> Examined:
        """As Examiner.examine; `crash` and `hang` are findings, too. Raises what opening a device raises."""
        pipe = self._pipe or self._start()
        try:
            pipe.send(case)
            if not pipe.poll(self._patience):
                self._end()
                return _died(case, "hang", f"no answer within {self._patience:g} s")
            answer = pipe.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            code = self._process.exitcode
            self._end()
            return _died(case, "crash", _reason(code))
        if isinstance(answer, Exception):
            self._end()
            raise answer
        assert isinstance(answer, Examined)
        return answer

    def _start(self) -> Connection:
        fresh = multiprocessing.get_context("spawn")
        self._pipe, theirs = fresh.Pipe()
        self._process = fresh.Process(target=_serve, args=(theirs, self._plan), daemon=True)
        self._process.start()
        theirs.close()
        return self._pipe

    def _end(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
            self._process.kill()
            self._process.join()
        self._pipe = None


def _serve(pipe: Connection, plan: "Plan") -> None:
    from .plan import open_examiner

    with ExitStack() as stack, suppress(EOFError, ConnectionError, KeyboardInterrupt):
        examiner = None
        while True:
            case = pipe.recv()
            try:
                examiner = examiner or open_examiner(plan, stack)
                pipe.send(examiner.examine(case))
            except Exception as error:
                pipe.send(error)


def _died(case: Case, kind: str, problem: str) -> Examined:
    return Examined(case, FAILED, (Finding(kind=kind, op=case.op, case=case.text, problem=problem),))


def _reason(code: int) -> str:
    if code < 0:
        return f"the process died of {signal.Signals(-code).name}"
    return f"the process ended with status {code}"
