"""Which C/C++ compiler builds native code, and for which CPU.

One answer for everyone: the build of the library, the compiler service for kernels, and tests. Knows
nothing of ggml and imports nothing but the standard library, because it also runs before anything is
installed (`python toolchain.py` prints the compiler that would be used).
"""

import functools
import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

MINIMUM_CLANG = 16
# Highest version first, so that the newest installed compiler is taken. The plain name comes before
# all of them: it is what the user chose as the system's default.
CLANG_NAMES = ("clang", *(f"clang-{version}" for version in range(22, MINIMUM_CLANG - 1, -1)))
# The oldest glibc that a library built with zig runs on; every maintained distribution has it.
ZIG_GLIBC = "2.28"
MACOS_MINIMUM = "13.0"


@dataclass(frozen=True)
class _Arch:
    """The CPU baseline of an architecture: its name for users, and how each compiler is told."""

    cpu: str
    clang_flags: tuple[str, ...]
    zig_cpu: str


# The baseline is always given: by default zig compiles for the machine it runs on, and what it builds
# there would die with SIGILL on another one.
_ARCHS = {
    "x86_64": _Arch("x86_64_v3", ("-march=x86-64-v3",), "x86_64_v3"),
    "aarch64": _Arch("generic", ("-march=armv8-a",), "generic"),
}
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


class ToolchainError(RuntimeError):
    """No usable compiler; the message says what to install."""


@dataclass(frozen=True)
class Toolchain:
    """A compiler, ready to be called.

    `cc` and `cxx` are command prefixes for C (and Objective-C) and C++: they hold the target and the
    CPU baseline, callers append sources and flags. Run them with `environment()`.
    """

    kind: str
    """`clang` (a system clang), `zig` (the ziglang wheel's clang) or `apple` (Xcode's)."""
    version: str
    """The version of clang (Xcode's own numbering for `apple`)."""
    cc: tuple[str, ...]
    cxx: tuple[str, ...]
    arch: str
    """`x86_64` or `aarch64`."""
    cpu: str
    """The CPU baseline of what is compiled: `x86_64_v3` or `generic`."""
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Variables that the compiler needs on top of the caller's environment."""
    kernel_flags: tuple[str, ...] = ()
    """For kernels and the executor, such as a sanitizer; the program has to bring the sanitizer's runtime."""

    def environment(self) -> dict[str, str]:
        """The environment to run the compiler in."""
        return {**os.environ, **self.env}

    @property
    def temporary(self) -> str | None:
        """The folder for temporary files; None for the system's."""
        return self.env.get("TMPDIR")

    def working_in(self, folder: Path) -> "Toolchain":
        """The same compiler, which leaves nothing behind but in `folder`.

        That is temporary files, and zig's copies of all that it compiles.
        """
        own = {"TMPDIR": str(folder), "ZIG_LOCAL_CACHE_DIR": str(folder / "zig")}
        return replace(self, env={**self.env, **own})

    def describe(self) -> str:
        """One line for logs and manifests, such as `zig clang 22.1.8, x86_64 (x86_64_v3)`."""
        name = "clang" if self.kind == "clang" else f"{self.kind} clang"
        return f"{name} {self.version}, {self.arch} ({self.cpu})"


@functools.cache
def find_toolchain() -> Toolchain:
    """Find the compiler, once per process.

    On Linux: the command in `SOFTMETAL_CC` (a clang), else a system clang of at least version 16 that
    can compile C++, else the one inside the `ziglang` wheel of this Python. On macOS: Xcode's.

    Raises ToolchainError when there is none, or when `SOFTMETAL_CC` is set to something unusable.
    """
    arch = host_arch()
    if sys.platform == "darwin":
        return _apple_clang(arch)
    if asked := os.environ.get("SOFTMETAL_CC"):
        return _asked_clang(asked, arch)
    for name in CLANG_NAMES:
        path = shutil.which(name)
        if path is not None and (found := _system_clang([path], arch)):
            return found
    zig = _find_zig()
    if zig is not None:
        return _zig(zig, arch)
    raise ToolchainError(
        f"no C++ compiler: needs clang >= {MINIMUM_CLANG} with the C++ headers, or the clang of the ziglang "
        f"wheel. Run `{sys.executable} -m pip install ziglang`, or set SOFTMETAL_CC to a clang."
    )


def host_arch() -> str:
    """`x86_64` or `aarch64`. Raises ToolchainError on any other machine."""
    machine = platform.machine().lower()
    arch = _MACHINES.get(machine, machine)
    if arch not in _ARCHS:
        raise ToolchainError(f"this machine is a {machine!r}; supported are {', '.join(_ARCHS)}")
    return arch


def _asked_clang(command: str, arch: str) -> Toolchain:
    found = _system_clang(shlex.split(command), arch)
    if found is None:
        raise ToolchainError(
            f"SOFTMETAL_CC is {command!r}, which is no clang >= {MINIMUM_CLANG} that compiles C++ here; "
            "set it to one, or unset it to have a compiler found"
        )
    return found


def _system_clang(command: list[str], arch: str) -> Toolchain | None:
    version = _clang_version(command)
    if version is None or int(version.split(".")[0]) < MINIMUM_CLANG:
        return None
    flags = _ARCHS[arch].clang_flags
    cxx = (*command, "--driver-mode=g++", *flags)
    # A clang without the C++ library's headers is common (they are a package of their own).
    probe = _run([*cxx, "-fsyntax-only", "-x", "c++", "-"], stdin="#include <new>\n#include <math.h>\n")
    if probe is None or probe.returncode != 0:
        return None
    return Toolchain("clang", version, (*command, *flags), cxx, arch, _ARCHS[arch].cpu)


def _apple_clang(arch: str) -> Toolchain:
    command = shlex.split(os.environ.get("SOFTMETAL_CC", "clang"))
    version = _clang_version(command)
    if version is None:
        raise ToolchainError(
            f"{shlex.join(command)} does not run: install Apple's compiler with `xcode-select --install`"
        )
    flags = ("-arch", "arm64" if arch == "aarch64" else arch, f"-mmacosx-version-min={MACOS_MINIMUM}")
    cxx = (*command, "--driver-mode=g++", *flags)
    # Apple's own default for the architecture is a baseline already: every Mac that runs macOS 13 has it.
    return Toolchain("apple", version, (*command, *flags), cxx, arch, "generic")


def _find_zig() -> str | None:
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        return None
    zig = Path(spec.origin).parent / "zig"
    return str(zig) if zig.exists() else None


def _zig(zig: str, arch: str) -> Toolchain:
    env = {}
    if "ZIG_GLOBAL_CACHE_DIR" not in os.environ:
        # zig compiles its C++ library once, into this folder; build and run time share it.
        env["ZIG_GLOBAL_CACHE_DIR"] = str(_cache_folder() / "zig")
    version = _clang_version([zig, "cc"], env)
    if version is None:
        raise ToolchainError(
            f"{zig} does not run; run `{sys.executable} -m pip install --force-reinstall ziglang`"
        )
    target = ("-target", f"{arch}-linux-gnu.{ZIG_GLIBC}", f"-mcpu={_ARCHS[arch].zig_cpu}")
    return Toolchain("zig", version, (zig, "cc", *target), (zig, "c++", *target), arch, _ARCHS[arch].cpu, env)


def _cache_folder() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "softmetal"


def _clang_version(command: list[str], env: Mapping[str, str] | None = None) -> str | None:
    """The version that `command --version` names; None when it does not run or is no clang."""
    done = _run([*command, "--version"], env=env)
    if done is None or done.returncode != 0:
        return None
    match = re.search(r"clang version (\d+(?:\.\d+)*)", done.stdout)
    return match[1] if match else None


def _run(
    command: list[str], stdin: str = "", env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(
            command,
            input=stdin,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None


def main() -> int:
    """Print the compiler that would be used; status 1 when there is none."""
    try:
        print(find_toolchain().describe())
    except ToolchainError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
