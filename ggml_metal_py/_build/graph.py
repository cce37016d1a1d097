"""The build of a row as a graph for ninja: generate, compile, link, prebuild the kernels.

Runs in the checkout's folder with relative paths. A step's inputs are what it reads; the compilers add the
headers they saw.
"""

import sysconfig
from pathlib import Path

from ..softmetal.toolchain import Toolchain
from .embed import embedded_sources
from .files import write_if_changed
from .groups import (
    PACKAGE,
    Group,
    header_folders,
    headers_below,
    is_executor,
    row_groups,
    softmetal_group,
)
from .layout import SOFTMETAL_OBJECTS, Layout
from .ninja_file import NinjaFile, join, object_file

BUILD = PACKAGE / "_build"
MACOS_FRAMEWORKS = ("-framework", "Foundation", "-framework", "Metal", "-framework", "MetalKit")
# zig's own runtime libraries have debug information; it compiles them once more for a link that keeps it.
STRIP = "-Wl,--strip-debug"
KERNEL_MACROS = ("GGML_METAL_EMBED_LIBRARY=1", "GGML_METAL_HAS_BF16=1")
"""As upstream passes them when it compiles the embedded source on softmetal's device."""


def write_softmetal_graph(root: Path, toolchain: Toolchain) -> Path:
    """Write the build.ninja of softmetal's objects, the same for every row; its path relative to `root`."""
    ninja = NinjaFile("softmetal", SOFTMETAL_OBJECTS, toolchain)
    group = softmetal_group(root)
    for source in group.sources:
        ninja.compile(source, group)
    return ninja.write(root)


def write_graph(layout: Layout, toolchain: Toolchain, *, kernels: bool, jobs: int) -> Path:
    """Write the row's build.ninja, the version header and the Metal sources that are embedded.

    `kernels` adds the prebuild of all kernels, with `jobs` compilers at once; without it, they are only
    listed. Returns the path relative to `layout.root`.
    """
    write_if_changed(layout.root / layout.version_header, _version_header(layout))
    graph = _Graph(layout, toolchain)
    library = graph.library()
    graph.extension(library)
    if toolchain.kind != "apple":
        graph.kernels(jobs if kernels else None)
    return graph.ninja.write(layout.root)


class _Graph:
    def __init__(self, layout: Layout, toolchain: Toolchain) -> None:
        self._layout = layout
        self._toolchain = toolchain
        self._apple = toolchain.kind == "apple"
        self._metal_sources = self._embedded()
        self._library_objects: list[Path] = []
        self.ninja = NinjaFile(layout.row.name, layout.objects, toolchain)
        self.ninja.rule("link", "$cxx $in -o $out $flags", "link $out")
        # zig compiles its C++ library for every new set of flags, so what needs none is linked as C.
        self.ninja.rule("link_c", "$cc $in -o $out $flags", "link $out")
        self.ninja.rule("generate", "$python -m $module $arguments", "generate $out", restat=True)
        self.ninja.rule("list", "$python -m $module $arguments > $out", "list the kernels of $in")
        # The console pool shows the step's own progress.
        self.ninja.rule(
            "kernels", "$python -m $module $arguments && touch $out", "compile kernels", pool="console"
        )
        self.ninja.rule("copy", "cp $in $out", "copy $in")

    def library(self) -> Path:
        generated = self._generate()
        objects = [
            self.ninja.compile(source, group, generated if group.name == "decl" else [])
            for group in row_groups(self._layout, self._toolchain)
            for source in group.sources
        ]
        objects += [self._embed(stem, path) for stem, path in self._metal_sources.items()]
        if not self._apple:
            group = softmetal_group(self._layout.root)
            objects += [object_file(SOFTMETAL_OBJECTS, source, group) for source in group.sources]
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
        self.ninja.build(out, "link", objects, implicit=[exports], flags=join(flags))
        if metallib := self._layout.metallib:
            self.ninja.build(self._layout.artifacts / metallib.name, "copy", [metallib])
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
        compiled = self.ninja.compile(source, group, [self._layout.generated / "table.h"])
        out = self._layout.artifacts / self._layout.extension_name
        flags = ["-bundle", "-undefined", "dynamic_lookup"] if self._apple else ["-shared", STRIP, "-ldl"]
        self.ninja.build(out, "link_c", [compiled], order_only=[library], flags=join(flags))

    def kernels(self, jobs: int | None) -> None:
        """Prebuild every kernel with that many compilers at once, or (None) list their names and no more.

        The names are all that getters need. Compiling is the longest step. It uses all cores by itself, so it
        starts when the library is compiled; the library's link, in which zig compiles its C++ library, leaves
        cores free for a minute.
        """
        softmetal = PACKAGE / "softmetal"
        service = [path for path in self._files_below(softmetal / "msl") if path.suffix != ".pyc"]
        executor = [path for path in self._files_below(softmetal / "exec") if is_executor(path)]
        for stem, source in self._metal_sources.items():
            arguments = ["build", str(source), "--out", str(self._layout.artifacts / "kernels")]
            arguments += [word for macro in KERNEL_MACROS for word in ("-D", macro)]
            if jobs is None:
                arguments += ["--functions-only"]
            else:
                units = self._layout.objects / "kernels" / stem
                arguments += ["--keep", str(units), "--jobs", str(jobs), "--progress"]
            self.ninja.build(
                self._layout.objects / f"{stem}.{'list' if jobs is None else 'kernels'}",
                "list" if jobs is None else "kernels",
                [source],
                implicit=[*service, *([] if jobs is None else executor), softmetal / "toolchain.py"],
                order_only=[] if jobs is None else self._library_objects,
                module=f"{PACKAGE.name}.softmetal.msl",
                arguments=join(arguments),
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
        self.ninja.build(out, "compile_asm", [BUILD / "embed.S"], implicit=[metal], flags=join(flags))
        return out

    def _generate(self) -> list[Path]:
        """table.h, table.cpp and ext.c from the row's headers."""
        folders = header_folders(self._layout)
        outputs = [self._layout.generated / name for name in ("table.h", "table.cpp", "ext.c")]
        own = [PACKAGE / "decl", PACKAGE / "softmetal" / "include"]
        code = sorted((self._layout.root / PACKAGE / "decl").glob("*.py"))
        arguments = ["--row", self._layout.row.name, "--out", str(self._layout.generated)]
        arguments += [word for folder in folders for word in ("--include", str(folder))]
        self.ninja.build(
            outputs,
            "generate",
            implicit=[
                *(path.relative_to(self._layout.root) for path in code),
                PACKAGE / "softmetal" / "toolchain.py",
                *headers_below(self._layout, [*folders, *own]),
            ],
            module=f"{PACKAGE.name}.decl.generate",
            arguments=join(arguments),
        )
        return outputs


def _version_header(layout: Layout) -> str:
    """What upstream's CMake defines on the command line, since ggml 0.25 in a header of this name.

    A row that does not state its version leaves it to ggml.c, which says "unknown".
    """
    lines = ["#pragma once"]
    if layout.row.ggml_version is not None:
        lines += [f'#define GGML_VERSION "{layout.row.ggml_version}"', '#define GGML_COMMIT "unknown"']
    return "\n".join(lines) + "\n"
