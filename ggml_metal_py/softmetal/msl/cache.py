"""The cache of kernels that were compiled on demand: shared by processes, bounded, good after any crash.

    ROOT/VERSION/KEY/   an entry: what was made from one source by one version of softmetal, and
                 lock   locked while the entry is used or built; its time is the last use
    ROOT/.work/         what builds need on the way, see scratch.py
    ROOT/zig/           the zig compiler's own libraries, where it is the compiler; not counted

Numbers of `lock`: 0 is held, shared, by whoever uses the entry (exec/cache.cpp does, for as long as a library
is open), and alone by who removes it; a number for each file is held while it is built.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO

from ..toolchain import Toolchain
from .build import Source, Wanted, build_source
from .errors import MslError
from .locks import lock_number
from .scratch import scratch
from .store import is_whole
from .version import version

LIMIT_VARIABLE = "SOFTMETAL_CACHE_MB"
DEFAULT_LIMIT_MB = 1024
_USED = 0


def build_in_cache(root: Path, source: Source, toolchain: Toolchain, wanted: Wanted, jobs: int = 1) -> Path:
    """The file that is wanted, made unless it is there. Raises MslError."""
    try:
        return _build_in_cache(root, source, toolchain, wanted, jobs)
    except OSError as error:
        raise MslError(
            f"cannot write the kernel cache {root}: {error.filename or 'a file'}: {error.strerror}. "
            "XDG_CACHE_HOME names another folder for it\n"
        ) from error


def _build_in_cache(root: Path, source: Source, toolchain: Toolchain, wanted: Wanted, jobs: int) -> Path:
    limit = _limit()
    folder = root / version(toolchain)
    with Entry(folder / source.key) as entry, entry.building(wanted.file(folder, source.key)) as target:
        if not is_whole(target):
            with scratch(root) as work:
                shelf = None if wanted.function is None else entry.folder  # further ones may follow
                build_source(source, folder, toolchain, work, wanted, jobs=jobs, shelf=shelf)
                trim(root, limit, work, keep=entry.folder)
        return target


class Entry:
    """An entry in use. Entering makes its folder; leaving removes it when nothing came of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> "Entry":
        while True:
            self._lock = _open_lock(self.folder)
            lock_number(self._lock, _USED, shared=True)
            if _is_current(self._lock, self.folder):
                os.utime(self._lock.fileno())
                return self
            self._lock.close()  # it was removed while we waited

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            empty = os.listdir(self.folder) == ["lock"]
            if empty and lock_number(self._lock, _USED, wait=False):
                os.unlink(self._lock.name)
                _remove_if_empty(self.folder)

    @contextmanager
    def building(self, target: Path) -> Iterator[Path]:
        """Hold the right to build a file of the entry; wait for it."""
        number = 1 + int(hashlib.sha256(target.name.encode()).hexdigest()[:15], 16)
        lock_number(self._lock, number)
        yield target  # the lock goes with the entry's


def trim(root: Path, limit: int, work: Path, keep: Path) -> None:
    """Remove the entries that were not used for longest, until all are within `limit` bytes.

    Entries in use stay, and `keep`, whose locks are this process's. `work` takes what is being removed.
    """
    entries = [(*_measure(folder), folder) for folder in _entries(root)]
    total = sum(size for _, size, _ in entries)
    for _, size, folder in sorted(entries):
        if total <= limit:
            return
        if folder != keep and _remove(folder, work):
            total -= size


def _limit() -> int:
    text = os.environ.get(LIMIT_VARIABLE) or str(DEFAULT_LIMIT_MB)
    if not text.isdecimal():
        raise MslError(f"{LIMIT_VARIABLE} is {text!r}; it must be a number of megabytes\n")
    return int(text) * 1024 * 1024


def _entries(root: Path) -> Iterator[Path]:
    for versioned in root.iterdir():
        if re.fullmatch("[0-9a-f]{16}", versioned.name):
            with suppress(FileNotFoundError):  # another process removed it
                yield from versioned.iterdir()


def _measure(folder: Path) -> tuple[float, int]:
    """When an entry was last used, and its bytes."""
    used, size = 0.0, 0
    with suppress(FileNotFoundError), os.scandir(folder) as files:  # another process may remove it
        for file in files:
            status = file.stat()
            size += status.st_size
            if file.name == "lock":
                used = status.st_mtime
    return used, size


def _remove(folder: Path, work: Path) -> bool:
    """False when it is in use."""
    with _open_lock(folder) as lock:
        if not lock_number(lock, _USED, wait=False) or not _is_current(lock, folder):
            return False
        # In one step, so that nobody finds half an entry or puts a file into a folder that is on its way out.
        trash = work / f"{folder.parent.name}-{folder.name}"
        folder.rename(trash)
    shutil.rmtree(trash, ignore_errors=True)
    _remove_if_empty(folder.parent)
    return True


def _open_lock(folder: Path) -> IO[bytes]:
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            if folder.exists() and not folder.is_dir():
                raise
            continue  # another process removed it between the looks at it
        with suppress(FileNotFoundError):  # or now
            return (folder / "lock").open("a+b")


def _is_current(lock: IO[bytes], folder: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(lock.fileno()), (folder / "lock").stat())
    except FileNotFoundError:
        return False


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
