"""What the library is made of: groups of sources that are compiled alike, and with which flags.

Follows upstream's CMake files (ggml/src/CMakeLists.txt, ggml-cpu/, ggml-metal/), by pattern instead of by
name because the files differ from row to row. Two options differ from upstream's defaults: no OpenMP (ggml
has its own threads, and a second OpenMP runtime inside a host's process is trouble), no Accelerate on macOS.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..softmetal.toolchain import Toolchain
from .layout import Layout

PACKAGE = Path("ggml_metal_py")
SOURCE_SUFFIXES = {".c", ".cpp", ".m", ".mm", ".S"}
ARCH_FOLDERS = {"x86_64": "x86", "aarch64": "arm"}

OWN_WARNINGS = ("-Wall", "-Wextra")
# The ABI of Apple's own compiler, which softmetal implements.
SOFTMETAL_OBJC_FLAGS = ("-fobjc-runtime=macosx",)
BLOCKS = "-fblocks"

# Functions that a file of upstream's calls through decl/ instead, which notes what passes and forwards it.
SEAMS = {
    "ggml-metal-device.cpp": {  # decl/pipelines.cpp: what is compiled, with which constants
        "ggml_metal_cv_init": "gmpy_seam_cv_init",
        "ggml_metal_cv_free": "gmpy_seam_cv_free",
        "ggml_metal_cv_set_int16": "gmpy_seam_cv_set_int16",
        "ggml_metal_cv_set_int32": "gmpy_seam_cv_set_int32",
        "ggml_metal_cv_set_bool": "gmpy_seam_cv_set_bool",
        "ggml_metal_library_compile_pipeline": "gmpy_seam_compile_pipeline",
    },
    "ggml-metal-ops.cpp": {  # decl/encode.cpp: what would be dispatched
        "ggml_metal_encoder_set_pipeline": "gmpy_seam_encoder_set_pipeline",
        "ggml_metal_encoder_set_threadgroup_memory_size": "gmpy_seam_encoder_set_threadgroup_memory_size",
        "ggml_metal_encoder_dispatch_threadgroups": "gmpy_seam_encoder_dispatch_threadgroups",
    },
}


@dataclass(frozen=True)
class Group:
    """Sources that are compiled alike. Paths are relative to the checkout."""

    name: str
    sources: tuple[Path, ...]
    flags: tuple[str, ...]
    """For every language."""
    cxx_flags: tuple[str, ...] = ()
    objc_flags: tuple[str, ...] = ()


def row_groups(layout: Layout, toolchain: Toolchain) -> list[Group]:
    """The groups of a row's library whose objects belong to the row: all but softmetal's."""
    return [
        _ggml_base(layout),
        _ggml_cpu(layout, toolchain),
        *_ggml_metal(layout, toolchain),
        _decl(layout, toolchain),
    ]


def header_folders(layout: Layout) -> tuple[Path, ...]:
    """The folders of the row's headers that the binding reads."""
    src = layout.upstream / "src"
    include = (layout.upstream / "include",) if layout.row.include else ()
    return (*include, src, src / "ggml-metal")


def is_executor(path: Path) -> bool:
    """Whether a file of softmetal/exec/ belongs to the kernel libraries, which softmetal's compiler service
    builds, and not to ours."""
    return path.parent.name == "checked" or path.stem in {
        "abi",
        "checked",
        "executor",
        "observer",
        "stack_switch",
        "worker",
    }


def _ggml_base(layout: Layout) -> Group:
    flags = (
        *_upstream_flags(layout),
        "-DGGML_USE_CPU",
        "-DGGML_USE_METAL",
        "-DGGML_SCHED_MAX_COPIES=4",
        *("-include", str(layout.version_header)),
    )
    return Group("ggml-base", _sources(layout, layout.upstream / "src"), flags)


def _ggml_cpu(layout: Layout, toolchain: Toolchain) -> Group:
    cpu = layout.upstream / "src" / "ggml-cpu"
    # cpu-feats.cpp scores variants of a backend that is loaded by itself; ours is linked in.
    arch = [
        path
        for path in _sources(layout, cpu / "arch" / ARCH_FOLDERS[toolchain.arch])
        if path.name != "cpu-feats.cpp"
    ]
    # The other folders are for other architectures or optional; tiled/ came with ggml 0.25.
    parts = [cpu, cpu / "amx", cpu / "tiled"]
    sources = [path for part in parts if (layout.root / part).is_dir() for path in _sources(layout, part)]
    return Group("ggml-cpu", (*sources, *arch), (*_upstream_flags(layout), "-DGGML_USE_CPU_REPACK"))


def _ggml_metal(layout: Layout, toolchain: Toolchain) -> list[Group]:
    metal = layout.upstream / "src" / "ggml-metal"
    flags = [*_upstream_flags(layout)]
    if layout.row.metallib is None:
        flags.append("-DGGML_METAL_EMBED_LIBRARY=1")  # else upstream opens the file beside our library
    cxx_flags: tuple[str, ...] = ()
    objc_flags: tuple[str, ...] = ("-fno-objc-arc",)
    if toolchain.kind != "apple":
        flags += [BLOCKS, f"-I{PACKAGE}/softmetal/include"]
        # ggml-metal.cpp relies on another header of Apple's C++ library to bring in std::unique_ptr.
        cxx_flags = ("-include", "memory")
        objc_flags = SOFTMETAL_OBJC_FLAGS
    sources = _sources(layout, metal)
    groups = [
        Group(
            "ggml-metal",
            tuple(path for path in sources if path.name not in SEAMS),
            tuple(flags),
            cxx_flags,
            objc_flags,
        )
    ]
    for path in sources:
        if path.name in SEAMS:
            seams = [f"-D{name}={ours}" for name, ours in SEAMS[path.name].items()]
            groups.append(Group(path.stem, (path,), (*flags, *seams), cxx_flags))
    return groups


def _decl(layout: Layout, toolchain: Toolchain) -> Group:
    includes = [*header_folders(layout), PACKAGE / "decl", layout.generated]
    if toolchain.kind != "apple":
        includes.append(PACKAGE / "softmetal" / "include")
    sources = (*_sources(layout, PACKAGE / "decl"), layout.generated / "table.cpp")
    return Group(
        "decl",
        sources,
        (*OWN_WARNINGS, *(f"-I{folder}" for folder in includes)),
        objc_flags=("-fno-objc-arc",) if toolchain.kind == "apple" else (BLOCKS, *SOFTMETAL_OBJC_FLAGS),
    )


def softmetal_group(root: Path) -> Group:
    """softmetal knows nothing of rows, so its objects serve all of them."""
    softmetal = PACKAGE / "softmetal"
    rooms = [softmetal / room for room in ("objc", "dispatch", "device")]
    sources = [path for room in rooms for path in _sources_in(root, room)]
    sources += [path for path in _sources_in(root, softmetal / "exec") if not is_executor(path)]
    # Quoted, so that a header of ours never stands for a system header of the same name.
    own = [word for room in (softmetal, *rooms, softmetal / "exec") for word in ("-iquote", str(room))]
    flags = (*OWN_WARNINGS, BLOCKS, "-D_GNU_SOURCE", f"-I{softmetal}/include", *own)
    return Group("softmetal", tuple(sources), flags, objc_flags=SOFTMETAL_OBJC_FLAGS)


def _upstream_flags(layout: Layout) -> tuple[str, ...]:
    src = layout.upstream / "src"
    folders = (*header_folders(layout), src / "ggml-cpu", layout.generated)
    return (
        "-w",  # warnings in upstream's text are upstream's to judge
        "-D_XOPEN_SOURCE=600",
        "-D_GNU_SOURCE",
        "-D_DARWIN_C_SOURCE",
        *(f"-I{folder}" for folder in folders),
        # What ggml's assertions print as the place: the path inside ggml.
        f"-fmacro-prefix-map={src}/=",
    )


def _sources(layout: Layout, folder: Path) -> tuple[Path, ...]:
    return _sources_in(layout.root, folder)


def _sources_in(root: Path, folder: Path) -> tuple[Path, ...]:
    """The folder's own sources, not those of folders inside it, in a stable order."""
    return tuple(
        folder / path.name for path in sorted((root / folder).iterdir()) if path.suffix in SOURCE_SUFFIXES
    )


def headers_below(layout: Layout, folders: Iterable[Path]) -> list[Path]:
    """All headers in these folders, not deeper."""
    return [folder / path.name for folder in folders for path in sorted((layout.root / folder).glob("*.h"))]
