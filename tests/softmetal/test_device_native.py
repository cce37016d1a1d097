"""The device below ggml: native test programs, each run plain and under sanitizers.

Most programs need no Metal kernels; native/kernels.c stands in for a compiled kernel library, because it can
show what the device does with it (order, overlap, failures). test_kernels.m runs kernels; they and the
executor are compiled with the same sanitizer.
"""

from pathlib import Path

import pytest
from native_programs import (
    KERNEL_SOURCES,
    NATIVE,
    SANITIZERS,
    kernel_folder,
    metal_kernel_folder,
    run_program,
)

from ggml_metal_py.softmetal.toolchain import find_toolchain

PROGRAMS = (
    "test_objc.m",
    "test_foundation.m",
    "test_dispatch.cpp",
    "test_device.m",
    "test_order.m",
    "test_threads.m",
    "test_threadgroup_order.m",
    "test_process.m",
    "test_no_threads.m",
)
MARKS = {
    "plain": (),
    "thread": pytest.mark.slow,
    "undefined": pytest.mark.slow,
    "address": pytest.mark.address,
}
sanitizers = pytest.mark.parametrize(
    "sanitizer", [pytest.param(name, marks=MARKS[name], id=name) for name in SANITIZERS]
)


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kernel_folder(find_toolchain(), tmp_path_factory.mktemp("kernels"))


@pytest.mark.parametrize("name", PROGRAMS)
@sanitizers
def test_program_passes(sanitizer: str, name: str, compiled, kernels: Path) -> None:
    # In a forked child, nobody holds what belonged to the parent's threads.
    env = {"ASAN_OPTIONS": "detect_leaks=0"} if name == "test_process.m" else {}
    done = run_program(compiled(sanitizer)(NATIVE / name), str(kernels), env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Sanitizer" not in done.stderr


@sanitizers
def test_kernels_pass(sanitizer: str, compiled, tmp_path: Path) -> None:
    source = KERNEL_SOURCES / "threads.metal"
    folder = metal_kernel_folder(find_toolchain(), tmp_path, source, sanitizer)
    done = run_program(compiled(sanitizer)(NATIVE / "test_kernels.m"), str(folder), str(source))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Sanitizer" not in done.stderr


@pytest.mark.parametrize(
    ("sanitizer", "kernel", "report"),
    [
        pytest.param("thread", "race", "ThreadSanitizer: data race", marks=MARKS["thread"]),
        pytest.param("undefined", "index", "out of bounds for type", marks=MARKS["undefined"]),
        pytest.param("address", "beyond", "global-buffer-overflow", marks=MARKS["address"]),
    ],
)
def test_a_sanitizer_sees_what_kernels_do(
    sanitizer: str, kernel: str, report: str, compiled, tmp_path: Path
) -> None:
    source = KERNEL_SOURCES / "faults.metal"
    folder = metal_kernel_folder(find_toolchain(), tmp_path, source, sanitizer)
    done = run_program(compiled(sanitizer)(NATIVE / "test_kernels.m"), str(folder), str(source), kernel)
    assert done.returncode != 0
    assert report in done.stderr
