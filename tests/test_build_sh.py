"""build.sh: what reaches the build of the arguments that a person types."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from fresh_python import ROOT

# In the place of .venv's Python: shows how the build is called, and does nothing else.
PYTHON = """#!/bin/sh
if [ "$2" = ggml_metal_py._build ]; then
    shift 2
    echo "row=$GGML_METAL_PY_UPSTREAM"
    for word; do echo "<$word>"; done
fi
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for file in ("build.sh", "pyproject.toml"):
        shutil.copy(ROOT / file, tmp_path)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(PYTHON)
    python.chmod(0o755)
    return tmp_path


def build_sh(checkout: Path, *arguments: str) -> list[str]:
    done = subprocess.run(
        ["./build.sh", *arguments],
        cwd=checkout,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_row_is_taken_from_anywhere_before_two_dashes(checkout: Path) -> None:
    expected = ["row=a-1", "<build>", "<--jobs>", "<1>"]
    assert build_sh(checkout, "build", "--upstream", "a-1", "--jobs", "1") == expected
    assert build_sh(checkout, "build", "--jobs", "1", "--upstream=a-1") == expected


def test_what_follows_two_dashes_reaches_ggmls_tests_as_it_is(checkout: Path) -> None:
    words = build_sh(checkout, "check-upstream", "--upstream", "a-1", "--", "-p", "a b", "--upstream", "c")
    assert words == ["row=a-1", *(f"<{word}>" for word in ("check-upstream", "--", "-p", "a b")), *words[5:]]
    assert words[5:] == ["<--upstream>", "<c>"]


def test_help_names_every_verb(checkout: Path) -> None:
    text = "\n".join(build_sh(checkout, "help"))
    choices = (checkout / "build.sh").read_text().split("case $verb in")[1]
    verbs = re.findall(r"^    ([a-z-]+)\)", choices, re.MULTILINE)
    assert {"build", "check-upstream"} <= set(verbs)
    assert [verb for verb in verbs if f"\n  {verb} " not in text] == []
