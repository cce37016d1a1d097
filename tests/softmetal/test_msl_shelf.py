"""What builds of a source's kernels leave for each other."""

from pathlib import Path

import pytest
from msl_build import KERNELS

from ggml_metal_py.softmetal.msl import build as build_module
from ggml_metal_py.softmetal.msl.build import Source, Wanted, build_source
from ggml_metal_py.softmetal.toolchain import find_toolchain


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, Path]:
    """For results, on the way, and the shelf."""
    made = tmp_path / "results", tmp_path / "work", tmp_path / "shelf"
    for folder in made:
        folder.mkdir()
    return made


def build(folders: tuple[Path, Path, Path], function: str, *, checked: bool = False) -> bytes:
    results, work, shelf = folders
    source = Source.read(KERNELS / "tiles.metal", {})
    wanted = Wanted(function=function, checked=checked)
    return build_source(source, results, find_toolchain(), work, wanted, shelf=shelf).read_bytes()


def names(folders: tuple[Path, Path, Path]) -> list[str]:
    source = Source.read(KERNELS / "tiles.metal", {})
    with_functions = build_source(
        source, folders[0], find_toolchain(), folders[1], Wanted(functions_only=True), shelf=folders[2]
    )
    return with_functions.read_text().splitlines()[1:3]


def test_the_second_kernel_finds_the_translation(folders, monkeypatch: pytest.MonkeyPatch):
    first, second = names(folders)
    build(folders, first)
    monkeypatch.setattr(build_module, "translate", None)
    assert build(folders, second) != build(folders, first)


def test_a_build_is_the_same_with_what_was_left_as_without(folders, tmp_path: Path):
    first, second = names(folders)
    build(folders, first)
    with_it = build(folders, second)
    source = Source.read(KERNELS / "tiles.metal", {})
    alone = build_source(source, tmp_path / "alone", find_toolchain(), folders[1], Wanted(function=second))
    assert with_it == alone.read_bytes()


def test_checked_kernels_have_theirs_apart(folders):
    first, _ = names(folders)
    build(folders, first)
    plain = {path.name for path in folders[2].iterdir()}
    build(folders, first, checked=True)
    added = {path.name for path in folders[2].iterdir()} - plain
    assert added
    assert all(name.startswith("checked-") for name in added)


def test_what_is_damaged_is_made_again(folders):
    first, second = names(folders)
    build(folders, first)
    expected = build(folders, second)
    for path in folders[2].iterdir():
        path.write_bytes(path.read_bytes()[:100])
    assert build(folders, second) == expected
