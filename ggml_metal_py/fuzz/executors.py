"""Where tasks run: here, in processes, or on a Dask cluster. All are executors of concurrent.futures."""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from .isolated import end_orphans
from .plan import release


class Here(Executor):
    """Runs a task when it is submitted, in the thread that submits it."""

    def submit(self, task: Callable[..., Any], /, *arguments: Any, **named: Any) -> "Future[Any]":
        """The task's future, which is done."""
        future: Future[Any] = Future()
        try:
            future.set_result(task(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Close what the tasks kept open."""
        release()


@contextmanager
def executor(workers: int = 1, *, isolate: bool = False, scheduler: str | None = None) -> Iterator[Executor]:
    """What runs tasks, for the block. `scheduler` is the address of a Dask cluster: `tcp://host:8786`.

    Tasks of an isolated plan have processes of their own, so threads do here. Raises ModuleNotFoundError
    without Dask, ValueError, OSError when the scheduler does not answer.
    """
    if workers < 1:
        raise ValueError(f"at least one worker, not {workers}")
    if scheduler is not None:
        from distributed import Client

        with Client(scheduler, timeout="10s") as client:  # type: ignore[no-untyped-call]
            yield client.get_executor()
        return
    made: Executor
    if workers == 1 and not isolate:
        made = Here()
    elif isolate:
        made = ThreadPoolExecutor(workers)
    else:
        # A native library that has threads does not survive a fork.
        made = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    try:
        yield made
    finally:
        made.shutdown(cancel_futures=True)
        end_orphans()
