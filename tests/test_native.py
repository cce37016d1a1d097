"""Finding and opening the library: every way it can be missing ends in one error that helps."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fresh_python import run_python

import ggml_metal_py as gm
from ggml_metal_py import _native
from ggml_metal_py._build.manifest import read_manifest

OPEN_AND_MULTIPLY = """
    import numpy as np, ggml_metal_py as gm
    a = np.arange(64, dtype=np.float32).reshape(2, 32)
    assert np.allclose(gm.mul_mat(a, a), a @ a.T)
    print("good")
"""


@pytest.fixture(scope="session")
def built() -> Path:
    """The folder of the default row's artifacts."""
    return _native.open_native().folder


def test_default_upstream_is_the_one_that_is_built_by_default() -> None:
    assert read_manifest().default == _native.DEFAULT_UPSTREAM


def test_importing_the_package_loads_neither_numpy_nor_the_library() -> None:
    done = run_python(
        """
        import sys, ggml_metal_py
        print([m for m in sys.modules if m == "numpy" or m.startswith(("_gmpy", "_cffi", "ggml_metal_py."))])
        """
    )
    assert done.stdout.strip() == "[]"


def test_every_public_name_exists() -> None:
    for name in gm.__all__:
        assert getattr(gm, name) is not None
    assert set(gm.__all__) <= set(dir(gm))
    with pytest.raises(AttributeError):
        gm.nothing  # noqa: B018


def test_a_missing_library_names_paths_and_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GGML_METAL_PY_LIB", str(tmp_path))
    with pytest.raises(gm.LibraryNotFound) as caught:
        gm.open()
    text = str(caught.value)
    assert (
        str(tmp_path / _native.DEFAULT_UPSTREAM / f"libggml-metal-py-{_native.DEFAULT_UPSTREAM}.so") in text
    )
    assert f"./build.sh build --upstream {_native.DEFAULT_UPSTREAM}" in text


def test_an_upstream_that_is_not_built_is_told_with_those_that_are(built: Path) -> None:
    with pytest.raises(gm.LibraryNotFound) as caught:
        gm.open("whisper.rn-0.0.1")
    assert built.name in str(caught.value)
    assert "--upstream whisper.rn-0.0.1" in str(caught.value)


@pytest.mark.parametrize("name", ["../lib", "a/b", ".hidden", "row\0"])
def test_an_upstream_name_cannot_leave_the_folder(name: str) -> None:
    with pytest.raises(ValueError, match="an upstream is named like"):
        gm.open(name)


@pytest.mark.parametrize("damage", ["empty library", "no library", "no extension", "text extension"])
def test_damaged_files_are_reported_as_not_found(damage: str, built: Path, tmp_path: Path) -> None:
    folder = tmp_path / built.name
    shutil.copytree(built, folder, ignore=shutil.ignore_patterns("kernels"))
    library = next(folder.glob("libggml-*"))
    extension = next(folder.glob("_gmpy_*"))
    match damage:
        case "empty library":
            library.write_bytes(b"")
        case "no library":
            library.unlink()
        case "no extension":
            extension.unlink()
        case "text extension":
            extension.write_text("no machine code")
    done = run_python(
        """
        import ggml_metal_py as gm
        try:
            gm.open()
        except gm.LibraryNotFound as error:
            print(error)
        """,
        env={"GGML_METAL_PY_LIB": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert str(library) in done.stdout
    assert "./build.sh build" in done.stdout


def test_a_library_that_is_older_than_the_package_is_refused(built: Path, tmp_path: Path) -> None:
    folder = tmp_path / "lib" / built.name
    shutil.copytree(built, folder, ignore=shutil.ignore_patterns("kernels"))
    (manifest,) = folder.glob("manifest.json")
    values = json.loads(manifest.read_text())
    assert re.fullmatch(r"[0-9a-f]{64}", values["headers_sha256"])
    manifest.write_text(json.dumps({**values, "headers_sha256": "0" * 64}))
    done = run_python(
        """
        import ggml_metal_py as gm
        try:
            gm.open()
        except gm.LibraryNotFound as error:
            print(error)
        """,
        env={"GGML_METAL_PY_LIB": str(folder.parent)},
    )
    assert "another version of this package's sources" in done.stdout, done.stderr
    assert f"./build.sh build --upstream {built.name}" in done.stdout


def test_a_library_of_another_build_is_refused(built: Path, tmp_path: Path) -> None:  # R15
    folder = tmp_path / built.name
    shutil.copytree(built, folder, ignore=shutil.ignore_patterns("kernels"))
    library = next(folder.glob("libggml-*"))
    content = library.read_bytes()
    fingerprint = re.search(rb"[0-9a-f]{64}", next(folder.glob("_gmpy_*")).read_bytes())
    assert fingerprint is not None
    assert fingerprint[0] in content
    library.write_bytes(content.replace(fingerprint[0], b"0" * 64))
    done = run_python(
        """
        import ggml_metal_py as gm
        try:
            gm.open()
        except gm.LibraryNotFound as error:
            print(error)
        """,
        env={"GGML_METAL_PY_LIB": str(tmp_path)},
    )
    assert "other declarations" in done.stdout, done.stderr


@pytest.mark.parametrize("place", ["with spaces", "äöü-日本語", "moved/deep/er"])
def test_it_works_from_any_folder_and_working_directory(
    place: str, built: Path, tmp_path: Path
) -> None:  # R3
    folder = tmp_path / place
    shutil.copytree(built, folder / built.name)
    done = run_python(OPEN_AND_MULTIPLY, cwd=tmp_path, env={"GGML_METAL_PY_LIB": str(folder)})
    assert done.stdout == "good\n", done.stderr


@pytest.mark.parametrize("value", ["", "/nowhere", "."])
def test_upstreams_resource_path_does_not_matter(value: str) -> None:  # R3
    done = run_python(OPEN_AND_MULTIPLY, env={"GGML_METAL_PATH_RESOURCES": value})
    assert done.stdout == "good\n", done.stderr


def without_compiler(folder: Path) -> dict[str, str]:
    """Only what lies in `folder` / "lib" is there: no cache, and nothing that could compile."""
    return {
        "GGML_METAL_PY_LIB": str(folder / "lib"),
        "SOFTMETAL_COMPILER": "",
        "XDG_CACHE_HOME": str(folder / "cache"),
    }


def test_missing_kernels_without_a_compiler_name_paths_and_command(built: Path, tmp_path: Path) -> None:  # R3
    shutil.copytree(built, tmp_path / "lib" / built.name, ignore=shutil.ignore_patterns("kernels"))
    done = run_python(
        """
        import ggml_metal_py as gm
        try:
            gm.open()
        except gm.LibraryNotFound as error:
            print(error)
        """,
        env=without_compiler(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    assert str(tmp_path / "lib" / built.name / "kernels") in done.stdout
    assert "./build.sh build" in done.stdout


def test_a_kernel_without_machine_code_names_paths_and_command(built: Path, tmp_path: Path) -> None:  # R3
    shutil.copytree(built, tmp_path / "lib" / built.name, ignore=shutil.ignore_patterns("*all.so", "fn-*"))
    done = run_python(
        """
        import numpy as np, ggml_metal_py as gm
        try:
            gm.mul_mat(np.ones((2, 32)), np.ones((2, 32)))
        except gm.ComputeError as error:
            print(error)
        """,
        env=without_compiler(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    assert "kernel_mul_mv_f32_f32" in done.stdout
    assert str(tmp_path / "lib" / built.name / "kernels") in done.stdout
    assert f"./build.sh build --upstream {built.name}" in done.stdout


def test_a_name_that_the_row_lacks_is_told() -> None:
    native = _native.open_native()
    assert not native.has("ggml_from_the_future")
    with pytest.raises(gm.NotInUpstream, match=f"{native.row} has no ggml_from_the_future"):
        native.ggml_from_the_future()


def test_the_library_shows_no_symbol_of_ggml_to_the_process() -> None:
    done = run_python(
        """
        import ctypes, ggml_metal_py as gm
        gm.open()
        print(hasattr(ctypes.CDLL(None), "ggml_init"), hasattr(ctypes.CDLL(None), "gmpy_table"))
        """
    )
    assert done.stdout == "False False\n", done.stderr


def test_another_ggml_in_the_processs_global_scope_is_left_alone() -> None:
    done = run_python(
        """
        import ctypes, os, sysconfig
        from pathlib import Path
        folder = Path(sysconfig.get_path("platlib"), "pywhispercpp.libs")
        base = next(folder.glob("libggml-base-*"))
        other = ctypes.CDLL(str(base), ctypes.RTLD_GLOBAL)
        other.ggml_version.restype = other.ggml_type_name.restype = ctypes.c_char_p
        import numpy as np, ggml_metal_py as gm
        a = np.arange(64, dtype=np.float32).reshape(2, 32)
        assert np.allclose(gm.mul_mat(a, a), a @ a.T)
        try:
            gm.ops.apply("concat", *[gm.open().context().new_tensor("f32", (2, 2))] * 2, 9)
        except gm.GgmlAbort:
            print("ours aborted, and lives")
        # ours has set callbacks: the other's must be untouched
        previous = other.ggml_set_abort_callback
        previous.restype = ctypes.c_void_p
        print(previous(None), other.ggml_version().decode(), other.ggml_type_name(2).decode())
        """
    )
    assert done.stdout == "ours aborted, and lives\nNone 0.13.1 q4_0\n", done.stderr


def test_a_row_is_opened_once_per_process() -> None:
    assert _native.open_native() is _native.open_native(os.environ.get("GGML_METAL_PY_UPSTREAM"))


def test_two_libraries_in_one_process_work_and_do_not_mix(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(built, tmp_path / built.name)
    a = np.random.default_rng(0).standard_normal((4, 32), np.float32)
    with gm.open() as first:
        monkeypatch.setenv("GGML_METAL_PY_LIB", str(tmp_path))
        with gm.open() as second:
            assert first._native is not second._native
            tensors = []
            for device in (first, second):
                context, backend = device.context(), device.backend()
                x = context.from_numpy(a)
                result = gm.ops.mul_mat(x, x)
                backend.alloc(context)
                backend.compute(result)
                np.testing.assert_allclose(result.numpy(), a @ a.T, atol=0.05)
                tensors.append(result)
            mixtures: list[Callable[[], object]] = [
                lambda: gm.ops.add(*tensors),
                lambda: gm.Graph(*tensors),
                lambda: backend.compute(tensors[0]),
                lambda: backend.alloc(tensors[0].context),
                lambda: backend.supports_op(tensors[0]),
                lambda: second.supports_op(tensors[0]),
            ]
            for mix in mixtures:
                with pytest.raises(ValueError, match="belongs to upstream"):
                    mix()
