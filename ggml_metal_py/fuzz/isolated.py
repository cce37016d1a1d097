"""An examiner in a process of its own, which may crash or hang: then the next case gets a new one."""

import multiprocessing
import signal
import threading
import weakref
from contextlib import ExitStack, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from ..check.case import Case
from ..check.run import FAILED, FINDING
from .examiner import Examined
from .finding import Finding

if TYPE_CHECKING:
    from .plan import Plan

_PATIENCE = 120.0
"""Seconds that a case may take, kernels that have to be compiled first included."""


_opened: "weakref.WeakSet[Isolated]" = weakref.WeakSet()


def end_orphans() -> None:
    """End the processes of those that were opened in threads that have ended."""
    for examiner in list(_opened):
        if not examiner._thread.is_alive():
            examiner._end()


class _Died(Exception):
    """The process that examined did not answer."""

    def __init__(self, kind: str, problem: str) -> None:
        self.kind = kind
        self.problem = problem
        super().__init__(problem)


class Isolated:
    """Examines as an Examiner does. Use it as a context manager."""

    def __init__(self, plan: "Plan", patience: float = _PATIENCE) -> None:
        self._plan = replace(plan, isolate=False, may_die=True)
        self._patience = patience
        self._process: Any = None
        self._pipe: Connection | None = None
        self._thread = threading.current_thread()
        _opened.add(self)

    def __enter__(self) -> "Isolated":
        return self

    def __exit__(self, *exception: object) -> None:
        self._end()

    def examine(self, case: Case) -> Examined:
        """As Examiner.examine; `crash` and `hang` are findings, too. Raises what opening a device raises."""
        try:
            examined = self._ask("examine", case)
        except _Died as died:
            finding = Finding(kind=died.kind, op=case.op, case=case.text, problem=died.problem)
            with suppress(_Died):  # then nobody knows what it is
                finding = self._ask("named", finding)
            return Examined(case, FINDING if finding.known else FAILED, (finding,))
        assert isinstance(examined, Examined)
        return examined

    def _ask(self, method: str, argument: Case | Finding) -> Any:
        pipe = self._pipe or self._start()
        try:
            pipe.send((method, argument))
            if not pipe.poll(self._patience):
                self._end()
                raise _Died("hang", f"no answer within {self._patience:g} s")
            answer = pipe.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            code = self._process.exitcode
            self._end()
            raise _Died("crash", _reason(code)) from None
        if isinstance(answer, Exception):
            self._end()
            raise answer
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
            method, argument = pipe.recv()
            try:
                examiner = examiner or open_examiner(plan, stack)
                pipe.send(getattr(examiner, method)(argument))
            except Exception as error:
                pipe.send(error)


def _reason(code: int) -> str:
    if code < 0:
        return f"the process died of {signal.Signals(-code).name}"
    return f"the process ended with status {code}"
