"""manifest.json beside a row's library: what it was built from, and what is there."""

import hashlib
import json
import shutil
from pathlib import Path

from .._native import headers_sha256
from ..softmetal.msl.key import source_key
from ..softmetal.msl.store import read_functions
from ..softmetal.toolchain import Toolchain
from .constants import function_constants
from .files import write_if_changed
from .graph import KERNEL_MACROS
from .groups import PACKAGE
from .layout import SOFTMETAL_OBJECTS, Layout


def write_artifact_manifest(layout: Layout, toolchain: Toolchain) -> Path:
    """Describe what lies in the row's artifact folder, after a build."""
    artifact = layout.row.artifact
    declared, prebuilt = _kernel_counts(layout.root / layout.artifacts / "kernels")
    content = {
        "row": layout.row.name,
        "package": artifact.package,
        "version": artifact.version,
        "archive_sha256": artifact.sha256,
        "ggml_version": layout.row.ggml_version,
        "compiler": {"kind": toolchain.kind, "version": toolchain.version},
        "arch": toolchain.arch,
        "cpu": toolchain.cpu,
        "library": layout.library_name(toolchain),
        "extension": layout.extension_name,
        "kernels": {"declared": declared, "prebuilt": prebuilt, "source": layout.row.metallib is None},
        "function_constants": {str(index): name for index, name in function_constants(layout).items()},
        "headers_sha256": headers_sha256(),
        "inputs_sha256": inputs_sha256(layout),
    }
    path = layout.root / layout.artifacts / "manifest.json"
    write_if_changed(path, json.dumps(content, indent=2) + "\n")
    return path


def remove_stale_kernels(layout: Layout) -> None:
    """Remove the kernels of Metal sources that the library does not embed any more."""
    sources = (layout.root / layout.generated).glob("*.metal")
    macros = dict(macro.split("=") for macro in KERNEL_MACROS)
    current = {source_key(source.read_bytes(), macros) for source in sources}
    for folder in (layout.root / layout.artifacts / "kernels").glob("*"):
        if folder.name not in current:
            shutil.rmtree(folder)


def inputs_sha256(layout: Layout) -> str:
    """Identifies everything the artifacts were made from: the archive, the commands and our own sources."""
    digest = hashlib.sha256(layout.row.artifact.sha256.encode())
    digest.update((layout.root / layout.objects / "build.ninja").read_bytes())
    if (commands := layout.root / SOFTMETAL_OBJECTS / "build.ninja").is_file():
        digest.update(commands.read_bytes())
    for room in ("decl", "softmetal"):
        for path in sorted((layout.root / PACKAGE / room).rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(f"\0{path.relative_to(layout.root)}\0".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _kernel_counts(folder: Path) -> tuple[int, int]:
    """Kernels declared by the prebuilt tables, and those whose machine code is there."""
    declared = prebuilt = 0
    for table in folder.glob("*/functions.txt"):
        names = len(read_functions(table))
        declared += names
        if (table.parent / "all.so").is_file():
            prebuilt += names
    return declared, prebuilt
