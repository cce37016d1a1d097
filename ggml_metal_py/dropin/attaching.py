"""Loads our library as a backend into the ggml of another host in this process."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .. import device
from .._native import Native, chosen_upstream, open_native
from ..errors import GgmlMetalError
from ..upstreams import upstreams
from . import counters, process
from .hosts import HOSTS

_DEVICE_TYPE_CPU = 0  # enum ggml_backend_dev_type


class HostError(GgmlMetalError):
    """The backend could not be put into a host."""


class HostNotFound(HostError):
    """No ggml host is loaded in this process."""


class HostMismatch(HostError):
    """The host's ggml is another version than the library's: struct slots and op numbers differ."""


@dataclass(frozen=True)
class Attachment:
    """A host's libggml that has the backend, and the upstream row the backend was built from."""

    host_library: Path
    ggml_version: str
    row: str
    native: Native = field(repr=False)

    def set_device_threads(self, threads: int) -> None:
        """Threads that run the kernels; Apple's own Metal has no such setting."""
        if self.native.has("softmetal_set_threads"):
            self.native.softmetal_set_threads(threads)

    def collect_errors(self) -> None:
        """Keep what the backend logs as errors on this thread from now on, until take_errors()."""
        self.native.gmpy_collect_errors()

    def take_errors(self) -> str:
        """What was kept; empty when all went well."""
        return self.native.take_errors()


_attached: dict[Path, Attachment] = {}
_lock = threading.Lock()


def attach(row: str | None = None) -> list[Attachment]:
    """Load the backend into every ggml host that this process has loaded, before it makes its models.

    A host then finds a GPU device in its registry, and its CPU backend is watched, so that
    `counters.read()` can tell what ran where. `row` is the upstream row to load, by default
    GGML_METAL_PY_UPSTREAM, else the built row whose ggml version is the host's. Attaching again does
    nothing.

    Raises: HostNotFound; HostMismatch, naming both versions and what to build; LibraryNotFound when the row
    is not built; HostError when the host refuses the library.
    """
    with _lock:
        hosts = list(_host_libraries())
        if not hosts:
            packages = ", ".join(host.package for host in HOSTS)
            raise HostNotFound(
                f"no libggml of another package is loaded here: import one first (known: {packages}), "
                "or start the program with `ggml-metal-py run -- COMMAND`"
            )
        # Every host is checked before the first is touched.
        chosen = [(path, library, version, _row_for(version, path, row)) for path, library, version in hosts]
        for path, library, version, name in chosen:
            if path not in _attached:
                device.open(name).close()  # says what is missing, where a host would crash on it
                native = open_native(name)
                _load_into(library, path, native)
                _attached[path] = Attachment(path, version, name, native)
        return [_attached[path] for path, *_ in hosts]


def _host_libraries() -> Iterator[tuple[Path, ctypes.CDLL, str]]:
    """Path, handle and ggml version of each loaded libggml that has a backend registry of its own."""
    for path in process.loaded_libraries():
        if not path.name.startswith("libggml"):
            continue
        try:
            library = process.open_loaded(path)
            library.ggml_backend_load.restype = ctypes.c_void_p
        except (OSError, AttributeError):
            continue  # libggml-base, libggml-cpu, or one of ours: they export no registry
        try:
            library.ggml_version.restype = ctypes.c_char_p
            yield path, library, library.ggml_version().decode()
        except AttributeError:
            yield path, library, "older than 0.9.4"


def _row_for(host_version: str, path: Path, asked: str | None) -> str:
    """The row to load into a host of that ggml version. Raises: HostMismatch."""
    rows = upstreams()
    versions = {known.name: known.ggml_version for known in rows}
    row = asked or os.environ.get("GGML_METAL_PY_UPSTREAM")
    if row is None:
        default_first = sorted(rows, key=lambda known: not known.default)
        built = [known.name for known in default_first if known.built and known.ggml_version == host_version]
        row = built[0] if built else chosen_upstream()
    ours = versions.get(row)
    if ours == host_version:
        return row
    matching = [name for name, version in versions.items() if version == host_version]
    if matching:
        advice = f"build the matching one: ./build.sh build --upstream {matching[0]}"
    else:
        pinned = ", ".join(sorted(set(filter(None, versions.values()))))
        advice = f"no upstream row has that version (there are {pinned})"
    raise HostMismatch(
        f"the host has ggml {host_version} ({path}), but upstream {row} has ggml "
        f"{ours or 'of an unknown version'}, and they must be equal; {advice}"
    )


def _load_into(library: ctypes.CDLL, path: Path, native: Native) -> None:
    by_type = library.ggml_backend_dev_by_type
    by_type.restype, by_type.argtypes = ctypes.c_void_p, [ctypes.c_int]
    counters.watch(native, by_type(_DEVICE_TYPE_CPU))
    library.ggml_backend_load.argtypes = [ctypes.c_char_p]
    if not library.ggml_backend_load(os.fsencode(native.library_path)):
        raise HostError(f"{path} does not take {native.library_path}: its reason is on stderr")
