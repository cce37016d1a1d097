"""The cache from the side of the compiler service: who builds and who waits, what is removed, what is left.

Mostly with a builder that makes nothing (msl_cache.py), because it is about processes and not about kernels.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from msl_cache import VERSION
from native_programs import real_service

from ggml_metal_py.softmetal.msl import version as version_module
from ggml_metal_py.softmetal.msl.cache import Entry
from ggml_metal_py.softmetal.msl.key import source_key
from ggml_metal_py.softmetal.msl.scratch import scratch
from ggml_metal_py.softmetal.msl.store import is_whole, library_file
from ggml_metal_py.softmetal.toolchain import find_toolchain

HERE = Path(__file__).parent
KERNEL = b"kernel void k(device int * out) { out[0] = VALUE; }\n"


class Cache:
    """A cache folder, and processes that build in it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "cache"
        self.log_file = folder / "log"
        self.environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}

    def start(self, source: str, function: str, seconds: float = 0, size: int = 0) -> subprocess.Popen[str]:
        words = [str(self.root), source, function, str(seconds), str(size)]
        command = [sys.executable, str(HERE / "msl_cache.py"), *words]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self.environment)

    def build(self, source: str, function: str, size: int = 0) -> Path:
        process = self.start(source, function, size=size)
        answer, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        path = Path(answer.strip())
        assert path == self.file(source, function)
        assert is_whole(path)
        return path

    def file(self, source: str, function: str) -> Path:
        return library_file(self.root / VERSION, source_key(source.encode(), {}), function)

    def log(self) -> list[str]:
        return self.log_file.read_text().splitlines() if self.log_file.exists() else []

    def wait_for(self, line: str) -> None:
        end = time.monotonic() + 30
        while line not in self.log():
            assert time.monotonic() < end
            time.sleep(0.01)

    def scratch_folders(self) -> list[Path]:
        return [path for path in (self.root / ".work").iterdir() if path.is_dir()]


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path)


def test_processes_that_want_the_same_kernel_build_it_once(cache: Cache) -> None:
    processes = [cache.start("source", "a", seconds=0.5) for _ in range(5)]
    answers = {process.communicate(timeout=60)[0] for process in processes}
    assert answers == {f"{cache.file('source', 'a')}\n"}
    assert cache.log() == ["began a", "ended a"]
    assert cache.scratch_folders() == []


def test_processes_that_want_different_kernels_of_a_source_do_not_wait(cache: Cache) -> None:
    first = cache.start("source", "a", seconds=60)
    cache.wait_for("began a")
    cache.build("source", "b")
    first.kill()
    first.communicate()


def test_nobody_waits_for_a_process_that_died(cache: Cache) -> None:
    first = cache.start("source", "a", seconds=60)
    cache.wait_for("began a")
    second = cache.start("source", "a")
    time.sleep(0.5)
    assert cache.log() == ["began a"]
    first.kill()
    first.communicate()
    second.communicate(timeout=30)
    assert second.returncode == 0
    assert cache.log() == ["began a", "began a", "ended a"]
    cache.build("source", "b")  # the second may have begun before the system had put away all of the first
    assert cache.scratch_folders() == []


def test_what_a_killed_build_left_goes_with_the_next_and_nothing_else(tmp_path: Path) -> None:
    left = tmp_path / ".work" / "left"
    (left / "zig" / "o").mkdir(parents=True)
    (left / "unit0.ll").write_text("text")
    hold = "import sys; from pathlib import Path; from ggml_metal_py.softmetal.msl.scratch import scratch\n"
    hold += "with scratch(Path(sys.argv[1])) as work: print(work, flush=True); sys.stdin.read()"
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as other:
        assert other.stdout is not None
        in_use = Path(other.stdout.readline().strip())
        with scratch(tmp_path) as work:
            assert not left.exists()
            assert in_use.is_dir()
            assert work.is_dir()
        assert not work.exists()
        other.kill()
    with scratch(tmp_path):
        assert not in_use.exists()


def test_the_cache_is_bounded_and_what_was_not_used_for_longest_goes_first(cache: Cache) -> None:
    cache.environment["SOFTMETAL_CACHE_MB"] = "1"
    a, b, c = (cache.build(name, "k", size=400_000) for name in "abc")
    assert [path.exists() for path in (a, b, c)] == [False, True, True]
    assert cache.build("b", "k") == b  # a use
    d = cache.build("d", "k", size=400_000)
    assert [path.exists() for path in (b, c, d)] == [True, False, True]
    assert cache.build("a", "k", size=2_000_000).exists()  # too large, and still of use to who asked
    assert [path.exists() for path in (b, d)] == [False, False]


def test_an_entry_in_use_is_not_removed(cache: Cache) -> None:
    cache.environment["SOFTMETAL_CACHE_MB"] = "1"
    a = cache.build("a", "k", size=900_000)
    with Entry(a.parent):
        cache.build("b", "k", size=900_000)
        cache.build("c", "k", size=900_000)
        assert a.exists()
        assert not cache.file("b", "k").exists()
    cache.build("d", "k", size=900_000)
    assert not a.exists()


def test_processes_that_fill_a_small_cache_at_once_all_get_their_kernels(cache: Cache) -> None:
    cache.environment["SOFTMETAL_CACHE_MB"] = "1"
    for _ in range(3):
        processes = [cache.start(name, "k", 0.05, 500_000) for name in "abcdef"]
        for process in processes:
            assert process.wait(timeout=60) == 0
    cache.build("g", "k", size=500_000)  # those before may have left what others had in use
    entries = list((cache.root / VERSION).iterdir())
    assert sum(file.stat().st_size for entry in entries for file in entry.iterdir()) <= 1024 * 1024
    assert cache.scratch_folders() == []


def test_a_bound_that_is_no_number_is_an_error(service: Callable[..., str], tmp_path: Path) -> None:
    said = service(tmp_path, SOFTMETAL_CACHE_MB="a lot", status=1)
    assert said == "SOFTMETAL_CACHE_MB is 'a lot'; it must be a number of megabytes\n"


@pytest.mark.parametrize(
    "name",
    ["toolchain.py", "msl/translate.py", "msl/include/softmetal/math.h", "exec/executor.cpp", "exec/abi.h"],
)
def test_the_version_changes_with_all_that_makes_kernels(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolchain = find_toolchain()
    before = version_module.version(toolchain)
    shutil.copytree(version_module._SOFTMETAL, tmp_path / "softmetal")
    monkeypatch.setattr(version_module, "_SOFTMETAL", tmp_path / "softmetal")
    assert version_module.version(toolchain) == before
    with (tmp_path / "softmetal" / name).open("a") as file:
        file.write("\n")
    assert version_module.version(toolchain) != before


@pytest.fixture
def service() -> Callable[..., str]:
    """Runs the real service on KERNEL, with a cache folder; returns what it prints."""

    def run(cache: Path, *options: str, status: int = 0, source: bytes = KERNEL, **environment: str) -> str:
        settings = real_service()
        command = [*settings["SOFTMETAL_COMPILER"].split(), "build", "/dev/stdin"]
        command += ["--cache", str(cache), "--name", "program_source", *options]
        env = {**os.environ, **settings, **environment}
        done = subprocess.run(command, input=source, capture_output=True, env=env, check=False)
        assert done.returncode == status, done.stderr.decode()
        return (done.stderr if status else done.stdout).decode()

    return run


def test_the_service_answers_with_the_path_and_makes_a_damaged_file_again(
    service: Callable[..., str], tmp_path: Path
) -> None:
    library = Path(service(tmp_path, "-D", "VALUE=1").strip())
    assert library.relative_to(tmp_path).parts[1:] == (source_key(KERNEL, {"VALUE": "1"}), "all.so")
    made = library.stat().st_ino
    assert Path(service(tmp_path, "-D", "VALUE=1").strip()) == library
    assert library.stat().st_ino == made
    content = library.read_bytes()
    library.write_bytes(content[: len(content) // 2])
    service(tmp_path, "-D", "VALUE=1")
    assert is_whole(library)
    assert sorted(path.name for path in library.parent.iterdir()) == ["all.so", "functions.txt", "lock"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".work", library.parents[1].name]
    assert [path.name for path in (tmp_path / ".work").iterdir()] == ["lock"]


def test_an_error_in_the_source_leaves_nothing(service: Callable[..., str], tmp_path: Path) -> None:
    said = service(tmp_path, source=b"kernel void k() {\n    nonsense\n}\n#error stop", status=1)
    assert "program_source:4:" in said
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / ".work" / "lock"]


def test_an_empty_macro_is_part_of_the_key(service: Callable[..., str], tmp_path: Path) -> None:
    answer = service(tmp_path, "--functions-only", "-D", "VALUE=")
    assert Path(answer).parent.name == source_key(KERNEL, {"VALUE": ""})


@pytest.mark.parametrize("folder", ["/proc/softmetal", "/dev/null/softmetal"])
def test_a_cache_that_cannot_be_written_is_named(service: Callable[..., str], folder: str) -> None:
    said = service(Path(folder), status=1)
    assert said.startswith(f"cannot write the kernel cache {folder}: {folder}")
    assert "XDG_CACHE_HOME" in said
