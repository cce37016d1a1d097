"""A line on a terminal that tells that work goes on, while the work runs native code."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..dropin import counters


@contextmanager
def shown(interval: float = 0.5) -> Iterator[None]:
    """Show seconds and graph nodes run on standard error while the block runs; nothing when no one looks."""
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(done, interval), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _show(done: threading.Event, interval: float) -> None:
    began, before = time.monotonic(), counters.read()
    while not done.wait(interval):
        ran = counters.read().since(before)
        seconds = time.monotonic() - began
        line = f"{seconds:5.1f} s  {ran.device_nodes} nodes on the device, {ran.cpu_nodes} on the CPU"
        print(f"\r{line}", end="", file=sys.stderr, flush=True)
    print(f"\r{' ' * 79}\r", end="", file=sys.stderr, flush=True)
