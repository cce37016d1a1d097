"""One build of the compiler service, from a source file to the files in store.py's layout."""

from collections.abc import Mapping
from pathlib import Path

from ..toolchain import Toolchain
from . import store
from .compile import Progress, link_kernels
from .errors import MslError
from .key import source_key
from .preprocess import preprocess
from .translate import translate


def build(
    source: Path,
    folder: Path,
    macros: Mapping[str, str],
    toolchain: Toolchain,
    *,
    functions_only: bool = False,
    function: str | None = None,
    jobs: int = 1,
    progress: Progress = lambda done, total: None,
    keep: Path | None = None,
) -> Path:
    """Compile every kernel of `source`, or the one named `function`, or none but list them.

    `keep` is a folder where compiled units stay for the next build of this source.
    Returns the file that was asked for: a kernel library, or functions.txt. Raises MslError.
    """
    content = source.read_bytes()
    key = source_key(content, macros)
    preprocessed = preprocess(
        content.decode("utf-8", "replace"), source.name, macros, source.parent, toolchain
    )
    translation = translate(preprocessed)
    kernels = translation.program.kernels
    if not kernels:
        raise MslError(f"{source.name}: no kernel functions\n")
    if function is not None:
        kernels = [kernel for kernel in kernels if kernel.host_name == function]
        if not kernels:
            raise MslError(f'{source.name}: no kernel with the host name "{function}"\n')
    store.write_functions(folder, key, [kernel.host_name for kernel in translation.program.kernels])
    if functions_only:
        return store.functions_file(folder, key)
    library = store.library_file(folder, key, function)
    link_kernels(translation, kernels, key, library, toolchain, jobs, progress, keep)
    return library
