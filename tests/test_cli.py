"""The command line keeps its contract: JSON keys, one line when something is wrong, exit statuses."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import speech
from fresh_python import ROOT

from ggml_metal_py._native import library_folder
from ggml_metal_py.registry import cache_folder
from ggml_metal_py.whisper import models


def ggml_metal_py(
    *arguments: object, env: Mapping[str, str] | None = None, cwd: Path = ROOT
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "ggml_metal_py", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_help_lists_the_verbs() -> None:
    done = ggml_metal_py("--help")
    assert done.returncode == 0
    for verb in ("info", "upstreams", "getters", "pipeline", "map", "transcribe", "run"):
        assert f"  {verb} " in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("no-such-verb",),
        ("transcribe",),
        ("run",),
        ("transcribe", "missing.wav"),
        ("transcribe", ROOT / "LICENSE"),
        ("transcribe", speech.THANKS, "--model", "missing.bin"),
        ("transcribe", speech.THANKS, "--model", ROOT / "LICENSE"),
        ("transcribe", speech.THANKS, "--threads", "0"),
        ("info", "--upstream", "../odd"),
        ("run", "--", "no-such-command"),
    ],
    ids=str,
)
def test_wrong_use_is_status_2_without_a_traceback(arguments: tuple[object, ...]) -> None:
    done = ggml_metal_py(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.strip()


def test_a_missing_library_is_status_2_and_says_what_builds_it(tmp_path: Path) -> None:
    lib = tmp_path / "with blank äöü"
    done = ggml_metal_py("info", env={"GGML_METAL_PY_LIB": str(lib)}, cwd=tmp_path)
    assert done.returncode == 2
    assert "./build.sh build --upstream" in done.stderr
    assert str(lib) in done.stderr
    assert "Traceback" not in done.stderr


def test_missing_kernels_are_status_2_before_the_host_is_touched(tmp_path: Path) -> None:
    row = tmp_path / "pywhispercpp-1.5.1"
    row.mkdir()
    for path in (library_folder() / row.name).iterdir():
        if path.is_file():
            (row / path.name).symlink_to(path)
    nothing = {"GGML_METAL_PY_LIB": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "SOFTMETAL_COMPILER": ""}
    cache = {"GGML_METAL_PY_CACHE": str(cache_folder())}
    done = ggml_metal_py("transcribe", speech.THANKS, env={**nothing, **cache})
    assert done.returncode == 2
    assert str(row / "kernels") in done.stderr
    assert "./build.sh build --upstream pywhispercpp-1.5.1" in done.stderr
    assert "load_backend" not in done.stderr


def test_info_tells_the_default_upstream() -> None:
    values = json.loads(ggml_metal_py("info", "--json").stdout)
    assert values["upstream"] == "pywhispercpp-1.5.1"
    assert values["ggml_version"] == "0.13.1"
    assert values["kernels"] == {"declared": 611, "prebuilt": 611}
    assert values["device"]["profile"] == "M2"
    assert values["getters"]["declared"] == 59
    assert values["getters"]["mirrored"] == 59


def test_info_for_people_has_the_same_values() -> None:
    done = ggml_metal_py("info")
    assert done.returncode == 0, done.stderr
    assert "ggml_version: 0.13.1" in done.stdout
    assert "  declared: 611" in done.stdout


def test_transcribe_prints_text_alone_on_standard_output() -> None:
    done = ggml_metal_py("transcribe", speech.THANKS)
    assert done.returncode == 0, done.stderr
    assert done.stdout == speech.THANKS_TEXT + "\n"
    assert "0 nodes on the CPU backend" in done.stderr


def test_transcribe_compares_with_the_cpu_backend() -> None:
    done = ggml_metal_py("transcribe", speech.jfk(), "--compare-cpu", "--threads", 2, "--json")
    assert done.returncode == 0, done.stderr
    values = json.loads(done.stdout)
    assert values["text"] == values["cpu_text"] == speech.JFK_TEXT
    assert values["nodes"]["device"] > 1000
    assert values["nodes"]["cpu"] == 0
    assert values["graphs"] > 1
    assert values["pipelines"] > 5
    assert values["threads"] == 2
    assert values["total_ms"] > values["encode_ms"] > 0
    assert values["decode_ms_per_token"] > 0
    assert values["ratio"] == pytest.approx(values["total_ms"] / values["cpu_total_ms"], abs=0.01)


def test_run_starts_the_hosts_command_and_says_what_ran_where(tmp_path: Path) -> None:
    sound = speech.write_16_khz(speech.THANKS, tmp_path / "thanks.wav")
    command = ["run", "--json", "--", "pwcpp", sound, "-m", models.find("tiny.en"), "-otxt"]
    done = ggml_metal_py(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert speech.THANKS_TEXT in Path(f"{sound}.txt").read_text()
    values = json.loads(done.stderr.splitlines()[-1])
    assert values["nodes"]["device"] > 1000
    assert values["nodes"]["cpu"] == 0


def test_run_passes_on_the_exit_status_and_all_arguments(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys; print(sys.argv[1:]); sys.exit(9)")
    done = ggml_metal_py("run", script, "--json", "-x", "--", "y")
    assert (done.returncode, done.stdout) == (9, "['--json', '-x', '--', 'y']\n")
