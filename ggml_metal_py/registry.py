"""Fetch a file of a package from its registry, by name, version and sha256.

Uses each registry's own client as the user configured it, so no host is named here. A file is in the
cache folder whole and verified, or not at all. Knows nothing of what the files are for.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import platformdirs

REGISTRY_NAMES = {"pypi": "PyPI", "npm": "npm"}


@dataclass(frozen=True)
class Artifact:
    """One file of one version of a package."""

    registry: str
    """`pypi` or `npm`."""
    package: str
    version: str
    file: str
    """The file's name on the registry."""
    size: int
    """Bytes."""
    sha256: str
    """Lower-case hexadecimal."""

    def __str__(self) -> str:
        source = f"{self.package} {self.version} from {REGISTRY_NAMES[self.registry]}"
        return f"{self.file} ({source}, sha256 {self.sha256})"


class FetchError(RuntimeError):
    """A file could not be had; the message says which one, why, and how to provide it."""


def cache_folder() -> Path:
    """The folder for what can be fetched or made again: `GGML_METAL_PY_CACHE`, else the user's cache."""
    if asked := os.environ.get("GGML_METAL_PY_CACHE"):
        return Path(asked)
    return platformdirs.user_cache_path("ggml_metal_py", appauthor=False)


def fetch(artifact: Artifact, say: Callable[[str], None] = lambda line: None) -> Path:
    """The path of the verified file, fetched when the cache has it not.

    With `GGML_METAL_PY_ARCHIVES` set, files come from that folder and no registry is asked. `say` gets a
    line before anything that takes long.

    Raises FetchError: not in that folder, no client, no network, or another content than was pinned.
    """
    if offline := os.environ.get("GGML_METAL_PY_ARCHIVES"):
        return _from_folder(artifact, Path(offline))
    cached = cache_folder() / "archives" / artifact.file
    if cached.is_file() and sha256_of(cached) == artifact.sha256:
        return cached
    say(f"fetching {artifact.file} ({artifact.size / 1e6:.1f} MB) from {REGISTRY_NAMES[artifact.registry]}")
    cached.parent.mkdir(parents=True, exist_ok=True)
    # Downloaded aside in the same file system and renamed when verified: an interrupted or concurrent
    # fetch never leaves half a file under the final name.
    with tempfile.TemporaryDirectory(dir=cached.parent, prefix=".fetching-") as aside:
        _DOWNLOADERS[artifact.registry](artifact, Path(aside))
        downloaded = Path(aside) / artifact.file
        if not downloaded.is_file():
            found = ", ".join(sorted(path.name for path in Path(aside).iterdir())) or "nothing"
            raise _cannot(artifact, f"the registry gave {found}")
        _verify(artifact, downloaded)
        os.replace(downloaded, cached)
    return cached


def sha256_of(path: Path) -> str:
    """Lower-case hexadecimal digest of a file's content."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _from_folder(artifact: Artifact, folder: Path) -> Path:
    path = folder / artifact.file
    if not path.is_file():
        raise _cannot(artifact, f"it is not in {folder}, where GGML_METAL_PY_ARCHIVES points")
    _verify(artifact, path)
    return path


def _verify(artifact: Artifact, path: Path) -> None:
    found = sha256_of(path)
    if found != artifact.sha256:
        raise _cannot(artifact, f"{path.name} has the sha256 {found}")


def _cannot(artifact: Artifact, reason: str) -> FetchError:
    return FetchError(
        f"cannot fetch {artifact}: {reason}. Put that very file into a folder and set GGML_METAL_PY_ARCHIVES "
        "to the folder to go without the registry."
    )


def _download_from_pypi(artifact: Artifact, folder: Path) -> None:
    # Not `pip download`: for a source archive that runs the package's build to learn its metadata.
    kind = "--only-binary" if artifact.file.endswith(".whl") else "--no-binary"
    requirement = f"{artifact.package}=={artifact.version}"
    command = [sys.executable, "-m", "unearth", kind, requirement, "--download", str(folder)]
    for url in _pip_indexes():
        command += ["--index-url", url]
    _run(artifact, command, folder, client=f"{sys.executable} -m pip install unearth")


def _download_from_npm(artifact: Artifact, folder: Path) -> None:
    command = ["npm", "pack", f"{artifact.package}@{artifact.version}", "--pack-destination", str(folder)]
    _run(artifact, command, folder, client="the package nodejs/npm of your system")


_DOWNLOADERS: dict[str, Callable[[Artifact, Path], None]] = {
    "pypi": _download_from_pypi,
    "npm": _download_from_npm,
}


def _pip_indexes() -> list[str]:
    """The index that pip is configured with, which unearth does not read; empty for the default one."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    )
    # Later lines take precedence: global, user, site, environment.
    urls = [line.partition("=")[2] for line in done.stdout.splitlines() if ".index-url=" in line]
    return [urls[-1].strip("'\"")] if urls else []


def _run(artifact: Artifact, command: list[str], folder: Path, client: str) -> None:
    if shutil.which(command[0]) is None:
        raise _cannot(artifact, f"{command[0]} is not installed (install {client})")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise _cannot(artifact, f"`{' '.join(command[:4])}` failed: {lines[-1] if lines else 'no message'}")
