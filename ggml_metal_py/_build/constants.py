"""Names of a row's function constants, by index: as its kernels declare them, else the macro they count from.

Upstream's host code sets constants by number only; people read `FC_mul_mm_bc_inp`.
"""

import re
from pathlib import Path

from .layout import Layout

_MACRO = re.compile(r"^#define\s+(FC_\w+)\s+(\d+)", re.MULTILINE)
_DECLARED = re.compile(
    r"^\s*constant\s+\w+\s+(\w+)\s*\[\[function_constant\((\w+)\s*\+\s*(\d+)\)\]\]", re.MULTILINE
)


def function_constants(layout: Layout) -> dict[int, str]:
    """Index -> name, sorted. Groups whose kernels come without source have the macro's name only."""
    folder = layout.root / layout.upstream / "src" / "ggml-metal"
    macros = {
        name: int(number) for name, number in _MACRO.findall((folder / "ggml-metal-impl.h").read_text())
    }
    names = {number: name for name, number in macros.items()}
    for path in _kernel_sources(folder):
        for name, macro, offset in _DECLARED.findall(path.read_text()):
            names[macros[macro] + int(offset)] = name
    return dict(sorted(names.items()))


def _kernel_sources(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.suffix in (".metal", ".h")]
