"""The verbs that tell what upstream chooses: upstreams, getters, pipeline, map."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from test_cli import ggml_metal_py


def values_of(*arguments: object) -> dict[str, Any]:
    done = ggml_metal_py(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    values = json.loads(done.stdout)
    assert isinstance(values, dict)
    return values


def test_upstreams_lists_the_pinned_rows() -> None:
    rows = {row["name"]: row for row in values_of("upstreams")["rows"]}
    assert list(rows) == [
        "pywhispercpp-1.5.1",
        "pywhispercpp-1.5.0",
        "libggml-python-0.20.2",
        "ggml-python-0.0.45",
        "ggml-py-0.10.1",
        "llama-cpp-python-0.3.36",
        "whisper.rn-0.5.2",
        "whisper.rn-0.5.5",
    ]
    assert [name for name, row in rows.items() if row["default"]] == ["pywhispercpp-1.5.1"]
    default = rows["pywhispercpp-1.5.1"]
    assert (default["package"], default["version"], default["ggml_version"]) == (
        "pywhispercpp",
        "1.5.1",
        "0.13.1",
    )
    assert default["fetched"]
    assert default["built"]


def test_upstreams_tells_what_is_not_built(tmp_path: Path) -> None:
    done = ggml_metal_py("upstreams", env={"GGML_METAL_PY_LIB": str(tmp_path)})
    assert done.returncode == 0
    assert "built" not in done.stdout
    assert "pywhispercpp-1.5.1: pywhispercpp 1.5.1, ggml 0.13.1: fetched, default" in done.stdout


def test_getters_lists_every_row_s_and_what_this_one_has() -> None:
    getters = {getter["name"]: getter for getter in values_of("getters")["getters"]}
    assert sum(getter["in_upstream"] for getter in getters.values()) == 59
    flash = getters["ggml_metal_library_get_pipeline_flash_attn_ext_pad"]
    assert flash["arguments"] == ["op: Tensor", "has_mask: bool", "ncpsg: int"]
    assert flash["mirror"] == "Library.get_pipeline_flash_attn_ext_pad"
    assert not getters["ggml_metal_library_get_pipeline_topk_moe"]["in_upstream"]


@pytest.mark.parametrize("name", ["mul_mm", "get_pipeline_mul_mm", "ggml_metal_library_get_pipeline_mul_mm"])
def test_getters_tells_the_rule_of_one(name: str) -> None:
    done = ggml_metal_py("getters", name)
    assert done.returncode == 0
    assert done.stdout.startswith("Library.get_pipeline_mul_mm(op: Tensor)\n")
    assert "kernel_mul_mm_T0_T1" in done.stdout


def test_pipeline_tells_the_kernel_for_a_shape() -> None:
    values = values_of("pipeline", "mul_mat", "--src", "f16:64x64", "--src", "f32:64x64")
    assert values["base"] == "kernel_mul_mm_f16_f32"
    assert values["name"] == "kernel_mul_mm_f16_f32_bci=0_bco=0_ne12=1_ne13=1_r2=1_r3=1"
    assert (values["nsg"], values["nr0"], values["nr1"], values["smem"]) == (4, 64, 32, 6144)
    assert (values["c4"], values["cnt"]) == (False, False)
    assert values["constants"][0] == {"index": 700, "type": "bool", "value": 0, "name": "FC_mul_mm_bc_inp"}
    assert [dispatch["threadgroups"] for dispatch in values["dispatches"]] == [[2, 1, 1]]


def test_pipeline_for_people_names_the_constants() -> None:
    done = ggml_metal_py("pipeline", "gelu", "--src", "f32:7x3")
    assert done.returncode == 0, done.stderr
    assert "kernel_unary_f32_f32_op=103_cnt=1:\n" in done.stdout
    assert "    FC_unary_cnt: 1\n" in done.stdout


def test_map_counts_kernels_and_draws(tmp_path: Path) -> None:
    picture, table = tmp_path / "map.png", tmp_path / "map.csv"
    product = ["map", "mul_mat", "--src", "f16:Kx64", "--src", "f32:KxN"]
    axes = ["--axis", "N=1..10", "--axis", "K=64..128/64"]
    values = values_of(*product, *axes, "--picture", picture, "--csv", table)
    assert values["op"] == "mul_mat"
    assert values["axes"] == {"N": list(range(1, 11)), "K": [64, 128]}
    assert values["cells"][0]["shape"] == {"N": 1, "K": 64}
    assert values["cells"][-1]["base"] == "kernel_mul_mm_f16_f32"
    assert values["picture"] == str(picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    with table.open() as lines:
        assert [row["base"] for row in csv.DictReader(lines)] == [cell["base"] for cell in values["cells"]]
    done = ggml_metal_py(*product, *axes)
    assert "kernel_mul_mm_f16_f32: 4 of 20 shapes\n" in done.stdout
    assert ggml_metal_py(*product, *axes, "--csv", "-").stdout == table.read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ("getters", "mul_m"),
        ("pipeline", "no_such_op", "--src", "f32:4"),
        ("pipeline", "mul_mat", "--src", "f32:4"),
        ("pipeline", "gelu", "--src", "4"),
        ("pipeline", "diag_mask_inf", "--src", "f32:4x4", "--arg", "0"),
        ("pipeline", "permute", "--src", "f32:4x4", "--arg", "1", "--arg", "0", "--arg", "2", "--arg", "3"),
        ("map", "gelu", "--src", "f32:N"),
        ("map", "gelu", "--src", "f32:N", "--axis", "N=2..1"),
        ("map", "gelu", "--src", "f32:N", "--axis", "N=1", "--picture", "map.nosuchkind"),
    ],
    ids=str,
)
def test_wrong_use_is_status_2_without_a_traceback(arguments: tuple[object, ...]) -> None:
    done = ggml_metal_py(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("error: ")
