"""Locks between processes. They end with the process that holds them, so nobody waits for a dead one.

Two kinds, so that one file is enough for a whole entry of the cache: of a file, and of a number in a file.
A file system without locks (some network ones) locks nothing: then a kernel may be compiled twice, no more.
"""

import fcntl
from contextlib import suppress
from typing import IO, Any


def lock_file(file: IO[Any], *, wait: bool) -> bool:
    """Lock the file until it is closed. False when another process holds it, or nothing can be locked."""
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        return True
    return False


def lock_number(file: IO[Any], number: int, *, shared: bool = False, wait: bool = True) -> bool:
    """Lock a number of the file, in this process, until the file is closed.

    False when others hold it, or nothing can be locked. exec/cache.cpp takes such locks, too.
    """
    how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    with suppress(OSError):
        fcntl.lockf(file, how | (0 if wait else fcntl.LOCK_NB), 1, number)
        return True
    return False
