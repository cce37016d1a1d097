"""Which shared libraries this process has loaded, and how to reach their functions.

The one place of the drop-in that knows platforms.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from pathlib import Path


def loaded_libraries() -> list[Path]:
    """Files of all shared libraries in this process, each once, in load or address order."""
    paths = _dyld_images() if sys.platform == "darwin" else _mapped_files()
    return [Path(path) for path in dict.fromkeys(paths)]


def open_loaded(path: Path) -> ctypes.CDLL:
    """A handle on a library that is loaded already. Raises: OSError when it is not."""
    # RTLD_NOLOAD gives the very library that the host uses and never a second copy of it.
    return ctypes.CDLL(str(path), mode=os.RTLD_NOLOAD | os.RTLD_NOW)


def _mapped_files() -> Iterator[str]:
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            columns = line.rstrip("\n").split(maxsplit=5)
            if len(columns) == 6 and columns[5].startswith("/"):
                yield columns[5]


def _dyld_images() -> Iterator[str]:
    dyld = ctypes.CDLL(None)
    dyld._dyld_get_image_name.restype = ctypes.c_char_p
    dyld._dyld_get_image_name.argtypes = [ctypes.c_uint32]
    for index in range(dyld._dyld_image_count()):
        name = dyld._dyld_get_image_name(index)
        if name is not None:  # the image went away in the meantime
            yield os.fsdecode(name)
