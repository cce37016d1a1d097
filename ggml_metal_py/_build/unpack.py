"""From a fetched archive to the sources that are compiled, in one shape for every row.

    <build>/upstream/ROW/include/*.h       ggml's public headers, unless they lie with the sources
    <build>/upstream/ROW/src/              ggml, with ggml-cpu/ and ggml-metal/; no other backend
    <build>/upstream/ROW/{samples,tests}/  where the row has them
    <build>/upstream/ROW/metallib/         Apple's compiled Metal library, where it stands for the source

The text is upstream's, byte for byte, but for the prefix that the row says to strip.
"""

import dataclasses
import hashlib
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from ..registry import fetch
from .manifest import Row

SOURCE_SUFFIXES = {".h", ".c", ".cpp", ".m", ".metal"}
BACKENDS = {"ggml-cpu", "ggml-metal"}
STAMP = ".unpacked"


class UnpackError(RuntimeError):
    """The archive does not hold what the manifest says."""


def unpack(row: Row, folder: Path, say: Callable[[str], None] = lambda line: None) -> Path:
    """Have the row's sources in `folder`, which is replaced as a whole when it is not up to date.

    Returns the folder. Raises registry.FetchError and UnpackError.
    """
    stamp = _stamp(row)
    marker = folder / STAMP
    if marker.is_file() and marker.read_text() == stamp:
        return folder
    archive = fetch(row.artifact, say)
    say(f"unpacking {archive.name}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{row.name}-"))
    try:
        _extract(row, archive, aside)
        (aside / STAMP).write_text(stamp)
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(aside, folder)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    return folder


def _stamp(row: Row) -> str:
    """Identifies what was unpacked and how: the row and this very code."""
    code = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    return json.dumps({"row": dataclasses.asdict(row), "code": code}, sort_keys=True)


def _extract(row: Row, archive: Path, target: Path) -> None:
    wanted = {
        "include": (row.include, _is_header_at_top),
        "src": (row.src, _is_ggml_source),
        "samples": (row.samples, _is_recording),
        "tests": (row.tests, _is_source),
    }
    if row.metallib is not None:
        file = PurePosixPath(row.metallib)
        wanted["metallib"] = (str(file.parent), lambda path: str(path) == file.name)
    counts = dict.fromkeys((name for name, (path, _) in wanted.items() if path), 0)
    with tarfile.open(archive) as tar:
        for member in tar:
            inside = PurePosixPath(*PurePosixPath(member.name).parts[1:])
            for name in counts:
                path, wants = wanted[name]
                if not member.isfile() or not path or not inside.is_relative_to(path):
                    continue
                relative = inside.relative_to(path)
                if ".." in relative.parts or not wants(relative):
                    continue
                content = tar.extractfile(member)
                assert content is not None  # member.isfile()
                destination = target / name / relative
                destination.parent.mkdir(parents=True, exist_ok=True)
                destination.write_bytes(_strip_prefix(content.read(), row.prefix, relative))
                counts[name] += 1
    if empty := [name for name, count in counts.items() if count == 0]:
        raise UnpackError(
            f"{archive.name} has no files for {', '.join(empty)} of row {row.name}: see vendor/upstreams.toml"
        )


def _is_header_at_top(path: PurePosixPath) -> bool:
    return len(path.parts) == 1 and path.suffix == ".h" and path.name.startswith(("ggml", "gguf"))


def _is_ggml_source(path: PurePosixPath) -> bool:
    top = path.parts[0]
    inside = top in BACKENDS if len(path.parts) > 1 else top.startswith(("ggml", "gguf"))
    return inside and _is_source(path)


def _is_source(path: PurePosixPath) -> bool:
    return path.suffix in SOURCE_SUFFIXES


def _is_recording(path: PurePosixPath) -> bool:
    return path.suffix == ".wav"


def _strip_prefix(content: bytes, prefix: str | None, path: PurePosixPath) -> bytes:
    if prefix is None or path.suffix not in SOURCE_SUFFIXES:
        return content
    return content.replace(prefix.lower().encode(), b"").replace(prefix.upper().encode(), b"")
