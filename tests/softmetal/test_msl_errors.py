"""A wrong source gives diagnostics with its own line numbers, and leaves nothing half-made behind."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from msl_build import KERNELS, build_source

from ggml_metal_py.softmetal.msl.errors import MslError
from ggml_metal_py.softmetal.msl.key import source_key

KERNEL = "kernel void k(device float * dst, uint i [[thread_position_in_grid]]) {"
# build_source puts two lines before the source.
FIRST_LINE = 3


def diagnostics(source: str, folder: Path) -> str:
    with pytest.raises(MslError) as caught:
        build_source(source, folder)
    assert not list(folder.glob("*/all.so"))
    return str(caught.value)


def test_a_type_error_names_the_line_in_the_source(tmp_path):
    text = diagnostics(f"#define TWO 2\n{KERNEL}\n\n    dst[i] = not_declared*TWO;\n}}\n", tmp_path)
    assert f"source.metal:{FIRST_LINE + 3}:" in text
    assert "not_declared" in text
    assert "Traceback" not in text


def test_an_error_in_a_template_names_the_line_in_the_source(tmp_path):
    text = diagnostics(
        "template <typename T>\nkernel void k(device T * dst) {\n    dst[0] = dst;\n}\n"
        'template [[host_name("k_float")]] kernel void k<float>(device float *);\n',
        tmp_path,
    )
    assert f"source.metal:{FIRST_LINE + 2}:" in text


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("#include <metal_tensor>\n", "Metal 4 tensors are not supported"),
        ("#error out of order\n", "out of order"),
        ("vertex float4 v(uint i [[vertex_id]]) { return float4(0); }\n", "compute kernels only"),
        ("kernel void k(texture2d<float> t [[texture(0)]]) {}\n", "no [[texture]] parameters"),
        ('template [[host_name("x")]] kernel void f<float>(device float *);\n', "no kernel function f"),
        ("constant int c [[function_constant(where)]];\n" + KERNEL + "}\n", "must be a number"),
        ("constant float4 c [[function_constant(1)]];\n" + KERNEL + "}\n", "no float4 constants"),
        (KERNEL + "}\n" + '[[host_name("k")]] kernel void other(device float * p) {}\n', "used twice"),
        ("static float f(float x) { return x; }\n", "no kernel functions"),
        (KERNEL + "threadgroup float x[65536]; x[i] = 0; dst[i] = x[i]; }\n", "too much threadgroup memory"),
        (
            KERNEL + "float x[9000]; for (int k = 0; k < 9000; ++k) x[k*i%9000] = k; dst[i] = x[i]; }\n",
            "frame",
        ),
    ],
)
def test_what_is_wrong_is_said(tmp_path, source: str, message: str):
    assert message in diagnostics(source, tmp_path)


def service(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "ggml_metal_py.softmetal.msl", "build", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env=environment)


def test_the_service_reports_on_stderr_with_status_1(tmp_path):
    (tmp_path / "bad.metal").write_text(KERNEL + "\n    dst[i] = ;\n}\n")
    done = service("bad.metal", "--out", "kernels", cwd=tmp_path)
    assert done.returncode == 1
    assert "bad.metal:2:" in done.stderr
    assert "Traceback" not in done.stderr
    missing = service("nowhere.metal", "--out", "kernels", cwd=tmp_path)
    assert missing.returncode == 1
    assert "nowhere.metal" in missing.stderr
    assert "Traceback" not in missing.stderr


def test_the_service_lists_functions_then_builds_one(tmp_path):
    source = str(KERNELS / "basic.metal")
    listed = service(source, "--out", "kernels", "--functions-only", "-D", "N=3", cwd=tmp_path)
    assert listed.returncode == 0, listed.stderr
    folder = tmp_path / "kernels" / source_key(Path(source).read_bytes(), {"N": "3"})
    format_, *names, seal = (folder / "functions.txt").read_text().splitlines()
    assert format_ == "softmetal 1"
    assert names == sorted(names)
    content = (folder / "functions.txt").read_bytes().partition(b"sha256 ")[0]
    assert seal == f"sha256 {hashlib.sha256(content).hexdigest()}"
    assert "divide_short" in names
    assert [path.name for path in folder.iterdir()] == ["functions.txt"]

    built = service(source, "--out", "kernels", "--function", "scale", "-D", "N=3", cwd=tmp_path)
    assert built.returncode == 0, built.stderr
    expected = f"fn-{hashlib.sha256(b'scale').hexdigest()[:16]}.so"
    assert sorted(path.name for path in folder.iterdir()) == [expected, "functions.txt"]
    assert service(source, "--out", "kernels", "--function", "nothing", cwd=tmp_path).returncode == 1


def test_the_key_is_of_macros_by_name_and_source():
    expected = hashlib.sha256(b"softmetal-1\0A=1\0B=\0\0text").hexdigest()
    assert source_key(b"text", {"B": "", "A": "1"}) == expected
