"""The C preprocessor's run over MSL source.

The standard headers are empty in this run: what they declare comes in when the translated source is
compiled, so the translator sees the user's code only. A header that we do not have is an error here.
"""

import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..toolchain import Toolchain
from .errors import MslError

# Macros that Metal's own compiler defines, for Metal 3.2 on macOS 14.
PREDEFINED = {"__METAL__": "1", "__METAL_VERSION__": "320", "__METAL_MACOS__": "1", "__HAVE_BFLOAT__": "1"}

# fmt: off
STANDARD_HEADERS = (
    "metal_stdlib", "metal_types", "metal_math", "metal_common", "metal_integer", "metal_relational",
    "metal_geometric", "metal_matrix", "metal_atomic", "metal_compute", "metal_simdgroup",
    "metal_simdgroup_matrix", "metal_limits", "simd/simd.h",
)
# fmt: on

_DIRECTIVE = re.compile(r"^#(?:define|undef) (\w+)(.*)", re.MULTILINE)


def preprocess(source: str, name: str, macros: Mapping[str, str], folder: Path, toolchain: Toolchain) -> str:
    """The source after macro expansion, with `# LINE "NAME"` markers.

    `name` is what diagnostics call the source, `folder` is where its own `#include "..."` are looked up.
    Raises MslError with clang's diagnostics.
    """
    with tempfile.TemporaryDirectory(prefix="softmetal-", dir=toolchain.temporary) as stubs:
        for header in STANDARD_HEADERS:
            stub = Path(stubs) / header
            stub.parent.mkdir(exist_ok=True)
            stub.touch()
        command = [
            *toolchain.cxx,
            "-E",
            "-dD",
            "-x",
            "c++",
            "-std=c++17",
            "-undef",
            "-nostdinc",
            "-nostdinc++",
        ]
        command += ["-iquote", str(folder), "-isystem", stubs]
        command += [f"-D{macro}={value}" for macro, value in {**PREDEFINED, **macros}.items()]
        done = subprocess.run(
            [*command, "-"],
            input=f'# 1 "{name}"\n{source}',
            capture_output=True,
            text=True,
            check=False,
            env=toolchain.environment(),
        )
    if done.returncode != 0:
        raise MslError(_readable(done.stderr))
    return _drop_macros(done.stdout)


def _drop_macros(text: str) -> str:
    """Drop the #define lines that -dD leaves in, but for macros in pragmas: clang expands those late."""
    bodies: dict[str, set[str]] = {}
    for match in _DIRECTIVE.finditer(text):
        bodies.setdefault(match[1], set()).update(re.findall(r"\w+", match[2]))
    wanted = set(re.findall(r"\w+", " ".join(re.findall(r"^#pragma (.*)", text, re.MULTILINE))))
    while more := {name for word in wanted & bodies.keys() for name in bodies[word]} - wanted:
        wanted |= more
    return _DIRECTIVE.sub(lambda match: match[0] if match[1] in wanted else "", text)


def _readable(diagnostics: str) -> str:
    missing = re.search(r"'(metal_tensor|MetalPerformancePrimitives/[^']*)' file not found", diagnostics)
    if missing:
        return diagnostics + f"softmetal has no {missing[1]}: Metal 4 tensors are not supported\n"
    return diagnostics
