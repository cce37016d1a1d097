"""Finds and opens the library and extension of an upstream row: the only place that knows paths and ABI.

Everything else gets a `Native` and calls `native.NAME(...)`. Such a call releases the GIL, and raises
GgmlAbort where upstream would have ended the process.
"""

import hashlib
import importlib.machinery
import importlib.util
import json
import os
import re
import shlex
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from .errors import ForkedError, GgmlAbort, KernelNotFound, LibraryNotFound, NotInUpstream
from .log import LogLines

DEFAULT_UPSTREAM = "pywhispercpp-1.5.1"
"""The row that is opened when none is named; vendor/upstreams.toml names the same."""

_IS_MACOS = sys.platform == "darwin"
_PACKAGE = Path(__file__).resolve().parent
_TEXT_SIZE = 4096

# `python -m ggml_metal_py.softmetal.msl`, from any working folder, whether the package is installed or not.
_RUN_COMPILER = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); "
    "runpy.run_module('ggml_metal_py.softmetal.msl', run_name='__main__', alter_sys=True)"
)
_COMPILER = (sys.executable, "-c", _RUN_COMPILER, str(_PACKAGE.parent))

_opened: dict[tuple[str, Path], "Native"] = {}
_opening = threading.Lock()


def chosen_upstream(upstream: str | None = None) -> str:
    """The row to open: the argument, else `GGML_METAL_PY_UPSTREAM`, else the default."""
    return upstream or os.environ.get("GGML_METAL_PY_UPSTREAM") or DEFAULT_UPSTREAM


def library_folder() -> Path:
    """The folder of all rows' artifacts: `GGML_METAL_PY_LIB`, else `lib` inside the package."""
    asked = os.environ.get("GGML_METAL_PY_LIB")
    return Path(asked).absolute() if asked else _PACKAGE / "lib"


def headers_sha256() -> str:
    """Identifies what this package and a row's library must agree on: our headers for C."""
    digest = hashlib.sha256()
    for folder in (_PACKAGE / "decl", _PACKAGE / "softmetal" / "include"):
        for path in sorted(folder.glob("*.h")):
            digest.update(f"\0{path.name}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def open_native(upstream: str | None = None) -> "Native":
    """The library of a row, opened once per process. Raises LibraryNotFound, ValueError."""
    row = chosen_upstream(upstream)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", row):
        raise ValueError(f"an upstream is named like {DEFAULT_UPSTREAM!r}, not {row!r}")
    folder = library_folder() / row
    with _opening:
        native = _opened.get((row, folder))
        if native is None:
            native = _opened[row, folder] = Native(row, folder)
        native.refuse_after_fork()
        return native


class Native:
    """The opened library of one row. Attributes are its functions, enum values and constants.

    A name that the row does not have raises NotInUpstream.
    """

    def __init__(self, row: str, folder: Path) -> None:
        self.row = row
        self.folder = folder
        self.forked = False
        self.encoding = threading.Lock()
        """Held while a graph is encoded. Of all command buffers on their way, `softmetal_abandon` must only
        meet those of the graph that failed."""
        self.getting = threading.Lock()
        """Held by getters of a row whose own cache of pipelines has no lock."""
        suffix = "dylib" if _IS_MACOS else "so"
        identifier = re.sub(r"[^0-9A-Za-z]", "_", row)
        self.library_path = folder / f"libggml-metal-py-{row}.{suffix}"
        self.extension_path = folder / f"_gmpy_{identifier}_.abi3.so"
        module = self._load_extension()
        self.ffi: Any = module.ffi
        self._lib: Any = module.lib
        self._open_library()
        self._events = self._lib.gmpy_events()
        self._log_lines = LogLines()
        self._level = self.ffi.new("int *")
        self._lost = self.ffi.new("uint64_t *")
        self._text = self.ffi.new("char[]", _TEXT_SIZE)
        if not _IS_MACOS:
            self._set_up_softmetal()
        _all_natives.add(self)

    # ---- calls

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # a half-made Native must not look for its own fields here
            raise AttributeError(name)
        try:
            value = getattr(self._lib, name)
        except AttributeError:
            raise NotInUpstream(f"upstream {self.row} has no {name}") from None
        if callable(value):
            value = self._guarded(value)
        setattr(self, name, value)  # the next use does not come here
        return value

    def has(self, name: str) -> bool:
        """Whether the row has this function or constant."""
        return hasattr(self._lib, name)

    def functions(self, prefix: str) -> list[str]:
        """Names of all bound functions that begin with `prefix`, sorted."""
        return sorted(name for name in dir(self._lib) if name.startswith(prefix))

    def function_type(self, name: str) -> Any:
        """cffi's description of a bound function: `args` and `result`."""
        return self.ffi.typeof(getattr(self._lib, name))

    def argument_types(self, name: str) -> tuple[str, ...]:
        """The C types of a bound function's arguments, in order."""
        return tuple(argument.cname for argument in self.function_type(name).args)

    def text(self, pointer: Any) -> str:
        """A C string as str; what is not UTF-8 in it is escaped."""
        return bytes(self.ffi.string(pointer)).decode(errors="backslashreplace")

    def _guarded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        events = self._events

        def call(*arguments: Any) -> Any:
            if self.forked:
                self.refuse_after_fork()
            result = function(*arguments)
            if events[0]:  # somebody aborted or logged: rare, and one load when not
                self._look_at_events()
            return result

        return call

    def _look_at_events(self) -> None:
        text = self.ffi.new("char[]", _TEXT_SIZE)
        failure = self._lib.gmpy_take_failure(text, _TEXT_SIZE)
        self._log_lines.drain(self._take_log)
        if failure == self._lib.GMPY_MISSING_KERNEL:
            name, _, reason = self.text(text).partition("\n")
            raise KernelNotFound(name, reason.strip() or "the library has no such kernel")
        if failure != self._lib.GMPY_NO_FAILURE:
            raise GgmlAbort(self.text(text))

    def _take_log(self) -> tuple[int, str] | None:
        found = self._lib.gmpy_take_log(self._level, self._text, _TEXT_SIZE, self._lost)
        if self._lost[0]:
            self._log_lines.report_lost(int(self._lost[0]))
        return (int(self._level[0]), self.text(self._text)) if found else None

    def take_errors(self) -> str:
        """What ggml logged as errors on this thread since `gmpy_collect_errors()`."""
        text = self.ffi.new("char[]", _TEXT_SIZE)
        self._lib.gmpy_take_errors(text, _TEXT_SIZE)
        return self.text(text).strip()

    def refuse_after_fork(self) -> None:
        """Raises ForkedError in a child of the process that opened the library."""
        if self.forked:
            raise ForkedError(
                "ggml_metal_py was opened before this process was forked, and its threads stayed in the "
                "parent; open it in the child only, or start the child with multiprocessing's 'spawn' method"
            )

    # ---- opening

    def _load_extension(self) -> ModuleType:
        name = self.extension_path.name.split(".")[0]
        for path in (self.library_path, self.extension_path):
            if not path.is_file():
                raise self.not_found(f"{path.name} is missing")
        if self.manifest.get("headers_sha256") not in (None, headers_sha256()):
            raise self.not_found("it was built from another version of this package's sources")
        loader = importlib.machinery.ExtensionFileLoader(name, str(self.extension_path))
        spec = importlib.util.spec_from_file_location(name, self.extension_path, loader=loader)
        assert spec is not None
        try:
            module = importlib.util.module_from_spec(spec)
            loader.exec_module(module)
        except ImportError as error:
            raise self.not_found(f"the extension does not load: {error}") from error
        return module

    def _open_library(self) -> None:
        # Upstream's residency sets count themselves at exit and abort when a buffer is still alive.
        os.environ.setdefault("GGML_METAL_NO_RESIDENCY", "1")
        reason = self.ffi.new("char[]", _TEXT_SIZE)
        if self._lib.gmpy_open(os.fsencode(self.library_path), reason, _TEXT_SIZE) != 0:
            raise self.not_found(f"the library does not load: {self.text(reason)}")

    def _set_up_softmetal(self) -> None:
        self._lib.softmetal_add_kernel_folder(os.fsencode(self.kernel_folder))
        if "SOFTMETAL_COMPILER" not in os.environ:
            self._lib.softmetal_set_compiler(os.fsencode(shlex.join(_COMPILER)))

    @cached_property
    def pipelines_are_values(self) -> bool:
        """Whether getters return the pipeline with its parameters by value, or the bare pipeline."""
        return bool(self.function_type("ggml_metal_library_get_pipeline").result.kind == "struct")

    @cached_property
    def op_names(self) -> list[str]:
        """Names of the ops by number, which differs from row to row: `op_names[0]` is `NONE`."""
        return [self.text(self._lib.ggml_op_name(number)) for number in range(self._lib.GGML_OP_COUNT)]

    def with_parameters(self, pipeline: Any) -> Any:
        """What the row's getters return, of a pipeline without parameters."""
        if not self.pipelines_are_values:
            return pipeline
        return self.ffi.new("struct ggml_metal_pipeline_with_params *", {"pipeline": pipeline})[0]

    def copy_of(self, kind: str, memory: Any) -> Any:
        """The value of type `kind`, a pointer type, that lies in `memory`; it lives on by itself."""
        pointer = self.ffi.cast(kind, memory)
        return self.ffi.new(kind, pointer[0])[0]

    @cached_property
    def _function_constants(self) -> dict[int, str]:
        return {int(index): name for index, name in self.manifest.get("function_constants", {}).items()}

    def function_constant_name(self, index: int) -> str | None:
        """How upstream's kernels call a function constant; None when nothing declares it.

        A row without the kernels' source has the macros only that they count from: `FC_MUL_MM + 1`.
        """
        names = self._function_constants
        if index in names:
            return names[index]
        first = max((known for known in names if known < index), default=None)
        if first is None or not names[first].isupper():
            return None
        return f"{names[first]} + {index - first}"

    @property
    def kernel_folder(self) -> Path:
        """Where the row's prebuilt kernels lie."""
        return self.folder / "kernels"

    @property
    def manifest(self) -> dict[str, Any]:
        """What the build wrote down about itself; empty when it wrote nothing."""
        with suppress(OSError, ValueError):
            content = json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))
            if isinstance(content, dict):
                return content
        return {}

    def kernel_counts(self) -> tuple[int, int] | None:
        """Declared and prebuilt kernels; None on Apple's own Metal, where nobody can tell."""
        if not self.has("softmetal_kernel_counts"):
            return None
        counts = self.ffi.new("int[2]")
        self.softmetal_kernel_counts(counts, counts + 1)
        return int(counts[0]), int(counts[1])

    def kernel_advice(self) -> str:
        """A further line for an error message, when kernels are missing: how to have them, if they exist."""
        if not self.manifest.get("kernels", {}).get("source", True):
            return f"\nupstream {self.row} ships no kernel source: it is for getters"
        counts = self.kernel_counts()
        if counts is None or counts[0] == counts[1]:
            return ""
        return (
            f"\n{counts[1]} of {counts[0]} kernels are prebuilt; "
            f"the others with: ./build.sh build --upstream {self.row}"
        )

    def not_found(self, reason: str) -> LibraryNotFound:
        """The error that names the paths and the command that builds what is missing."""
        tried = [str(self.library_path), str(self.extension_path), str(self.kernel_folder)]
        built = []
        with suppress(OSError):
            built = sorted(path.name for path in self.folder.parent.iterdir() if any(path.glob("libggml-*")))
        return LibraryNotFound(self.row, reason, tried, built)


_all_natives: "weakref.WeakSet[Native]" = weakref.WeakSet()


def _mark_forked() -> None:
    global _opening
    _opening = threading.Lock()  # another thread of the parent may have held it
    for native in _all_natives:
        native.forked = True


os.register_at_fork(after_in_child=_mark_forked)
