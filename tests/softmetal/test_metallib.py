"""Compiled Metal libraries: their functions can be looked up and made into pipelines, and not run."""

import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from native_programs import NATIVE, run_program

KERNEL, FRAGMENT = 2, 1
HEADER = 88


def tag(name: str, content: bytes) -> bytes:
    return name.encode() + struct.pack("<H", len(content)) + content


def entry(name: str, kind: int) -> bytes:
    tags = tag("NAME", name.encode() + b"\0") + tag("TYPE", bytes([kind])) + tag("HASH", bytes(32)) + b"ENDT"
    return struct.pack("<I", len(tags) + 4) + tags


def metallib(entries: Sequence[bytes], magic: bytes = b"MTLB") -> bytes:
    """Apple's container with nothing in it but the list of functions, and something behind that."""
    functions = struct.pack("<I", len(entries)) + b"".join(entries)
    header = magic + bytes(20) + struct.pack("<QQ", HEADER, len(functions) - 4)
    return header.ljust(HEADER, b"\0") + functions + b"bitcode"


WHOLE = metallib([entry("scale", KERNEL), entry("paint", FRAGMENT), entry("add", KERNEL)])


@pytest.fixture(scope="module")
def program(compiled) -> Path:
    return compiled("plain")(NATIVE / "open_metallib.m")


@pytest.fixture
def open_metallib(program: Path, tmp_path: Path) -> Callable[..., list[str]]:
    """Runs the program on a file of this content; the lines it prints."""

    def run(content: bytes, kernel: str = "add") -> list[str]:
        file = tmp_path / "some.metallib"
        file.write_bytes(content)
        done = run_program(program, str(file), kernel)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.splitlines()

    return run


def test_its_kernels_become_pipelines_and_do_not_run(open_metallib, tmp_path: Path) -> None:
    functions, kernels, pipeline, dispatch = open_metallib(WHOLE)
    assert functions == "functions: add scale"
    assert kernels == "kernels: 2 declared, 0 prebuilt, error 0"
    assert pipeline == "pipeline: 1024 threads, error 0"
    assert dispatch.startswith(
        f"dispatch: NoKernelSource: add cannot run: {tmp_path}/some.metallib holds code"
    )


@pytest.mark.parametrize("name", ["paint", "ad", ""])
def test_other_functions_are_not_found(name: str, open_metallib) -> None:
    assert open_metallib(WHOLE, name)[-1] == f'function: the library has no function called "{name}"'


def test_another_file_is_refused(open_metallib, tmp_path: Path) -> None:
    said = open_metallib(WHOLE.replace(b"MTLB", b"ELF!"))
    assert said == [
        f"library: {tmp_path}/some.metallib is no Metal library that can be read: it does not begin with MTLB"
    ]


def test_a_file_that_is_not_there_is_named(program: Path, tmp_path: Path) -> None:
    done = run_program(program, str(tmp_path / "none.metallib"), "add")
    assert done.stdout == f"library: cannot read the Metal library {tmp_path}/none.metallib\n"


def test_a_file_that_was_cut_short_is_refused_wherever_it_ends(open_metallib) -> None:
    end = len(WHOLE) - len(b"bitcode")
    for length in (0, 3, 40, HEADER, HEADER + 2, HEADER + 7, HEADER + 30, end - 1):
        (said,) = open_metallib(WHOLE[:length])
        assert "is no Metal library that can be read: " in said, length


@pytest.mark.parametrize(
    "damage",
    [
        {HEADER: b"\xff\xff\xff\xff"},  # more functions than there are
        {HEADER + 4: b"\xff\xff\xff\x7f"},  # an entry longer than the list
        {HEADER + 4: b"\0\0\0\0"},  # an entry shorter than its own length
        {HEADER + 12: b"\xff\xff"},  # a tag longer than its entry
        {24: b"\xff" * 8},  # the list's place
        {32: b"\xff" * 8},  # the list's size
    ],
)
def test_damaged_numbers_are_refused(damage: dict[int, bytes], open_metallib) -> None:
    content = bytearray(WHOLE)
    for at, value in damage.items():
        content[at : at + len(value)] = value
    (said,) = open_metallib(bytes(content))
    assert "is no Metal library that can be read: " in said
