"""How the device finds kernels: in folders, in the cache, by the compiler service; and what it says else."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from native_programs import NATIVE, SOURCE, kernel_file, kernel_folder, real_service, run_program

from ggml_metal_py.softmetal.msl.cache import trim
from ggml_metal_py.softmetal.msl.key import source_key
from ggml_metal_py.softmetal.msl.scratch import scratch
from ggml_metal_py.softmetal.msl.store import library_file
from ggml_metal_py.softmetal.toolchain import find_toolchain

KEY = source_key(SOURCE.encode(), {})

VERSIONS = ("00000000000000aa", "00000000000000bb")
VERSION = VERSIONS[0]

# A compiler service that makes no kernels: it takes them from a folder, and writes down what it was asked.
SERVICE = """
import hashlib, json, pathlib, sys
made, log, names, complaint = map(json.loads, {arguments!r})
arguments = sys.argv[1:]
if arguments == ["version"]:
    print({version!r})
    sys.exit()
with open(log, "a") as file:
    print(json.dumps(arguments), file=file)
if complaint:
    sys.exit(complaint)
source = pathlib.Path(arguments[1]).read_text()
out = pathlib.Path(arguments[arguments.index("--cache") + 1]) / {version!r} / {key!r}
out.mkdir(parents=True, exist_ok=True)
target, content = out / "functions.txt", "\\n".join(["softmetal 1", *names, ""]).encode()
if "--function" in arguments:
    name = arguments[arguments.index("--function") + 1]
    target = out / f"fn-{{hashlib.sha256(name.encode()).hexdigest()[:16]}}.so"
elif "--functions-only" not in arguments:
    target = out / "all.so"
if target.suffix == ".so":
    content = pathlib.Path(made).read_bytes()
target.write_bytes(content + b"sha256 " + hashlib.sha256(content).hexdigest().encode() + b"\\n")
(out / "lock").touch()
print(target)
"""


@pytest.fixture(scope="module")
def program(compiled) -> Path:
    return compiled("plain")(NATIVE / "open_library.m")


@dataclass
class Loader:
    """Runs open_library with a cache folder of its own."""

    program: Path
    folder: Path
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.env["XDG_CACHE_HOME"] = str(self.folder / "cache")

    def __call__(
        self, kernel: str = "count", groups: int = 3, source: str = SOURCE, macros: tuple[str, ...] = ()
    ) -> str:
        file = self.folder / "source.metal"
        file.write_text(source)
        done = run_program(self.program, str(file), kernel, str(groups), *macros, env=self.env)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @property
    def cache(self) -> Path:
        return self.folder / "cache" / "softmetal"

    def use_service(
        self, names: list[str], complaint: str = "", version: str = VERSION
    ) -> "Callable[[], list[list[str]]]":
        """Sets a compiler service up; returns what reads its log."""
        made = kernel_file(find_toolchain(), self.folder / "made.so")
        log = self.folder / "log"
        arguments = [json.dumps(value) for value in (str(made), str(log), names, complaint)]
        script = self.folder / "it's a service.py"
        script.write_text(SERVICE.format(arguments=arguments, key=KEY, version=version))
        self.env["SOFTMETAL_COMPILER"] = f'{sys.executable} "{script}"'
        return lambda: [json.loads(line) for line in log.read_text().splitlines()]


@pytest.fixture
def loader(program: Path, tmp_path: Path) -> Loader:
    return Loader(program, tmp_path)


def test_kernels_in_a_folder_run(loader: Loader) -> None:
    loader.env["KERNEL_FOLDER"] = str(kernel_folder(find_toolchain(), loader.folder / "kernels"))
    assert loader().splitlines() == [
        "kernels: 7 declared, 6 prebuilt",
        "result: 1 1 1" + " 0" * 61,
    ]
    assert loader(kernel="missing").endswith("set SOFTMETAL_COMPILER to the compiler's command\n")
    assert not loader.cache.exists()


def test_an_unknown_source_without_compiler_says_what_to_do(loader: Loader) -> None:
    said = loader(source="something else")
    assert source_key(b"something else", {}) in said
    assert "in no folder" in said
    assert "SOFTMETAL_COMPILER" in said


def test_macros_are_part_of_the_key(loader: Loader) -> None:
    said = loader(macros=("B=2", "A=x y"))
    assert source_key(SOURCE.encode(), {"A": "x y", "B": "2"}) in said


@pytest.mark.parametrize(
    ("define", "value", "reason"),
    [
        ("ABI", "99", "it has ABI 99"),
        ("CPU", '"x86_64_v9"', "compiled for x86_64_v9, which this CPU cannot run"),
        ("SOURCE_HASH", '"0123"', "made from another source, 0123"),
    ],
)
def test_a_library_that_does_not_fit_is_refused(loader: Loader, define: str, value: str, reason: str) -> None:
    folder = kernel_folder(find_toolchain(), loader.folder / "kernels", **{define: value})
    loader.env["KERNEL_FOLDER"] = str(folder)
    said = loader()
    assert "dispatch: cannot use the kernel library" in said
    assert reason in said
    assert "0 prebuilt" in said


def test_a_file_that_is_no_library_is_refused(loader: Loader) -> None:
    folder = kernel_folder(find_toolchain(), loader.folder / "kernels")
    (folder / KEY / "all.so").write_text("no ELF")
    loader.env["KERNEL_FOLDER"] = str(folder)
    assert "dispatch: cannot open a kernel library" in loader()


def test_a_broken_list_of_functions_is_refused(loader: Loader) -> None:
    folder = kernel_folder(find_toolchain(), loader.folder / "kernels")
    (folder / KEY / "functions.txt").write_text("count\n")
    loader.env["KERNEL_FOLDER"] = str(folder)
    assert 'does not begin with "softmetal 1"' in loader()


def test_a_small_source_is_compiled_when_it_is_opened_and_once(loader: Loader) -> None:
    log = loader.use_service(["count", "fail"])
    said = loader(macros=())
    assert said.splitlines()[0] == "kernels: 2 declared, 6 prebuilt"
    assert said.splitlines()[1].startswith("result: 1 1 1 0")
    build = ["build", "/dev/stdin", "--cache", str(loader.cache), "--name", "program_source"]
    assert log() == [[*build, "--functions-only"], build]
    assert loader() == said
    assert len(log()) == 2
    assert [path.name for path in loader.cache.iterdir()] == [VERSION]
    assert [path.name for path in (loader.cache / VERSION).iterdir()] == [KEY]


def test_kernels_of_a_large_source_are_compiled_one_by_one(loader: Loader) -> None:
    log = loader.use_service(["count", *(f"unused_{i:03}" for i in range(70))])
    assert loader().splitlines() == ["kernels: 71 declared, 0 prebuilt", "result: 1 1 1" + " 0" * 61]
    assert [call[6:] for call in log()] == [["--functions-only"], ["--function", "count"]]
    assert library_file(loader.cache / VERSION, KEY, "count").exists()
    assert loader().startswith("kernels: 71 declared, 1 prebuilt")
    assert len(log()) == 2
    # This one is listed, and not in what the service makes.
    said = loader(kernel="unused_001")
    assert "kernel unused_001 has no machine code: the compiler made" in said


def test_the_services_words_become_the_error(loader: Loader) -> None:
    loader.use_service(["count"], complaint="source.metal:7:3: error: no such thing")
    assert loader() == "library: source.metal:7:3: error: no such thing\n\n"


def test_a_service_that_is_not_there_is_named(loader: Loader) -> None:
    loader.env["SOFTMETAL_COMPILER"] = "/nowhere/compiler build"
    assert loader().startswith("library: cannot run the kernel compiler /nowhere/compiler: No such file")


def test_words_of_the_command_may_be_separated_by_control_characters(loader: Loader) -> None:
    log = loader.use_service(["count"])
    script = loader.folder / "it's a service.py"
    loader.env["SOFTMETAL_COMPILER"] = f"{sys.executable}\x1f{script}"
    assert loader().startswith("kernels: 1 declared")
    assert len(log()) == 2


def test_a_host_that_ignores_its_children_gets_its_kernels(loader: Loader) -> None:
    loader.use_service(["count"])
    loader.env["IGNORE_CHILDREN"] = "1"
    assert loader().startswith("kernels: 1 declared, 6 prebuilt")


def test_what_another_version_made_is_not_used(loader: Loader) -> None:
    for version in VERSIONS:
        log = loader.use_service(["count"], version=version)
        assert loader().splitlines()[1].startswith("result: 1 1 1 0")
    assert len(log()) == 4
    assert sorted(path.name for path in loader.cache.iterdir()) == sorted(VERSIONS)


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _lose_blocks(content: bytes) -> bytes:
    """What some file systems make of a file that was not on the disk yet when power failed."""
    return bytes(len(content))


def _flip(content: bytes) -> bytes:
    middle = len(content) // 3
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize("damage", [_cut, _lose_blocks, _flip, lambda content: b""])
@pytest.mark.parametrize(
    ("unused", "names"), [(0, ("functions.txt", "all.so")), (70, ("functions.txt", "fn-*.so"))]
)
def test_a_damaged_file_is_made_again(
    loader: Loader, damage: Callable[[bytes], bytes], unused: int, names: tuple[str, ...]
) -> None:
    log = loader.use_service(["count", *(f"unused_{i:03}" for i in range(unused))])
    said = loader().splitlines()[1]
    assert len(log()) == 2
    for again, name in enumerate(names, 3):
        (file,) = (loader.cache / VERSION / KEY).glob(name)
        whole = file.read_bytes()
        file.write_bytes(damage(whole))
        assert loader().splitlines()[1] == said
        assert len(log()) == again
        assert file.read_bytes() == whole


def test_a_library_in_a_kernel_folder_that_is_cut_off_is_refused(loader: Loader) -> None:
    folder = kernel_folder(find_toolchain(), loader.folder / "kernels")
    library = folder / KEY / "all.so"
    library.write_bytes(_cut(library.read_bytes()))
    loader.env["KERNEL_FOLDER"] = str(folder)
    assert f"dispatch: cannot open a kernel library: {library} is cut off" in loader()


def test_a_library_counts_as_used_while_it_is_open(loader: Loader) -> None:
    loader.use_service(["count"])
    loader()
    entry = loader.cache / VERSION / KEY
    os.utime(entry / "lock", (0, 0))
    command = [str(loader.program), str(loader.folder / "source.metal"), "count", "3"]
    environment = {**os.environ, **loader.env, "WAIT": "1"}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("kernels: ")
        assert (entry / "lock").stat().st_mtime > 0
        with scratch(loader.cache) as work:
            trim(loader.cache, 0, work, keep=work)
        assert (entry / "all.so").exists()
        assert process.communicate()[0].startswith("result: 1 1 1 0")
    with scratch(loader.cache) as work:
        trim(loader.cache, 0, work, keep=work)
    assert not (loader.cache / VERSION).exists()


def test_a_filled_cache_serves_who_may_not_write_it(loader: Loader) -> None:
    loader.use_service(["count"])
    said = loader()
    # Root may write anything, so it becomes nobody, who cannot enter pytest's folders.
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(loader.folder, folder, dirs_exist_ok=True)
        shutil.copy(loader.program, folder)
        service = Path(folder, "service.sh")
        service.write_text(f"#!/bin/sh\n[ $1 = version ] && echo {VERSION}\n")
        for path in (Path(folder), *Path(folder).rglob("*")):
            path.chmod(0o555)
        env = {"XDG_CACHE_HOME": f"{folder}/cache", "SOFTMETAL_COMPILER": str(service)}
        command = [f"{folder}/{loader.program.name}", f"{folder}/source.metal", "count", "3"]
        nobody = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True, **nobody)
        assert done.stdout == said
        for path in (Path(folder), *Path(folder).rglob("*")):
            path.chmod(0o755)


@pytest.mark.slow
def test_a_metal_source_runs_through_the_real_compiler(loader: Loader) -> None:
    source = """
        #include <metal_stdlib>
        using namespace metal;
        kernel void lanes(device int * out, uint i [[thread_position_in_grid]]) {
            out[i] = simd_sum(int(i)) + FACTOR * int(i);
        }
    """
    loader.env.update(real_service())
    said = loader(kernel="lanes", groups=2, source=source, macros=("FACTOR=1000",))
    sums = [sum(range(32))] * 32 + [sum(range(32, 64))] * 32
    assert said.splitlines() == [
        "kernels: 1 declared, 1 prebuilt",
        "result: " + " ".join(str(total + 1000 * i) for i, total in enumerate(sums)),
    ]
    broken = loader(kernel="lanes", source=source.replace("simd_sum", "simd_smu"))
    assert broken.startswith("library: ")
    assert "simd_smu" in broken


def test_the_digest_is_sha256(loader: Loader) -> None:
    """Lengths around the block size, where padding goes wrong first."""
    for length in (0, 1, 23, 24, 31, 32, 33, 34, 42, 43, 44, 50, 51, 52, 97, 1000):
        assert source_key(b"x" * length, {}) in loader(source="x" * length)
