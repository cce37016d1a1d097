"""The upstream rows: what vendor/upstreams.toml says, checked and typed."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..registry import REGISTRY_NAMES, Artifact

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
"""The folder of build.sh."""
MANIFEST = ROOT / "vendor" / "upstreams.toml"

_ARTIFACT_KEYS = {"registry", "package", "version", "file", "size", "sha256"}
_ROW_KEYS = {"ggml_version", "include", "src", "samples", "tests", "prefix", "metallib"}


class ManifestError(ValueError):
    """vendor/upstreams.toml is wrong, or has no such row; the message names the key or the rows."""


@dataclass(frozen=True)
class Row:
    """An upstream row: a package that carries ggml's sources, and where they lie in its archive.

    Paths are relative to the archive's single top folder.
    """

    name: str
    artifact: Artifact
    src: str
    """Folder of ggml's sources, with ggml-cpu and ggml-metal inside."""
    include: str | None = None
    """Folder of ggml's public headers; None when they lie with the sources."""
    ggml_version: str | None = None
    """What ggml_version() answers; None when the package does not state it."""
    samples: str | None = None
    """Folder of recordings (jfk.wav)."""
    tests: str | None = None
    """Folder of ggml's own tests."""
    prefix: str | None = None
    """Stripped from every identifier, in lower and in upper case: `wsp_` also removes `WSP_`."""
    metallib: str | None = None
    """File with Apple's compiled Metal library, of a package that carries no Metal source."""

    @property
    def identifier(self) -> str:
        """The name as part of a C identifier or a Python module."""
        return re.sub(r"[^0-9A-Za-z]", "_", self.name)


@dataclass(frozen=True)
class Manifest:
    """All rows, and the one that is built when none is named."""

    default: str
    rows: Mapping[str, Row]

    def row(self, name: str | None = None) -> Row:
        """The row of that name, or the default one. Raises ManifestError, naming the rows there are."""
        name = name or self.default
        if name not in self.rows:
            raise ManifestError(
                f"there is no upstream row {name!r}; vendor/upstreams.toml has {', '.join(self.rows)}"
            )
        return self.rows[name]


def read_manifest(path: Path = MANIFEST) -> Manifest:
    """Read and check the manifest. Raises ManifestError."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ManifestError(f"{path} is missing: run this from a checkout of the project") from None
    except tomllib.TOMLDecodeError as error:
        raise ManifestError(f"{path}: {error}") from error
    rows = {name: _row(name, table) for name, table in content.get("upstreams", {}).items()}
    manifest = Manifest(content.get("default", ""), rows)
    manifest.row()
    return manifest


def _row(name: str, table: Mapping[str, Any]) -> Row:
    if unknown := table.keys() - _ARTIFACT_KEYS - _ROW_KEYS:
        raise ManifestError(f"row {name}: unknown keys {', '.join(sorted(unknown))}")
    if "src" not in table:
        raise ManifestError(f"row {name}: the key src is missing")
    own = {key: value for key, value in table.items() if key in _ROW_KEYS}
    artifact = _artifact(name, {key: value for key, value in table.items() if key in _ARTIFACT_KEYS})
    return Row(name=name, artifact=artifact, **own)


def _artifact(name: str, table: Mapping[str, Any]) -> Artifact:
    if table.keys() != _ARTIFACT_KEYS:
        wrong = ", ".join(sorted(table.keys() ^ _ARTIFACT_KEYS))
        raise ManifestError(f"{name}: keys missing or unknown: {wrong}")
    if table["registry"] not in REGISTRY_NAMES:
        raise ManifestError(
            f"{name}: the registry is one of {', '.join(REGISTRY_NAMES)}, not {table['registry']!r}"
        )
    if not re.fullmatch(r"[0-9a-f]{64}", table["sha256"]):
        raise ManifestError(f"{name}: sha256 has 64 lower-case hexadecimal digits")
    return Artifact(**table)
