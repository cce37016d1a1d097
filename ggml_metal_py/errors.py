"""Every exception that this package raises on purpose. Wrong arguments raise ValueError or TypeError."""

import re
from collections.abc import Sequence
from typing import Any


class GgmlMetalError(Exception):
    """The base of all of them."""


class LibraryNotFound(GgmlMetalError):
    """The native library or its kernels cannot be loaded; says what was tried and what builds them."""

    def __init__(self, upstream: str, reason: str, tried: Sequence[str], built: Sequence[str] = ()) -> None:
        self.upstream = upstream
        self.reason = reason
        self.tried = tuple(tried)
        self.built = tuple(built)
        lines = [f"upstream {upstream!r} cannot be loaded: {reason}", "tried:"]
        lines += [f"  {path}" for path in tried]
        if built:
            lines.append(f"built here: {', '.join(built)}")
        lines.append(f"build it with: ./build.sh build --upstream {upstream}")
        lines.append("or set GGML_METAL_PY_LIB to the folder that holds it")
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[Any, ...]:
        """So that it comes out of other processes."""
        return type(self), (self.upstream, self.reason, self.tried, self.built)


class NotInUpstream(GgmlMetalError, NotImplementedError):
    """The open upstream row has no such function, type or argument."""


class ClosedError(GgmlMetalError, ValueError):
    """The object, or one that it needs, was closed."""


class ForkedError(GgmlMetalError, RuntimeError):
    """The library was opened before this process was forked; its threads exist in the parent only."""


class GgmlAbort(GgmlMetalError):
    """A GGML_ASSERT or GGML_ABORT inside a native call, which would have ended the process.

    `message` is upstream's text, `file` and `line` where it stands in upstream's sources; they are None
    when the failure was a C++ exception.
    """

    def __init__(self, text: str) -> None:
        located = re.match(r"(?P<file>[^\n]+?):(?P<line>\d+): (?P<message>.*)", text, re.DOTALL)
        self.message = located["message"] if located else text
        self.file = located["file"] if located else None
        self.line = int(located["line"]) if located else None
        super().__init__(text)


class KernelNotFound(GgmlMetalError, LookupError):
    """The library has no kernel or pipeline of that name. `name` is it."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason
        super().__init__(f"{name}: {reason}")

    def __reduce__(self) -> tuple[Any, ...]:
        """So that it comes out of other processes."""
        return type(self), (self.name, self.reason)


class CompileError(GgmlMetalError):
    """Metal source that does not compile; the text is the compiler's."""


class UnsupportedOp(GgmlMetalError):
    """The device cannot run an op with these types and shapes. Nothing was run."""


class ComputeError(GgmlMetalError):
    """The device could not start or finish a graph."""


class BackendPoisoned(GgmlMetalError):
    """The Backend failed in the middle of a graph before; close it and open another one."""
