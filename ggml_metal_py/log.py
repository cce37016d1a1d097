"""ggml's log messages, handed to Python: to the logger `ggml_metal_py`, or to a callback.

Native code never calls Python. Messages wait in a buffer and come out at the next call into the library,
on the thread that makes it.
"""

import logging
import threading
from collections.abc import Callable

logger = logging.getLogger("ggml_metal_py")
logger.addHandler(logging.NullHandler())  # a library prints nothing unless the program configures logging

LogCallback = Callable[[int, str], object]

# ggml_log_level, in order: NONE, DEBUG, INFO, WARN, ERROR. The last one, CONT, continues the line before.
_LEVELS = (logging.INFO, logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)
_CONTINUED = 5

_callback: LogCallback | None = None


def set_log_callback(callback: LogCallback | None) -> None:
    """Send ggml's log lines to `callback(level, text)`, with `logging`'s levels; None restores the logger.

    A callback that raises is reported to the logger, together with the line, and stays installed.
    Raises TypeError when it cannot be called.
    """
    global _callback
    if callback is not None and not callable(callback):
        raise TypeError(f"a log callback is a function of (level, text) or None, not {callback!r}")
    _callback = callback


class LogLines:
    """Joins ggml's messages, which may be parts of a line, and passes on whole lines."""

    def __init__(self) -> None:
        self._part = ""
        self._level = logging.INFO
        self._busy = threading.Lock()

    def drain(self, take: Callable[[], tuple[int, str] | None]) -> None:
        """Pass on everything that `take` gives, until it gives None.

        Returns at once when another thread, or a callback of this one, is doing it already: that one
        gets the rest, and nobody waits for a callback to end.
        """
        if not self._busy.acquire(blocking=False):
            return
        try:
            while (message := take()) is not None:
                self._add(*message)
        finally:
            self._busy.release()

    def report_lost(self, count: int) -> None:
        """Tell that messages were dropped because nobody drained in time."""
        _emit(logging.WARNING, f"{count} log messages of ggml were lost")

    def _add(self, level: int, text: str) -> None:
        if level != _CONTINUED:
            self._level = _LEVELS[level] if 0 <= level < len(_LEVELS) else logging.INFO
        *lines, self._part = (self._part + text).split("\n")
        for line in lines:
            if line:
                _emit(self._level, line)


def _emit(level: int, line: str) -> None:
    if _callback is None:
        logger.log(level, "%s", line)
        return
    try:
        _callback(level, line)
    except Exception:
        logger.exception("the log callback %r failed on: %s", _callback, line)
