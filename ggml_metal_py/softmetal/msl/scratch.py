"""Folders for what is only needed during a build, which do not outlive their process, even a killed one."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .locks import lock_file


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """A new folder in FOLDER/.work, removed at the end. Removes those first that killed processes left."""
    work = folder / ".work"
    work.mkdir(parents=True, exist_ok=True)
    with (work / "lock").open("a") as mine:
        # Until its owner holds the lock inside, a new folder looks like one that was left.
        lock_file(mine, wait=True)
        _sweep(work)
        path = Path(tempfile.mkdtemp(dir=work))
        owner = (path / "owner").open("a")
        lock_file(owner, wait=True)
    with owner:
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)


def _sweep(work: Path) -> None:
    for path in work.iterdir():
        if path.is_dir():
            with (path / "owner").open("a") as owner:
                if lock_file(owner, wait=False):
                    shutil.rmtree(path, ignore_errors=True)
