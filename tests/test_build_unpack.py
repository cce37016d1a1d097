"""Unpacking and embedding, with small archives of our own."""

import hashlib
import io
import tarfile

import pytest

from ggml_metal_py._build.embed import embedded_sources
from ggml_metal_py._build.manifest import Row
from ggml_metal_py._build.unpack import UnpackError, unpack
from ggml_metal_py.registry import Artifact

FILES = {
    "top/ggml/include/ggml.h": b"int ggml;\n",
    "top/ggml/include/deeper/ggml.h": b"not a public header\n",
    "top/ggml/src/ggml.c": b"source\n",
    "top/ggml/src/whisper.cpp": b"not ggml\n",
    "top/ggml/src/ggml-metal/ggml-metal.metal": b"kernels\n",
    "top/ggml/src/ggml-cuda/common.h": b"another backend\n",
    "top/ggml/src/ggml-cpu/../../../../escaped.c": b"outside\n",
    "top/samples/jfk.wav": b"wsp_ stays in a recording",
}


@pytest.fixture
def row(tmp_path, monkeypatch):
    """Makes a row whose archive is in the offline folder."""

    def make(files=FILES, **changes):
        path = tmp_path / "archives" / "top-1.tar.gz"
        path.parent.mkdir(exist_ok=True)
        with tarfile.open(path, "w:gz") as tar:
            for name, content in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
        monkeypatch.setenv("GGML_METAL_PY_ARCHIVES", str(path.parent))
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        artifact = Artifact("pypi", "top", "1", path.name, path.stat().st_size, sha256)
        values = {"include": "ggml/include", "src": "ggml/src", "samples": "samples", **changes}
        return Row("top-1", artifact, **values)

    return make


def files_below(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_only_what_is_compiled_is_unpacked(row, tmp_path):
    folder = unpack(row(), tmp_path / "rows" / "top-1")
    found = files_below(folder)
    found.pop(".unpacked")
    assert found == {
        "include/ggml.h": b"int ggml;\n",
        "src/ggml.c": b"source\n",
        "src/ggml-metal/ggml-metal.metal": b"kernels\n",
        "samples/jfk.wav": b"wsp_ stays in a recording",
    }
    assert [path.name for path in folder.parent.iterdir()] == ["top-1"]


def test_the_prefix_is_stripped_from_sources_only(row, tmp_path):
    files = {**FILES, "top/ggml/src/ggml.c": b"#define WSP_GGML_MAX wsp_ggml_max\n"}
    folder = unpack(row(files, prefix="wsp_"), tmp_path / "top-1")
    assert (folder / "src/ggml.c").read_bytes() == b"#define GGML_MAX ggml_max\n"
    assert (folder / "samples/jfk.wav").read_bytes() == b"wsp_ stays in a recording"


def test_a_compiled_metal_library_is_unpacked_when_the_row_names_it(row, tmp_path):
    files = {**FILES, "top/ggml/src/ggml-metal/a.metallib": b"MTLB wsp_", "top/b.metallib": b"another"}
    assert not (unpack(row(files), tmp_path / "unnamed") / "metallib").exists()
    named = row(files, metallib="ggml/src/ggml-metal/a.metallib", prefix="wsp_")
    folder = unpack(named, tmp_path / "named")
    assert files_below(folder / "metallib") == {"a.metallib": b"MTLB wsp_"}
    with pytest.raises(UnpackError, match="no files for metallib"):
        unpack(row(files, metallib="c.metallib"), tmp_path / "missing")


def test_an_unpacked_row_is_left_alone(row, tmp_path):
    said = []
    folder = unpack(row(), tmp_path / "top-1", said.append)
    before = (folder / "src/ggml.c").stat().st_mtime_ns
    unpack(row(), folder, said.append)
    assert (folder / "src/ggml.c").stat().st_mtime_ns == before
    assert said == ["unpacking top-1.tar.gz"]


def test_a_changed_row_replaces_the_folder(row, tmp_path):
    folder = unpack(row(), tmp_path / "top-1")
    (folder / "left-over").touch()
    unpack(row(prefix="wsp_"), folder)
    assert not (folder / "left-over").exists()


def test_a_wrong_path_in_the_manifest_is_named_and_leaves_nothing(row, tmp_path):
    with pytest.raises(UnpackError, match="no files for include of row top-1"):
        unpack(row(include="ggml/headers"), tmp_path / "rows" / "top-1")
    assert list((tmp_path / "rows").iterdir()) == []


@pytest.fixture
def src(tmp_path):
    (tmp_path / "ggml-metal" / "kernels").mkdir(parents=True)
    (tmp_path / "ggml-common.h").write_text("common\n")
    (tmp_path / "ggml-metal" / "ggml-metal-impl.h").write_text("impl\n")
    return tmp_path


SINGLE = b"""#if embed
__embed_ggml-common.h__
#endif
#include "ggml-metal-impl.h"
kernel
"""


def test_headers_are_merged_into_the_metal_source(src):
    (src / "ggml-metal" / "kernels").rmdir()
    (src / "ggml-metal" / "ggml-metal.metal").write_bytes(SINGLE)
    assert embedded_sources(src) == {"ggml_metallib": b"#if embed\ncommon\n#endif\nimpl\nkernel\n"}


def test_a_row_without_metal_source_embeds_nothing(src):
    (src / "ggml-metal" / "kernels").rmdir()
    assert embedded_sources(src) == {}


def test_split_kernels_carry_the_headers_that_they_name(src):
    kernels = src / "ggml-metal" / "kernels"
    (kernels / "common.h").write_bytes(b"#pragma once\n" + SINGLE.replace(b"kernel\n", b""))
    (kernels / "quantize.h").write_bytes(b"#pragma once\nquantize\n")
    (kernels / "fa_common.metal").write_bytes(b'#include "common.h"\nfa\n')
    (kernels / "rope.metal").write_bytes(b'#include "common.h"\nrope\n')
    (kernels / "fa-f16.metal").write_bytes(b'#include "fa_common.metal"\n#include "quantize.h"\nf16\n')
    merged = b"#if embed\ncommon\n#endif\nimpl\n"
    assert embedded_sources(src) == {
        "ggml_metallib_rope": merged + b"rope\n",
        "ggml_metallib_fa_f16": merged + b"quantize\nfa\nf16\n",
    }
