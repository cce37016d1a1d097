"""Counts the cases in what test-backend-ops prints for people: one line for each, coloured, with its result.

Its formats for programs leave out what people want to see while it runs: the errors, and the list of failures.
"""

import re
from collections import Counter

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# What went wrong in a case is printed before it, in the same line; with -j also in the middle.
_CASE = re.compile(r"(?:^|\s)  (\w+)\(.*?\): .*?(OK|FAIL|SUPPORTED|not supported.*|.* runs .*)\s*$")
_PASSED = re.compile(r"^  (\d+)/(\d+) tests passed$")
_FINISHED = re.compile(r"^\d+/\d+ backends passed$")


class SuiteCounts:
    """Cases by result, fed with output in pieces of any length."""

    def __init__(self) -> None:
        self.ok = 0
        self.unsupported = 0
        self.failed: Counter[str] = Counter()
        """By op."""
        self.ran = False
        """Whether there was any case, those that are only measured or probed included."""
        self.tested = False
        """Whether the program summed up tests."""
        self.finished = False
        """Whether it came to its end."""
        self._failed_by_program = 0
        self._rest = ""

    def feed(self, piece: bytes) -> None:
        *lines, self._rest = (self._rest + piece.decode(errors="replace")).split("\n")
        for line in lines:
            self._count(_COLOUR.sub("", line))

    def _count(self, line: str) -> None:
        if case := _CASE.search(line):
            op, result = case.groups()
            self.ran = True
            self.ok += result == "OK"
            self.failed[op] += result == "FAIL"
            self.unsupported += result.startswith("not supported")
        elif passed := _PASSED.match(line):
            self.tested = True
            self._failed_by_program += int(passed[2]) - int(passed[1])
        elif _FINISHED.match(line):
            self.finished = True

    def __str__(self) -> str:
        """One line; it says so when the program knows of other failures than those it printed as cases."""
        failed = self.failed.total()
        text = f"{self.ok} cases OK, {failed} failed, {self.unsupported} not supported"
        if failed:
            text += f" (failed: {', '.join(f'{op} {n}' for op, n in self.failed.most_common() if n)})"
        if self.tested and self._failed_by_program != failed:
            text += f"; the program itself counts {self._failed_by_program} failed"
        return text
