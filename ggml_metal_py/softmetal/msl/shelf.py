"""What later builds of the same source need again: its translation, and the executor's objects.

Kernels of a large source are compiled one by one as they are first dispatched; without this, most of the time
would go into doing the same over and over. A shelf is a folder of one source and one version of softmetal.
"""

import pickle
from collections.abc import Callable
from pathlib import Path

from .store import is_whole, publish, unsealed
from .translate import Translation


class Shelf:
    """A folder; nothing is kept without one. Files are written aside in `work`, on the same file system."""

    def __init__(self, folder: Path | None, work: Path) -> None:
        self._folder = folder
        self._work = work

    def translation(self, name: str, make: Callable[[], Translation]) -> Translation:
        """The translation called `name`, made unless it is there."""
        if self._folder is None:
            return make()
        path = self._folder / f"{name}.pickle"
        if is_whole(path):
            kept: Translation = pickle.loads(unsealed(path))
            return kept
        made = make()
        made.program.tokens.clear()  # most of it, and of no more use
        aside = self._work / path.name
        aside.write_bytes(pickle.dumps(made))
        publish(aside, path)
        return made

    def object(self, name: str, make: Callable[[Path], object]) -> Path:
        """The object file called `name`, written by `make` unless it is there."""
        if self._folder is None:
            make(self._work / name)
            return self._work / name
        path = self._folder / name
        if not is_whole(path):
            make(self._work / name)
            publish(self._work / name, path)
        return path
