"""Kernels of ours in the place of upstream's, run by upstream's own code.

A second copy of the default row's library, which finds machine code of ours under the host names that
tests/fuzz/kernels/*.metal define. Copies of a library do not meet, so no other test sees these kernels.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import ggml_metal_py as gm
from ggml_metal_py.softmetal.msl.build import Source, build_source
from ggml_metal_py.softmetal.msl.store import functions_file
from ggml_metal_py.softmetal.toolchain import find_toolchain

KERNELS = Path(__file__).parent / "kernels"


@dataclass(frozen=True)
class _InPlaceOf(Source):
    """A source whose kernels are taken for those of another one."""

    other: str = ""

    @property
    def key(self) -> str:
        return self.other


@contextmanager
def opened(device: gm.Device, folder: Path, *, faults: bool) -> Iterator[gm.Device]:
    """The row of `device` with our kernels, right ones or broken ones."""
    native = device._native
    row = folder / native.row
    row.mkdir(parents=True)
    for path in native.folder.iterdir():
        if path.is_file():
            shutil.copy(path, row)
    (prebuilt,) = native.kernel_folder.iterdir()
    kernels = "".join(path.read_text() for path in sorted(KERNELS.glob("*.metal")))
    text = '#include "common.h"\n' + _structs(native.ffi, kernels) + kernels
    macros = {"FAULTS": str(int(faults))}
    source = _InPlaceOf(text.encode(), macros, "values.metal", KERNELS, prebuilt.name)
    work = folder / "work"
    work.mkdir()
    build_source(source, row / "kernels", find_toolchain(), work, jobs=2)
    shutil.copy(prebuilt / "functions.txt", functions_file(row / "kernels", prebuilt.name))
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("GGML_METAL_PY_LIB", str(folder))
        there = gm.open(native.row)
    with there:
        yield there


def _structs(ffi: Any, kernels: str) -> str:
    """Upstream's structs of arguments that the kernels name, in MSL."""
    names = sorted(set(re.findall(r"\bggml_metal_kargs_\w+", kernels)))
    return "".join(f"struct {name} {{ {_fields(ffi.typeof(name))} }};\n" for name in names)


def _fields(struct: Any) -> str:
    return " ".join(f"{field.type.cname} {name};" for name, field in struct.fields)
