"""The build of a row as a graph for ninja: generate, compile, link, prebuild the kernels.

Runs in the checkout's folder with relative paths. A step's inputs are what it reads; the compilers add the
headers they saw.
"""

import io
import shlex
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from ninja.ninja_syntax import Writer

from ..softmetal.toolchain import Toolchain
from .embed import embedded_sources
from .files import write_if_changed
from .groups import PACKAGE, Group, header_folders, headers_below, is_executor, library_groups
from .layout import Layout

BUILD = PACKAGE / "_build"
# -fexceptions for every language: an abort is a C++ exception that passes through C and Objective-C frames.
# NDEBUG as in upstream's release builds. -g0 because zig writes debug information unless told not to.
COMMON_FLAGS = ("-O2", "-g0", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-fexceptions", "-pthread")
C_FLAGS = ("-std=gnu11",)
# Without static destructors: a process may exit while threads compute or buffers live, and the destructors
# of upstream's globals would run under them (the device list asserts that no buffer is left).
CXX_FLAGS = ("-std=gnu++17", "-fvisibility-inlines-hidden", "-fno-c++-static-destructors")
MACOS_FRAMEWORKS = ("-framework", "Foundation", "-framework", "Metal", "-framework", "MetalKit")
# zig's own runtime libraries have debug information; it compiles them once more for a link that keeps it.
STRIP = "-Wl,--strip-debug"
KERNEL_MACROS = ("GGML_METAL_EMBED_LIBRARY=1", "GGML_METAL_HAS_BF16=1")
"""As upstream passes them when it compiles the embedded source on softmetal's device."""


def write_graph(layout: Layout, toolchain: Toolchain, *, kernels: bool, jobs: int) -> Path:
    """Write the row's build.ninja, the version header and the Metal sources that are embedded.

    `kernels` adds the prebuild of all kernels, with `jobs` compilers at once. Returns the path relative to
    `layout.root`.
    """
    write_if_changed(layout.root / layout.version_header, _version_header(layout))
    graph = _Graph(layout, toolchain)
    graph.rules()
    library = graph.library()
    graph.extension(library)
    if kernels and toolchain.kind != "apple":
        graph.kernels(jobs)
    path = layout.objects / "build.ninja"
    write_if_changed(layout.root / path, graph.text())
    return path


class _Graph:
    def __init__(self, layout: Layout, toolchain: Toolchain) -> None:
        self._layout = layout
        self._toolchain = toolchain
        self._apple = toolchain.kind == "apple"
        self._buffer = io.StringIO()
        self._ninja = Writer(cast(Any, self._buffer), width=1_000_000)  # its stub says str
        self._metal_sources = self._embedded()
        self._library_objects: list[Path] = []

    def text(self) -> str:
        return self._buffer.getvalue()

    def rules(self) -> None:
        ninja = self._ninja
        ninja.comment(f"Made by ggml_metal_py._build for {self._layout.row.name}; ./build.sh makes it again.")
        ninja.variable("builddir", str(self._layout.objects))
        ninja.variable("cc", _join(self._toolchain.cc))
        ninja.variable("cxx", _join(self._toolchain.cxx))
        ninja.variable("python", _join([sys.executable]))
        for name, compiler, flags in (("c", "$cc", C_FLAGS), ("cxx", "$cxx", CXX_FLAGS), ("asm", "$cc", ())):
            ninja.rule(
                f"compile_{name}",
                f"{compiler} {_join(COMMON_FLAGS)} {_join(flags)} $flags -MD -MF $out.d -c $in -o $out",
                description="compile $in",
                depfile="$out.d",
                deps="gcc",
            )
        ninja.rule("link", "$cxx $in -o $out $flags", description="link $out")
        # zig compiles its C++ library for every new set of flags, so what needs none is linked as C.
        ninja.rule("link_c", "$cc $in -o $out $flags", description="link $out")
        ninja.rule("generate", "$python -m $module $arguments", description="generate $out", restat=True)
        # The console pool shows the step's own progress.
        ninja.rule(
            "kernels",
            "$python -m $module $arguments && touch $out",
            description="compile kernels",
            pool="console",
        )
        ninja.rule("copy", "cp $in $out", description="copy $in")

    def library(self) -> Path:
        generated = self._generate()
        objects = [
            self._compile(source, group, generated if group.name == "decl" else [])
            for group in library_groups(self._layout, self._toolchain)
            for source in group.sources
        ]
        objects += [self._embed(stem, path) for stem, path in self._metal_sources.items()]
        self._library_objects = objects
        name = self._layout.library_name(self._toolchain)
        out = self._layout.artifacts / name
        if self._apple:
            exports = BUILD / "exports.txt"
            flags = [
                "-dynamiclib",
                f"-Wl,-install_name,@rpath/{name}",
                f"-Wl,-exported_symbols_list,{exports}",
                *MACOS_FRAMEWORKS,
            ]
        else:
            exports = BUILD / "exports.map"
            flags = [
                "-shared",
                f"-Wl,-soname,{name}",
                f"-Wl,--version-script={exports}",
                "-Wl,-Bsymbolic",
                # dlclose followed by exit crashed: threads and thread-local destructors outlive the handle.
                "-Wl,-z,nodelete",
                "-Wl,-z,defs",
                "-Wl,--no-gc-sections",  # Objective-C's class tables are only reached by section
                STRIP,
                "-pthread",
                "-ldl",
                "-lm",
            ]
        self._build(out, "link", objects, implicit=[exports], flags=_join(flags))
        if metallib := self._layout.metallib:
            self._build(self._layout.artifacts / metallib.name, "copy", [metallib])
        return out

    def extension(self, library: Path) -> None:
        """The cffi extension: compiled against this Python's headers, for the stable ABI of any later one."""
        include = Path(sysconfig.get_path("include"))
        folders = [
            f"-I{folder}"
            for folder in (self._layout.generated, *header_folders(self._layout), PACKAGE / "decl")
        ]
        if not self._apple:
            folders.append(f"-I{PACKAGE}/softmetal/include")
        # Debian's pyconfig.h includes another one, relative to the folder above.
        python = ["-isystem", str(include), "-idirafter", str(include.parent)]
        # -O1: the wrappers only convert arguments, and there are many.
        group = Group("ext", (), ("-O1", "-w", *folders, *python))
        source = self._layout.generated / "ext.c"
        compiled = self._compile(source, group, [self._layout.generated / "table.h"])
        out = self._layout.artifacts / self._layout.extension_name
        flags = ["-bundle", "-undefined", "dynamic_lookup"] if self._apple else ["-shared", STRIP, "-ldl"]
        self._build(out, "link_c", [compiled], order_only=[library], flags=_join(flags))

    def kernels(self, jobs: int) -> None:
        """Prebuild every kernel: the longest step. It uses all cores by itself, so it starts when the library is
        compiled; the library's link, in which zig compiles its C++ library, leaves cores free for a minute."""
        softmetal = PACKAGE / "softmetal"
        service = [path for path in self._files_below(softmetal / "msl") if path.suffix != ".pyc"]
        executor = [path for path in self._files_below(softmetal / "exec") if is_executor(path)]
        for stem, source in self._metal_sources.items():
            out = self._layout.objects / f"{stem}.kernels"
            arguments = ["build", str(source), "--out", str(self._layout.artifacts / "kernels")]
            arguments += [word for macro in KERNEL_MACROS for word in ("-D", macro)]
            arguments += ["--jobs", str(jobs), "--progress"]
            self._build(
                out,
                "kernels",
                [source],
                implicit=[*service, *executor, softmetal / "toolchain.py"],
                order_only=self._library_objects,
                module=f"{PACKAGE.name}.softmetal.msl",
                arguments=_join(arguments),
            )

    def _files_below(self, folder: Path) -> list[Path]:
        root = self._layout.root
        return [path.relative_to(root) for path in sorted((root / folder).rglob("*")) if path.is_file()]

    def _embedded(self) -> dict[str, Path]:
        """Write the Metal sources as upstream embeds them; their paths by symbol stem."""
        paths = {}
        for stem, text in embedded_sources(self._layout.root / self._layout.upstream / "src").items():
            paths[stem] = self._layout.generated / f"{stem}.metal"
            write_if_changed(self._layout.root / paths[stem], text)
        return paths

    def _embed(self, stem: str, metal: Path) -> Path:
        flags = (f'-DEMBED_FILE="{metal}"', f"-DEMBED_START={stem}_start", f"-DEMBED_END={stem}_end")
        out = self._layout.objects / "embed" / f"{stem}.o"
        # The compiler's list of dependencies does not hold what the assembler includes.
        self._build(out, "compile_asm", [BUILD / "embed.S"], implicit=[metal], flags=_join(flags))
        return out

    def _generate(self) -> list[Path]:
        """table.h, table.cpp and ext.c from the row's headers."""
        folders = header_folders(self._layout)
        outputs = [self._layout.generated / name for name in ("table.h", "table.cpp", "ext.c")]
        own = [PACKAGE / "decl", PACKAGE / "softmetal" / "include"]
        code = sorted((self._layout.root / PACKAGE / "decl").glob("*.py"))
        arguments = ["--row", self._layout.row.name, "--out", str(self._layout.generated)]
        arguments += [word for folder in folders for word in ("--include", str(folder))]
        self._ninja.build(
            [str(path) for path in outputs],
            "generate",
            implicit=[
                str(path)
                for path in (
                    *(path.relative_to(self._layout.root) for path in code),
                    PACKAGE / "softmetal" / "toolchain.py",
                    *headers_below(self._layout, [*folders, *own]),
                )
            ],
            variables={"module": f"{PACKAGE.name}.decl.generate", "arguments": _join(arguments)},
        )
        return outputs

    def _compile(self, source: Path, group: Group, order_only: Sequence[Path]) -> Path:
        rule, flags = "compile_c", group.flags
        if source.suffix in {".cpp", ".mm"}:
            rule, flags = "compile_cxx", flags + group.cxx_flags
        elif source.suffix == ".S":
            rule = "compile_asm"
        if source.suffix in {".m", ".mm"}:
            flags += group.objc_flags
        # Sources of one name lie in several folders of a group: the object keeps the last folder's name.
        out = self._layout.objects / group.name / f"{source.parent.name}-{source.name}.o"
        self._build(out, rule, [source], order_only=order_only, flags=_join(flags))
        return out

    def _build(
        self,
        out: Path,
        rule: str,
        inputs: Iterable[Path],
        *,
        implicit: Iterable[Path] = (),
        order_only: Iterable[Path] = (),
        **variables: str,
    ) -> None:
        self._ninja.build(
            [str(out)],
            rule,
            [str(path) for path in inputs],
            implicit=[str(path) for path in implicit],
            order_only=[str(path) for path in order_only],
            variables=variables,
        )


def _version_header(layout: Layout) -> str:
    """What upstream's CMake defines on the command line, since ggml 0.25 in a header of this name.

    A row that does not state its version leaves it to ggml.c, which says "unknown".
    """
    lines = ["#pragma once"]
    if layout.row.ggml_version is not None:
        lines += [f'#define GGML_VERSION "{layout.row.ggml_version}"', '#define GGML_COMMIT "unknown"']
    return "\n".join(lines) + "\n"


def _join(words: Iterable[str]) -> str:
    """As a shell command in a ninja file."""
    return shlex.join(words).replace("$", "$$")
