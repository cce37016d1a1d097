"""The upstream rows: which are pinned, fetched and built here."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from ._build.layout import Layout
from ._build.manifest import Manifest, ManifestError, read_manifest
from ._native import DEFAULT_UPSTREAM, library_folder


@dataclass(frozen=True)
class Upstream:
    """One row. `package` and `version` name the archive of a registry that it is made from."""

    name: str
    package: str
    version: str
    ggml_version: str | None
    """None where the package does not state it."""
    fetched: bool
    """Whether its sources are unpacked in the checkout."""
    built: bool
    default: bool


def upstreams() -> list[Upstream]:
    """The rows of vendor/upstreams.toml in its order, then others that are built. Outside of a checkout only
    what is built is known."""
    return list(_rows())


def _rows() -> Iterator[Upstream]:
    folder = library_folder()
    manifests = {path.parent.name: path for path in folder.glob("*/manifest.json")}
    pinned = Manifest(DEFAULT_UPSTREAM, {})
    with suppress(ManifestError):
        pinned = read_manifest()
    for row in pinned.rows.values():
        layout = Layout(row)
        yield Upstream(
            row.name,
            row.artifact.package,
            row.artifact.version,
            row.ggml_version,
            fetched=(layout.root / layout.upstream).is_dir(),
            built=manifests.pop(row.name, None) is not None,
            default=row.name == pinned.default,
        )
    for name, path in sorted(manifests.items()):
        content = json.loads(path.read_text(encoding="utf-8"))
        yield Upstream(
            name,
            content["package"],
            content["version"],
            content["ggml_version"],
            fetched=False,
            built=True,
            default=name == pinned.default,
        )
