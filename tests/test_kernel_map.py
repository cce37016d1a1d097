"""Kernel maps and the texts that describe their ops and axes."""

import io
from pathlib import Path

import pytest

import ggml_metal_py as gm
from ggml_metal_py.described import DescribedOp, Source, parse_axes
from ggml_metal_py.kernel_map import kernel_map

PRODUCT = DescribedOp.parse("mul_mat", ["f16:Kx64", "f32:KxN"])


def test_a_map_has_a_cell_for_every_shape(device: gm.Device) -> None:
    seen = []
    found = kernel_map(device, PRODUCT, {"N": (1, 9), "K": (32, 64, 128)}, lambda *done: seen.append(done))
    assert [cell.shape for cell in found.cells] == [{"N": n, "K": k} for n in (1, 9) for k in (32, 64, 128)]
    mv, mm = "kernel_mul_mv_f16_f32_4", "kernel_mul_mm_f16_f32"
    assert [cell.base for cell in found.cells] == [mv, mv, mv, mv, mm, mm]
    assert found.counts() == {mv: 4, mm: 2}
    assert seen == [(done, 6) for done in range(1, 7)]


def test_a_map_is_written_as_csv(device: gm.Device) -> None:
    text = io.StringIO()
    kernel_map(device, PRODUCT, {"N": (9,), "K": (64,)}).write_csv(text)
    header, line = text.getvalue().splitlines()
    assert header == "N,K,base,name"
    assert line.startswith("9,64,kernel_mul_mm_f16_f32,kernel_mul_mm_f16_f32_bci=0_")


def test_shapes_that_the_device_refuses_have_no_kernel(device: gm.Device) -> None:
    lacking = DescribedOp.parse("diag_mask_inf", ["f32:NxN"], ["0"])
    [cell] = kernel_map(device, lacking, {"N": (4,)}).cells
    assert (cell.base, cell.name) == (None, None)


@pytest.mark.parametrize("axes", [{"N": (1, 9), "K": (64, 128)}, {"N": (1, 2, 3)}])
def test_a_picture_is_drawn(axes: dict[str, tuple[int, ...]], device: gm.Device, tmp_path: Path) -> None:
    from ggml_metal_py.picture import draw

    op = PRODUCT if "K" in axes else DescribedOp.parse("gelu", ["f32:N"])
    draw(kernel_map(device, op, axes), tmp_path / "map.png")
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_has_two_axes_at_most(device: gm.Device, tmp_path: Path) -> None:
    from ggml_metal_py.picture import draw

    op = DescribedOp.parse("gelu", ["f32:AxBxC"])
    found = kernel_map(device, op, {"A": (1,), "B": (1,), "C": (1,)})
    with pytest.raises(ValueError, match="two axes"):
        draw(found, tmp_path / "map.png")


@pytest.mark.parametrize("axes", [{}, {"N": (1,)}, {"N": (1,), "K": (1,), "M": (1,)}])
def test_a_map_wants_the_axes_of_its_sources(axes: dict[str, tuple[int, ...]], device: gm.Device) -> None:
    with pytest.raises(ValueError, match="K, N"):
        kernel_map(device, PRODUCT, axes)


def test_a_source_has_a_type_and_axes() -> None:
    assert Source.parse("q4_0:4096xN") == Source(gm.Type.Q4_0, (4096, "N"))


@pytest.mark.parametrize(
    "text", ["", "f32", "f32:", "f33:4", "f32:4x", "f32:1x2x3x4x5", "f32:n", "f32:-1", "f32:0"]
)
def test_a_source_that_is_none_is_refused(text: str, context: gm.Context) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each has a message of its own
        DescribedOp.parse("gelu", [text]).make(context)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("N=1..4", (1, 2, 3, 4)),
        ("N=64..256/64", (64, 128, 192, 256)),
        ("N=32..300*2", (32, 64, 128, 256)),
        ("N=1,2,9", (1, 2, 9)),
        ("N=1..2,8", (1, 2, 8)),
    ],
)
def test_an_axis_lists_values(text: str, values: tuple[int, ...]) -> None:
    assert parse_axes([text]) == {"N": values}


@pytest.mark.parametrize(
    "texts",
    [
        ["N"],
        ["N="],
        ["n=1"],
        ["N=0"],
        ["N=3..1"],
        ["N=1..4/0"],
        ["N=1..4*1"],
        ["N=1,1"],
        ["N=1", "N=2"],
        ["N=1..999999"],
    ],
)
def test_an_axis_that_is_none_is_refused(texts: list[str]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each has a message of its own
        parse_axes(texts)


@pytest.mark.parametrize(
    ("name", "sources", "arguments", "op"),
    [
        ("gelu", ["f32:8x2"], [], "GELU"),
        ("clamp", ["f32:8"], ["-1", "0.5"], "CLAMP"),
        ("argsort", ["f32:8"], ["desc"], "ARGSORT"),
        ("cast", ["f32:8"], ["f16"], "CPY"),
        ("soft_max_ext", ["f32:8x2"], ["1", "0"], "SOFT_MAX"),
        ("im2col", ["f16:3x3x1x1", "f32:8x8x1x1"], ["1", "1", "0", "0", "1", "1", "true", "f16"], "IM2COL"),
    ],
)
def test_an_op_is_made_from_text(
    name: str, sources: list[str], arguments: list[str], op: str, context: gm.Context
) -> None:
    assert DescribedOp.parse(name, sources, arguments).make(context).op == op


@pytest.mark.parametrize(
    ("name", "sources", "arguments"),
    [
        ("clamp", ["f32:8"], ["1"]),
        ("clamp", ["f32:8"], ["1", "2", "3"]),
        ("clamp", ["f32:8"], ["1", "two"]),
        ("gelu", ["f32:8", "f32:8"], []),
        ("mul_mat", ["f32:8"], []),
        ("argsort", ["f32:8"], ["sideways"]),
        ("cast", ["f32:8"], ["f33"]),
        ("free", [], []),
        ("im2col", ["f16:3x3x1x1", "f32:8x8x1x1"], ["1", "1", "0", "0", "1", "1", "maybe", "f16"]),
    ],
)
def test_an_op_that_does_not_fit_is_refused(
    name: str, sources: list[str], arguments: list[str], context: gm.Context
) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each has a message of its own
        DescribedOp.parse(name, sources, arguments).make(context)
