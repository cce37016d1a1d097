"""Very many getter calls in one process, a third of them refused: the same answers, and no growth."""

import json

import pytest
from fresh_python import ROOT, run_python

from ggml_metal_py.getters.rows import ROWS

MANY, FEWER = 1_000_000, 50_000
DEFAULT = "pywhispercpp-1.5.1"
CALLS = [(DEFAULT, MANY), *((row, FEWER) for row in ROWS if row != DEFAULT)]

ALL_REFUSALS = {"ValueError", "TypeError", "GgmlAbort", "KernelNotFound", "ClosedError"}

# A leak of 2 bytes in each call would show.
MOST_GROWTH = 2**20
MOST_FOR_A_NAME = 4096


@pytest.mark.slow
@pytest.mark.parametrize(("row", "calls"), CALLS, ids=[row for row, _ in CALLS])
def test_a_process_lives_and_does_not_grow(row: str, calls: int) -> None:
    done = run_python(
        f"""
        import sys
        sys.path.insert(0, {str(ROOT / "tests")!r})
        import getters_million
        getters_million.run({row!r}, calls={calls})
        """,
        timeout=600,
    )
    print(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    kinds, memory = found["kinds"], found["memory"]

    assert found["calls"] == calls
    assert found["wrong"] == 0
    assert kinds.keys() >= ALL_REFUSALS
    assert abs(kinds["answered"] - calls * 2 / 3) < calls / 100

    # Everything was answered once before the first measurement; the first fifth grows the allocators' pools.
    assert max(memory[2:]) - memory[2] < MOST_GROWTH
    assert found["bytes of a name"] < MOST_FOR_A_NAME
    assert found["names known"] == found["names"] + found["names made"]
