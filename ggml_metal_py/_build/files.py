"""Files that are only touched when their content changes, and one builder at a time."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def write_if_changed(path: Path, content: bytes | str) -> bool:
    """Write the file, aside first; False when it had that content already (and nothing is built again)."""
    content = content.encode() if isinstance(content, str) else content
    if path.is_file() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.new")
    aside.write_bytes(content)
    os.replace(aside, path)
    return True


@contextmanager
def locked(path: Path, when_waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file; `when_waiting` is called when another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            when_waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
