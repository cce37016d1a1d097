"""Where kernel libraries lie, and how processes that build the same one at the same time stay out of each
other's way: every file is written aside and renamed.

    FOLDER/KEY/functions.txt   "softmetal 1", then the host names, sorted
    FOLDER/KEY/all.so          every kernel
    FOLDER/KEY/fn-HASH.so      one kernel; HASH is the first 16 hex digits of sha256 of its host name
"""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

FORMAT = "softmetal 1"


def functions_file(folder: Path, key: str) -> Path:
    return folder / key / "functions.txt"


def library_file(folder: Path, key: str, host_name: str | None = None) -> Path:
    """The library with every kernel, or with one."""
    if host_name is None:
        return folder / key / "all.so"
    return folder / key / f"fn-{hashlib.sha256(host_name.encode()).hexdigest()[:16]}.so"


def write_functions(folder: Path, key: str, host_names: Sequence[str]) -> None:
    """Host names sorted by their bytes, as the device searches them."""
    target = functions_file(folder, key)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    partial.write_text("\n".join([FORMAT, *sorted(host_names, key=str.encode), ""]))
    partial.replace(target)
