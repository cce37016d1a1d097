"""Builds softmetal's main part, without ggml, with a test program on top; plain or with a sanitizer."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from ggml_metal_py.softmetal.msl.build import build
from ggml_metal_py.softmetal.msl.key import source_key
from ggml_metal_py.softmetal.toolchain import Toolchain, find_toolchain

NATIVE = Path(__file__).parent / "native"
SOFTMETAL = Path(__file__).parents[2] / "ggml_metal_py" / "softmetal"
ROOMS = ("objc", "dispatch", "device", "exec")

SOURCE = "kernels by hand"  # native/metal.h
KERNELS = ("append", "count", "count_slowly", "describe", "fail", "record")  # native/kernels.c
WITHOUT_CODE = "missing"

KERNEL_SOURCES = Path(__file__).parent / "kernels"

SANITIZERS: dict[str, tuple[str, ...]] = {
    "plain": ("-O2",),
    "thread": ("-O1", "-fsanitize=thread"),
    "undefined": ("-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-fno-sanitize-trap=all"),
    "address": ("-O1", "-fsanitize=address", "-fno-omit-frame-pointer"),
}

# Without what the compiler service defines (msl/ir.py): integers that wrap or are divided by 0, shifts of any
# width, vectors at any address.
UNDEFINED_IN_KERNELS = (
    "-fsanitize=bounds,bool,builtin,enum,nonnull-attribute,null,object-size,pointer-overflow,return,"
    "unreachable,vla-bound",
)
KERNEL_FLAGS = {
    "plain": (),
    # Lanes have stacks of their own: what it thinks of the calls on a thread's stack would be wrong.
    "thread": ("-fsanitize=thread", "-mllvm", "-tsan-instrument-func-entry-exit=0"),
    "undefined": (*UNDEFINED_IN_KERNELS, "-fno-sanitize-recover=all", "-fno-sanitize-trap=all"),
    "address": ("-fsanitize=address",),
}

_WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter")
_FLAGS = ("-g1", "-fPIC", "-fexceptions", "-fblocks", "-D_GNU_SOURCE", f"-I{SOFTMETAL / 'include'}")
_LANGUAGES: dict[str, tuple[str, ...]] = {
    ".c": ("-std=gnu11",),
    ".m": ("-std=gnu11", "-fobjc-runtime=macosx"),
    ".S": (),
    ".cpp": ("-std=c++17", "-fno-c++-static-destructors"),
}
_QUOTED = tuple(word for room in ROOMS for word in ("-iquote", str(SOFTMETAL / room)))


@dataclass(frozen=True)
class Builder:
    """Compiles into `folder` with one sanitizer's flags."""

    toolchain: Toolchain
    folder: Path
    sanitizer: str

    def compile(self, source: Path, *flags: str) -> Path:
        """An object file of a source in any of our languages."""
        compiler = self.toolchain.cxx if source.suffix == ".cpp" else self.toolchain.cc
        target = self.folder / f"{source.parent.name}-{source.name}.o"
        self._run(
            *compiler,
            *_FLAGS,
            *_WARNINGS,
            *_QUOTED,
            *_LANGUAGES[source.suffix],
            *SANITIZERS[self.sanitizer],
            *flags,
            "-c",
            str(source),
            "-o",
            str(target),
        )
        return target

    def softmetal(self) -> list[Path]:
        """The objects of softmetal's main part: everything but what is compiled into kernel libraries."""
        sources = [
            path
            for room in ROOMS
            for path in sorted((SOFTMETAL / room).iterdir())
            if path.suffix in _LANGUAGES and not path.name.startswith("executor")
        ]
        with ThreadPoolExecutor(2) as threads:
            return list(threads.map(self.compile, sources))

    def program(self, source: Path, objects: Sequence[Path]) -> Path:
        """A test program, linked with these objects."""
        target = self.folder / source.stem
        # The runtime finds its classes by section; the linker must not take those for garbage.
        # -rdynamic: kernels compiled with a sanitizer find its runtime here.
        link = ("-Wl,--no-gc-sections", "-rdynamic", "-lpthread", "-ldl", "-lm", "-o", str(target))
        words = [str(path) for path in (self.compile(source), *objects)]
        self._run(*self.toolchain.cxx, *SANITIZERS[self.sanitizer], *words, *link)
        return target

    def _run(self, *command: str) -> None:
        done = subprocess.run(
            command, env=self.toolchain.environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"


def kernel_file(toolchain: Toolchain, target: Path, **defines: str) -> Path:
    """native/kernels.c as a shared object; `defines` replace SOURCE_HASH, CPU or ABI."""
    macros = {"SOURCE_HASH": f'"{source_key(SOURCE.encode(), {})}"', **defines}
    words = [f"-D{name}={value}" for name, value in macros.items()]
    target.parent.mkdir(parents=True, exist_ok=True)
    command = [*toolchain.cc, "-shared", "-fPIC", "-O1", *_QUOTED, *words, str(NATIVE / "kernels.c")]
    subprocess.run([*command, "-o", str(target)], env=toolchain.environment(), check=True)
    return target


def kernel_folder(toolchain: Toolchain, folder: Path, **defines: str) -> Path:
    """A folder as `softmetal_add_kernel_folder` takes it, with the library of native/kernels.c."""
    library = folder / source_key(SOURCE.encode(), {})
    kernel_file(toolchain, library / "all.so", **defines)
    names = sorted((*KERNELS, WITHOUT_CODE))
    (library / "functions.txt").write_text("\n".join(["softmetal 1", *names, ""]))
    return folder


def metal_kernel_folder(toolchain: Toolchain, folder: Path, source: Path, sanitizer: str) -> Path:
    """The same with the kernels of a Metal source; they and the executor are compiled with a sanitizer."""
    build(source, folder, {}, replace(toolchain, kernel_flags=KERNEL_FLAGS[sanitizer]), jobs=2)
    return folder


def real_service() -> dict[str, str]:
    """What a program needs in its environment to compile Metal sources."""
    # The compiler's own libraries are the same for every cache, and take zig a minute to compile.
    shared = {"ZIG_GLOBAL_CACHE_DIR": find_toolchain().environment().get("ZIG_GLOBAL_CACHE_DIR", "")}
    service = f"{sys.executable} -m ggml_metal_py.softmetal.msl"
    return {"SOFTMETAL_COMPILER": service, "PYTHONPATH": str(SOFTMETAL.parents[1]), **shared}


def run_program(
    program: Path, *arguments: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a test program, with nothing of this process's softmetal settings."""
    assert shutil.which(str(program)), f"{program} is no program"
    clean = {"PATH": "/usr/bin:/bin", "HOME": str(program.parent), "TSAN_OPTIONS": "halt_on_error=1"}
    return subprocess.run(
        [str(program), *arguments],
        env={**clean, **(env or {})},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
