"""Getters called from many threads at once answer as the model says."""

import random
import threading
from typing import Any

import pytest

from .calls import getters_of
from .properties import check, holds
from .rows import Row

THREADS = 8
CALLS = 8


def drawn_calls(row: Row) -> list[tuple[str, tuple[Any, ...]]]:
    """A few calls of every getter of the row."""
    calls: list[tuple[str, tuple[Any, ...]]] = []
    for getter in getters_of(row):
        holds(row, getter, CALLS, lambda _, getter, arguments: calls.append((getter, arguments)))()
    return calls


@pytest.mark.slow
@pytest.mark.parametrize("row", Row, ids=lambda row: row.upstream)
def test_eight_threads_agree_with_the_model(row: Row) -> None:
    failures: list[tuple[str, BaseException]] = []
    start = threading.Barrier(THREADS)
    calls = drawn_calls(row)

    def work(number: int) -> None:
        mine = calls[:]
        random.Random(number).shuffle(mine)
        start.wait()
        for getter, arguments in mine[: len(mine) // 2]:
            try:
                check(row, getter, arguments)
            except BaseException as error:
                failures.append((getter, error))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    assert not failures, failures[0]
