"""Builds our small .metal files once per test session."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kernel_library import KernelLibrary

from ggml_metal_py.softmetal.msl.build import build
from ggml_metal_py.softmetal.toolchain import Toolchain, find_toolchain

KERNELS = Path(__file__).parent / "kernels"
KERNEL_FLAGS = "SOFTMETAL_TEST_KERNEL_FLAGS"
"""Flags from the environment, a sanitizer's, for all kernels that are built here."""


def _toolchain() -> Toolchain:
    return replace(find_toolchain(), kernel_flags=tuple(os.environ.get(KERNEL_FLAGS, "").split()))


def build_kernels(name: str, folder: Path, macros: Mapping[str, str] | None = None) -> KernelLibrary:
    """The kernel library of tests/softmetal/kernels/NAME.metal, built into `folder`."""
    return KernelLibrary(build(KERNELS / f"{name}.metal", folder, macros or {}, _toolchain(), jobs=2))


def build_source(source: str, folder: Path) -> KernelLibrary:
    """The kernel library of MSL given as text, with the headers included already."""
    path = folder / "source.metal"
    path.write_text("#include <metal_stdlib>\nusing namespace metal;\n" + source)
    return KernelLibrary(build(path, folder, {}, _toolchain()))
