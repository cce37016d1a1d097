"""One build of the compiler service, from a source file to the files in store.py's layout."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..toolchain import Toolchain
from . import store
from .compile import Progress, link_kernels
from .errors import MslError
from .key import source_key
from .preprocess import preprocess
from .scratch import scratch
from .shelf import Shelf
from .translate import Translation, translate


@dataclass(frozen=True)
class Source:
    """An MSL source with its macros."""

    content: bytes
    macros: Mapping[str, str]
    name: str
    """What diagnostics call it."""
    folder: Path
    """Where its own `#include "..."` are looked up."""

    @classmethod
    def read(cls, path: Path, macros: Mapping[str, str], name: str | None = None) -> "Source":
        return cls(path.read_bytes(), macros, name or path.name, path.parent)

    @property
    def key(self) -> str:
        return source_key(self.content, self.macros)


@dataclass(frozen=True)
class Wanted:
    """What to make of a source: every kernel, or the one named `function`, or no more than their names.

    `checked` kernels are for checked mode.
    """

    functions_only: bool = False
    function: str | None = None
    checked: bool = False

    def file(self, folder: Path, key: str) -> Path:
        """Where it lies: a kernel library, or functions.txt."""
        if self.functions_only:
            return store.functions_file(folder, key)
        return store.library_file(folder, key, self.function, self.checked)


EVERYTHING = Wanted()


def build(
    source: Path,
    folder: Path,
    macros: Mapping[str, str],
    toolchain: Toolchain,
    wanted: Wanted = EVERYTHING,
    *,
    jobs: int = 1,
    progress: Progress = lambda done, total: None,
    keep: Path | None = None,
) -> Path:
    """Compile a source file into `folder`; see build_source."""
    read = Source.read(source, macros)
    with scratch(folder) as work:
        return build_source(read, folder, toolchain, work, wanted, jobs=jobs, progress=progress, keep=keep)


def build_source(
    source: Source,
    folder: Path,
    toolchain: Toolchain,
    work: Path,
    wanted: Wanted = EVERYTHING,
    *,
    jobs: int = 1,
    progress: Progress = lambda done, total: None,
    keep: Path | None = None,
    shelf: Path | None = None,
) -> Path:
    """Compile what is wanted into `folder`, and list the kernels in any case. Returns the wanted file.

    `work` is a folder for files on the way, on the same file system. `keep` is a folder where compiled units
    stay for the next build of this source, `shelf` one for what builds of its other kernels can use. Raises
    MslError.
    """
    toolchain = toolchain.working_in(work)
    own = Shelf(shelf, work)

    def translated() -> Translation:
        text = source.content.decode("utf-8", "replace")
        preprocessed = preprocess(text, source.name, source.macros, source.folder, toolchain)
        return translate(preprocessed, fibers=wanted.checked)

    translation = own.translation("checked-translation" if wanted.checked else "translation", translated)
    kernels = translation.program.kernels
    if not kernels:
        raise MslError(f"{source.name}: no kernel functions\n")
    listed = work / "functions.txt"
    listed.write_text(store.functions_text([kernel.host_name for kernel in kernels]), encoding="utf-8")
    if wanted.function is not None:
        kernels = [kernel for kernel in kernels if kernel.host_name == wanted.function]
        if not kernels:
            raise MslError(f'{source.name}: no kernel with the host name "{wanted.function}"\n')
    store.publish(listed, store.functions_file(folder, source.key))
    target = wanted.file(folder, source.key)
    if not wanted.functions_only:
        checked = source.content.decode("utf-8", "replace").splitlines() if wanted.checked else None
        link_kernels(translation, kernels, source.key, target, toolchain, own, jobs, progress, keep, checked)
    return target
