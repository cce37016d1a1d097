"""Where kernel libraries lie, and how they come there whole.

    FOLDER/KEY/functions.txt   "softmetal 1", then the host names, sorted
    FOLDER/KEY/all.so          every kernel
    FOLDER/KEY/fn-HASH.so      one kernel; HASH is the first 16 hex digits of sha256 of its host name
    FOLDER/KEY/checked-...     the same two for checked mode

A file is written aside and renamed, so nobody sees half of it. Its last line, the seal, is the sha256 of all
before it: that tells a file which a crash or a full disk has damaged. (An ELF file may have more at its end.)
"""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

FORMAT = "softmetal 1"
_SEAL = b"sha256 "
_SEAL_BYTES = len(_SEAL) + 64 + 1


def functions_file(folder: Path, key: str) -> Path:
    return folder / key / "functions.txt"


def library_file(folder: Path, key: str, host_name: str | None = None, checked: bool = False) -> Path:
    """The library with every kernel, or with one."""
    name = "all" if host_name is None else f"fn-{hashlib.sha256(host_name.encode()).hexdigest()[:16]}"
    return folder / key / f"{'checked-' if checked else ''}{name}.so"


def functions_text(host_names: Sequence[str]) -> str:
    """Host names sorted by their bytes, as the device searches them."""
    return "\n".join([FORMAT, *sorted(host_names, key=str.encode), ""])


def read_functions(path: Path) -> list[str]:
    """The host names that a functions.txt lists."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines[1:] if not line.startswith(_SEAL.decode())]


def publish(aside: Path, target: Path) -> None:
    """Seal the file `aside`, on the same file system, and make it `target`, in one step if power fails."""
    with aside.open("r+b") as file:
        file.write(_seal(file.read()))
        file.flush()
        os.fsync(file.fileno())
    target.parent.mkdir(parents=True, exist_ok=True)
    aside.replace(target)


def is_whole(path: Path) -> bool:
    """Whether the file is there, sealed and as it was written."""
    try:
        content = path.read_bytes()
    except OSError:
        return False
    body, seal = content[:-_SEAL_BYTES], content[-_SEAL_BYTES:]
    return seal == _seal(body)


def unsealed(path: Path) -> bytes:
    """The content of a whole file, without its seal."""
    return path.read_bytes()[:-_SEAL_BYTES]


def _seal(content: bytes) -> bytes:
    return _SEAL + hashlib.sha256(content).hexdigest().encode() + b"\n"
