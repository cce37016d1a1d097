"""The host names that a row's kernel sources declare, from the fetched files and not from the library."""

import re
from functools import cache
from pathlib import Path

from .rows import Row

UPSTREAM = Path(__file__).resolve().parents[2] / "build" / "upstream"

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INSTANCE = re.compile(r'host_name\(\s*"([^"]+)"\s*\)')
_PLAIN = re.compile(
    r"(?:^|[};])(?:\s|#[^\n]*\n)*kernel\s+void\s+(\w+)\s*\("
)  # a template's ends the line with >
# How a compiled Metal library tags the name of each function; two bytes are its length.
_COMPILED = re.compile(rb"NAME..(\w+)\0", re.DOTALL)


@cache
def host_names(row: Row) -> frozenset[str]:
    """Every name that `newFunctionWithName` finds in the row's kernel library."""
    folder = UPSTREAM / row.upstream
    names: set[str] = set()
    for source in sorted(folder.rglob("*.metal")):
        text = _COMMENT.sub("", source.read_text(encoding="utf-8"))
        names.update(_INSTANCE.findall(text))
        names.update(_PLAIN.findall(text))
    for library in sorted(folder.rglob("*.metallib")):
        names.update(name.decode() for name in _COMPILED.findall(library.read_bytes()))
    assert names, f"no kernels of {row.upstream} under {folder}: ./build.sh build fetches them"
    return frozenset(names)
