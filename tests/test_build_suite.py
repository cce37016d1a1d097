"""check-upstream: which row, how ggml's test program is linked and started, how its cases are counted."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fresh_python import ROOT

from ggml_metal_py._build.__main__ import main
from ggml_metal_py._build.layout import Layout
from ggml_metal_py._build.manifest import Manifest, ManifestError, read_manifest
from ggml_metal_py._build.suite_counts import SuiteCounts
from ggml_metal_py._build.upstream_suite import program, run_suite, suite_row, write_suite_graph
from ggml_metal_py.softmetal.toolchain import Toolchain

MANIFEST = read_manifest()
ROW = "libggml-python-0.20.2"
CLANG = Toolchain("clang", "19.1.7", ("cc",), ("c++",), "x86_64", "generic")

# ---- which row


def test_the_row_is_the_first_that_carries_ggmls_tests():
    assert MANIFEST.row().tests is None
    assert suite_row(MANIFEST, None).name == ROW


def test_a_default_row_with_tests_is_taken():
    rows = {name: MANIFEST.rows[name] for name in ("ggml-py-0.10.1", ROW)}
    assert suite_row(Manifest("ggml-py-0.10.1", rows), None).name == "ggml-py-0.10.1"


def test_a_row_without_tests_is_answered_with_the_rows_that_have_them():
    with pytest.raises(ManifestError, match=rf"pywhispercpp-1.5.0 .*{ROW}, .*ggml-py-0.10.1"):
        suite_row(MANIFEST, "pywhispercpp-1.5.0")


def test_the_verb_refuses_a_row_without_tests(capsys):
    assert main(["check-upstream", "--upstream", "pywhispercpp-1.5.1", "--", "-o", "ADD"]) == 2
    assert ROW in capsys.readouterr().err


def test_only_what_stands_before_two_dashes_is_ours(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["check-upstream", "-o", "ADD"])
    assert caught.value.code == 2
    assert "unrecognized arguments: -o ADD" in capsys.readouterr().err


# ---- how it is linked


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A checkout of empty files."""
    layout = Layout(MANIFEST.rows[ROW], tmp_path)
    src = layout.upstream / "src"
    for source in (
        src / "ggml.c",
        src / "ggml-backend-reg.cpp",
        src / "ggml-cpu/ggml-cpu.c",
        src / "ggml-cpu/arch/x86/quants.c",
        src / "ggml-metal/ggml-metal-device.m",
        layout.upstream / "tests/test-backend-ops.cpp",
        Path("ggml_metal_py/decl/guard.cpp"),
    ):
        (tmp_path / source).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / source).touch()
    return layout


def statement(text: str, output: str) -> str:
    found = re.search(rf"^build \S*{re.escape(output)}: .*\n(?:  .*\n)*", text, re.MULTILINE)
    assert found
    return found[0]


@pytest.fixture
def graph(layout: Layout) -> str:
    return (layout.root / write_suite_graph(layout, CLANG)).read_text()


def test_the_host_has_the_librarys_own_objects_and_no_metal(graph):
    linked = statement(graph, "check-upstream/test-backend-ops")
    assert f"build/{ROW}/ggml-base/src-ggml.c.o" in linked
    assert f"build/{ROW}/ggml-cpu/x86-quants.c.o" in linked
    assert "ggml-metal" not in linked
    assert "softmetal" not in linked
    assert "decl" not in linked


def test_the_registry_is_compiled_again_without_the_metal_backend(graph):
    assert f"build/{ROW}/ggml-base/src-ggml-backend-reg.cpp.o" not in graph
    registry = statement(graph, "registry/src-ggml-backend-reg.cpp.o")
    assert "-DGGML_USE_CPU" in registry
    assert "GGML_USE_METAL" not in registry


def test_the_tests_are_compiled_as_they_are_with_assertions(graph):
    tests = statement(graph, "tests/tests-test-backend-ops.cpp.o")
    assert f"compile_cxx build/upstream/{ROW}/tests/test-backend-ops.cpp" in tests
    assert "-UNDEBUG" in tests
    assert re.search(r"command = .* -O2 .*-DNDEBUG.* \$flags", graph)


# ---- what it is told, and what is passed on


def stand_in(layout: Layout, script: str) -> None:
    """Another program in the place of ggml's."""
    path = layout.root / program(layout)
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_the_library_is_loaded_as_a_backend_module(layout, monkeypatch, capfdbinary):
    monkeypatch.delenv("GGML_METAL_PY_LIB", raising=False)
    monkeypatch.delenv("SOFTMETAL_COMPILER", raising=False)
    stand_in(layout, 'echo "$GGML_BACKEND_PATH"; echo "$SOFTMETAL_COMPILER"; for a; do echo "<$a>"; done')
    assert run_suite(layout, CLANG, ["-o", "ADD,MUL", "-p", "a b"]) == 0
    library, compiler, *arguments = capfdbinary.readouterr().out.decode().splitlines()
    assert library == str(layout.root / f"ggml_metal_py/lib/{ROW}/libggml-metal-py-{ROW}.so")
    assert compiler == f"{sys.executable} -m ggml_metal_py.softmetal.msl"
    assert arguments == ["<-o>", "<ADD,MUL>", "<-p>", "<a b>"]


CASES = r"""
printf 'Testing 2 devices\n\nBackend 1/2: MTL0\n  Device description: Apple M2\n\n'
printf '  ADD(type=f32,ne=[1,1,8,1]): \033[1;32mOK\033[0m\n'
printf '  ADD(type=q8_0,ne=[1,1,8,1]): not supported [MTL0] \n'
printf '[MUL_MAT] ERR = 0.1 > 0.0005   MUL_MAT(type_a=f16,m=16): \033[1;31mFAIL\033[0m\n'
printf '  1/2 tests passed\n\nFailing tests:\n  MUL_MAT(type_a=f16,m=16)\n'
printf '  Backend MTL0: \033[1;31mFAIL\033[0m\n'
printf '1/2 backends passed\n\033[1;31mFAIL\033[0m\n'
exit 1
"""


def test_output_and_status_are_the_programs_and_the_last_line_sums_up(layout, capfdbinary):
    stand_in(layout, CASES)
    assert run_suite(layout, CLANG, []) == 1
    *own, last = capfdbinary.readouterr().out.decode().splitlines()
    assert own == subprocess.run(["sh", "-c", CASES], capture_output=True, text=True).stdout.splitlines()
    assert last == f"{ROW}: 1 cases OK, 1 failed, 1 not supported (failed: MUL_MAT 1)"


def test_a_program_that_dies_has_its_signal_and_what_was_counted(layout, capfdbinary):
    stand_in(layout, r"printf '  ADD(a): \033[1;32mOK\033[0m\n  MUL(b): '; kill -ABRT $$")
    assert run_suite(layout, CLANG, []) == 134
    last = capfdbinary.readouterr().out.decode().splitlines()[-1]
    assert last == f"{ROW}: 1 cases OK, 0 failed, 0 not supported; ended by SIGABRT"


def test_a_run_without_a_single_case_is_no_success(layout, capfdbinary):
    stand_in(layout, r"printf '  0/0 tests passed\n2/2 backends passed\n\033[1;32mOK\033[0m\n'")
    assert run_suite(layout, CLANG, ["-o", "ADDD"]) == 2
    assert "no case ran" in capfdbinary.readouterr().out.decode()


def test_a_list_is_not_summed_up(layout, capfdbinary):
    stand_in(layout, "printf 'GGML operations:\\n  ADD\\n'")
    assert run_suite(layout, CLANG, ["--list-ops"]) == 0
    assert capfdbinary.readouterr().out == b"GGML operations:\n  ADD\n"


# ---- how it counts


def counted(text: str, step: int = 1 << 16) -> SuiteCounts:
    counts, data = SuiteCounts(), text.encode()
    for start in range(0, len(data), step):
        counts.feed(data[start : start + step])
    return counts


@pytest.mark.parametrize("step", [1, 7, 4096])
def test_output_may_come_in_any_pieces(step):
    text = subprocess.run(["sh", "-c", CASES], capture_output=True, text=True).stdout
    counts = counted(text, step)
    assert (counts.ok, dict(+counts.failed), counts.unsupported) == (1, {"MUL_MAT": 1}, 1)
    assert counts.finished


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  SOFT_MAX(type=f32,ne=[16,1,1,1],mask=0): OK", (1, 0, 0)),
        ("[ADD] NaN at index 3 (MTL0=nan CPU=1.0)   ADD(type=f32): FAIL", (0, 1, 0)),
        (
            "[MUL] NaN at index 3 (MTL0=nan CPU=1.0) sentinel mismatch: sent_1   ADD(type=f32): FAIL",
            (0, 1, 0),
        ),
        ("  ADD(type=f32): [MUL] ERR = 1.0 > 0.5 OK", (1, 0, 0)),
        ("  CPY(type_src=f32,type_dst=i32,_src_transpose=0): not supported [MTL0, CPU] ", (0, 0, 1)),
        ("  Backend MTL0: OK", (0, 0, 0)),
        ("  3/3 tests passed", (0, 0, 0)),
        ("  Device memory: 16384 MB (16384 MB free)", (0, 0, 0)),
        ("  ADD(type=f32)", (0, 0, 0)),
        ("OK", (0, 0, 0)),
    ],
)
def test_a_line_is_a_case_or_it_is_not(line, expected):
    counts = counted(f"{line}\n")
    assert (counts.ok, counts.failed.total(), counts.unsupported) == expected
    assert counts.ran == any(expected)


def test_a_failure_without_a_line_of_its_own_is_told():
    counts = counted("failed to allocate tensors [MTL0]   ADD(a): OK\n  1/2 tests passed\n")
    assert str(counts) == "1 cases OK, 0 failed, 0 not supported; the program itself counts 1 failed"


# ---- the real one


@pytest.mark.slow
def test_ggmls_own_tests_of_a_few_ops_pass():
    """Builds the program when it is not there, and each kernel that is not prebuilt when it is needed."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "ggml_metal_py._build", "check-upstream", "--upstream", ROW),
            *("--no-kernels", "--", "-o", "SOFT_MAX,ARGMAX,SUM_ROWS,DIAG_MASK_INF"),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    last = done.stdout.splitlines()[-1]
    found = re.fullmatch(rf"{ROW}: (\d+) cases OK, 0 failed, (\d+) not supported", last)
    assert found, f"{last}\n{done.stderr}"
    assert int(found[1]) > 100
    assert done.returncode == 0
