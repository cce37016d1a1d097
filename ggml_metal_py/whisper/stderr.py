"""What native code writes to the process's standard error, caught."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_STDERR = 2
_lock = threading.Lock()  # the descriptor is the process's: one capture at a time


@contextmanager
def captured() -> Iterator[Callable[[], str]]:
    """Catch descriptor 2 while the block runs; the yielded function gives what came, also afterwards.

    It is for short calls: what other threads write meanwhile is caught as well.
    """
    with _lock, tempfile.TemporaryFile() as file:
        text = ""

        def read() -> str:
            if file.closed:
                return text
            # pread leaves the write position alone, which the descriptor shares
            return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode("utf-8", "replace")

        sys.stderr.flush()
        saved = os.dup(_STDERR)
        os.dup2(file.fileno(), _STDERR)
        try:
            yield read
        finally:
            sys.stderr.flush()
            os.dup2(saved, _STDERR)
            os.close(saved)
            text = read()
