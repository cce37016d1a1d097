"""The upstream rows there are, pinned or built, and the ggml version of each."""

from __future__ import annotations

import json
from contextlib import suppress

from .._build.manifest import ManifestError, read_manifest
from .._native import DEFAULT_UPSTREAM, library_folder


def built() -> list[str]:
    """Rows whose library lies in the library folder, the default one first."""
    manifests = library_folder().glob("*/manifest.json")
    return sorted((path.parent.name for path in manifests), key=lambda name: (name != DEFAULT_UPSTREAM, name))


def ggml_versions() -> dict[str, str | None]:
    """Version by row; None where a package does not state it."""
    versions: dict[str, str | None] = {}
    with suppress(ManifestError):  # not in a checkout: only what is built can be told
        versions.update({name: row.ggml_version for name, row in read_manifest().rows.items()})
    for name in built():
        content = json.loads((library_folder() / name / "manifest.json").read_text(encoding="utf-8"))
        versions[name] = content.get("ggml_version") or versions.get(name)
    return versions
