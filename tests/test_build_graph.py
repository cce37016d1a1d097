"""What is compiled and linked, on a checkout of empty files."""

import re

import pytest

from ggml_metal_py._build.graph import write_graph, write_softmetal_graph
from ggml_metal_py._build.layout import Layout
from ggml_metal_py._build.manifest import read_manifest
from ggml_metal_py.softmetal.toolchain import Toolchain

ROW = "build/upstream/pywhispercpp-1.5.1/src"
SOURCES = [
    f"{ROW}/ggml.c",
    f"{ROW}/ggml.cpp",
    f"{ROW}/ggml-common.h",
    f"{ROW}/ggml-cpu/ggml-cpu.c",
    f"{ROW}/ggml-cpu/quants.c",
    f"{ROW}/ggml-cpu/amx/amx.cpp",
    f"{ROW}/ggml-cpu/arch/arm/quants.c",
    f"{ROW}/ggml-cpu/arch/x86/cpu-feats.cpp",
    f"{ROW}/ggml-cpu/arch/x86/quants.c",
    f"{ROW}/ggml-metal/ggml-metal.cpp",
    f"{ROW}/ggml-metal/ggml-metal-context.m",
    f"{ROW}/ggml-metal/ggml-metal.metal",
    f"{ROW}/ggml-metal/ggml-metal-impl.h",
    "build/upstream/whisper.rn-0.5.2/src/ggml-common.h",
    "build/upstream/whisper.rn-0.5.2/src/ggml-cpu/ggml-cpu.c",
    "build/upstream/whisper.rn-0.5.2/src/ggml-cpu/amx/amx.cpp",
    "build/upstream/whisper.rn-0.5.2/src/ggml-cpu/arch/x86/quants.c",
    "build/upstream/whisper.rn-0.5.2/src/ggml-metal/ggml-metal-device.m",
    "build/upstream/whisper.rn-0.5.2/src/ggml-metal/ggml-metal-impl.h",
    "ggml_metal_py/decl/guard.cpp",
    "ggml_metal_py/decl/generate.py",
    "ggml_metal_py/softmetal/objc/send.S",
    "ggml_metal_py/softmetal/dispatch/apply.cpp",
    "ggml_metal_py/softmetal/device/buffer.m",
    "ggml_metal_py/softmetal/exec/executor.cpp",
    "ggml_metal_py/softmetal/exec/pool.cpp",
    "ggml_metal_py/softmetal/msl/translate.py",
]


def toolchain(kind: str, arch: str = "x86_64") -> Toolchain:
    return Toolchain(kind, "19.1.7", ("cc",), ("c++",), arch, "generic")


@pytest.fixture
def graph(tmp_path, monkeypatch):
    """Makes a row's ninja file."""
    monkeypatch.delenv("GGML_METAL_PY_LIB", raising=False)
    for source in SOURCES:
        (tmp_path / source).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / source).touch()

    def make(
        kind: str = "clang", arch: str = "x86_64", kernels: bool = True, row: str = "pywhispercpp-1.5.1"
    ) -> str:
        layout = Layout(read_manifest().row(row), tmp_path)
        path = write_graph(layout, toolchain(kind, arch), kernels=kernels, jobs=2)
        return (tmp_path / path).read_text()

    return make


def compiled(text: str) -> set[str]:
    return set(re.findall(r"^build \S+: compile_\w+ (\S+)", text, re.MULTILINE))


def command_of(text: str, output: str) -> str:
    """The build statement of an output and its variables."""
    return re.search(rf"^build \S*{re.escape(output)}: .*\n(?:  .*\n)*", text, re.MULTILINE)[0]


def test_a_rows_graph_compiles_ggml_and_the_binding(graph):
    assert compiled(graph()) == {
        f"{ROW}/ggml.c",
        f"{ROW}/ggml.cpp",
        f"{ROW}/ggml-cpu/ggml-cpu.c",
        f"{ROW}/ggml-cpu/quants.c",
        f"{ROW}/ggml-cpu/amx/amx.cpp",
        f"{ROW}/ggml-cpu/arch/x86/quants.c",
        f"{ROW}/ggml-metal/ggml-metal.cpp",
        f"{ROW}/ggml-metal/ggml-metal-context.m",
        "build/pywhispercpp-1.5.1/generated/table.cpp",
        "build/pywhispercpp-1.5.1/generated/ext.c",
        "ggml_metal_py/_build/embed.S",
        "ggml_metal_py/decl/guard.cpp",
    }


def test_softmetal_is_compiled_once_and_linked_into_every_row(graph, tmp_path):
    library = command_of(graph(), "libggml-metal-py-pywhispercpp-1.5.1.so")
    text = (tmp_path / write_softmetal_graph(tmp_path, toolchain("clang"))).read_text()
    assert compiled(text) == {
        "ggml_metal_py/softmetal/objc/send.S",
        "ggml_metal_py/softmetal/dispatch/apply.cpp",
        "ggml_metal_py/softmetal/device/buffer.m",
        "ggml_metal_py/softmetal/exec/pool.cpp",
    }
    for made in re.findall(r"^build (\S+): compile_", text, re.MULTILINE):
        assert f" {made} " in library
    assert "pywhispercpp" not in text


def test_a_row_without_metal_source_opens_its_compiled_library(graph):
    text = graph(row="whisper.rn-0.5.2")
    assert "-DGGML_METAL_EMBED_LIBRARY" not in text
    assert "ggml_metallib" not in text
    copied = command_of(text, "lib/whisper.rn-0.5.2/ggml-whisper.metallib")
    assert ": copy build/upstream/whisper.rn-0.5.2/metallib/ggml-whisper.metallib" in copied
    assert "-DGGML_METAL_EMBED_LIBRARY=1" in graph()
    assert "copy build" not in graph()


def test_the_architecture_chooses_the_sources(graph):
    assert f"{ROW}/ggml-cpu/arch/arm/quants.c" in compiled(graph(arch="aarch64"))
    assert f"{ROW}/ggml-cpu/arch/x86/quants.c" not in compiled(graph(arch="aarch64"))


def test_every_object_has_a_path_of_its_own(graph):
    outputs = re.findall(r"^build (\S+\.o): ", graph(), re.MULTILINE)
    assert len(outputs) == len(set(outputs))


def test_upstream_knows_its_version_and_place(graph, tmp_path):
    command = command_of(graph(), "src-ggml.c.o")
    header = "build/pywhispercpp-1.5.1/generated/ggml-version.h"
    assert f"-include {header}" in command
    assert '#define GGML_VERSION "0.13.1"' in (tmp_path / header).read_text()
    assert f"-fmacro-prefix-map={ROW}/=" in command


def test_the_library_hides_everything_and_stays_loaded(graph):
    command = command_of(graph(), "libggml-metal-py-pywhispercpp-1.5.1.so")
    for flag in (
        "-Wl,-Bsymbolic",
        "-Wl,-z,nodelete",
        "-Wl,-z,defs",
        "--version-script=",
        "-Wl,-soname,libggml",
    ):
        assert flag in command


def test_kernels_depend_on_the_executor_and_the_translator_only(graph):
    command = command_of(graph(), "ggml_metallib.kernels")
    assert "softmetal/exec/executor.cpp" in command
    assert "softmetal/msl/translate.py" in command
    assert "softmetal/exec/pool.cpp" not in command


def test_kernels_that_are_not_prebuilt_are_listed(graph):
    text = graph(kernels=False)
    assert ".kernels" not in text
    command = command_of(text, "ggml_metallib.list")
    assert "--functions-only" in command
    assert "softmetal/msl/translate.py" in command
    assert "softmetal/exec" not in command


def test_on_macos_the_library_uses_apples_frameworks(graph):
    text = graph("apple", "aarch64")
    command = command_of(text, "libggml-metal-py-pywhispercpp-1.5.1.dylib")
    assert "-framework Metal" in command
    assert "-exported_symbols_list" in command
    assert not any("softmetal" in source for source in compiled(text))
    assert "softmetal/include" not in text
    assert "-fobjc-runtime" not in text


def test_an_unchanged_graph_is_not_written_again(graph, tmp_path):
    graph()
    path = tmp_path / "build/pywhispercpp-1.5.1/build.ninja"
    before = path.stat().st_mtime_ns
    graph()
    assert path.stat().st_mtime_ns == before
