"""A ninja file that compiles and links: the rules, and how a source of a group becomes an object."""

import io
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from ninja.ninja_syntax import Writer

from ..softmetal.toolchain import Toolchain
from .files import write_if_changed
from .groups import Group

# -fexceptions for every language: an abort is a C++ exception that passes through C and Objective-C frames.
# NDEBUG as in upstream's release builds. -g0 because zig writes debug information unless told not to.
COMMON_FLAGS = ("-O2", "-g0", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-fexceptions", "-pthread")
C_FLAGS = ("-std=gnu11",)
# Without static destructors: a process may exit while threads compute or buffers live, and the destructors
# of upstream's globals would run under them (the device list asserts that no buffer is left).
CXX_FLAGS = ("-std=gnu++17", "-fvisibility-inlines-hidden", "-fno-c++-static-destructors")


def object_file(folder: Path, source: Path, group: Group) -> Path:
    """Sources of one name lie in several folders of a group: the object keeps the last folder's name."""
    return folder / group.name / f"{source.parent.name}-{source.name}.o"


def join(words: Iterable[str]) -> str:
    """As a shell command in a ninja file."""
    return shlex.join(words).replace("$", "$$")


class NinjaFile:
    """Build statements on top of the rules for compiling. Objects and ninja's own files go to `folder`."""

    def __init__(self, title: str, folder: Path, toolchain: Toolchain) -> None:
        self.folder = folder
        self._buffer = io.StringIO()
        ninja = Writer(cast(Any, self._buffer), width=1_000_000)  # its stub says str
        ninja.comment(f"Made by ggml_metal_py._build for {title}; ./build.sh makes it again.")
        ninja.variable("builddir", str(folder))
        ninja.variable("cc", join(toolchain.cc))
        ninja.variable("cxx", join(toolchain.cxx))
        ninja.variable("python", join([sys.executable]))
        for name, compiler, flags in (("c", "$cc", C_FLAGS), ("cxx", "$cxx", CXX_FLAGS), ("asm", "$cc", ())):
            ninja.rule(
                f"compile_{name}",
                f"{compiler} {join(COMMON_FLAGS)} {join(flags)} $flags -MD -MF $out.d -c $in -o $out",
                description="compile $in",
                depfile="$out.d",
                deps="gcc",
            )
        self._ninja = ninja

    def rule(self, name: str, command: str, description: str, **options: Any) -> None:
        self._ninja.rule(name, command, description=description, **options)

    def build(
        self,
        outputs: Path | Sequence[Path],
        rule: str,
        inputs: Iterable[Path] = (),
        *,
        implicit: Iterable[Path] = (),
        order_only: Iterable[Path] = (),
        **variables: str,
    ) -> None:
        outputs = [outputs] if isinstance(outputs, Path) else outputs
        self._ninja.build(
            [str(path) for path in outputs],
            rule,
            [str(path) for path in inputs],
            implicit=[str(path) for path in implicit],
            order_only=[str(path) for path in order_only],
            variables=variables,
        )

    def compile(self, source: Path, group: Group, order_only: Sequence[Path] = ()) -> Path:
        """The object of a source in any language."""
        rule, flags = "compile_c", group.flags
        if source.suffix in {".cpp", ".mm"}:
            rule, flags = "compile_cxx", flags + group.cxx_flags
        elif source.suffix == ".S":
            rule = "compile_asm"
        if source.suffix in {".m", ".mm"}:
            flags += group.objc_flags
        out = object_file(self.folder, source, group)
        self.build(out, rule, [source], order_only=order_only, flags=join(flags))
        return out

    def write(self, root: Path) -> Path:
        """Write it when it changed; its path relative to `root`."""
        path = self.folder / "build.ninja"
        write_if_changed(root / path, self._buffer.getvalue())
        return path
