"""Compiled units that a later build of the same kernels finds again, by what they were compiled from.

A change of ours in include/ or in exec/ touches few of the units; the others need not be compiled again.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path


class Objects:
    """A folder of object files. `forget_others` removes those that this build did not ask for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._asked: set[str] = set()
        folder.mkdir(parents=True, exist_ok=True)

    def file(self, how: Sequence[str], module: str) -> Path:
        """Where the object of this module lies or should lie. `how`: the compiler and its flags."""
        digest = hashlib.sha256("\0".join([*how, module]).encode()).hexdigest()
        self._asked.add(f"{digest}.o")
        return self._folder / f"{digest}.o"

    def forget_others(self) -> None:
        for path in self._folder.iterdir():
            if path.name not in self._asked:
                path.unlink(missing_ok=True)
