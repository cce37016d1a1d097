"""The numpy oracle against values that are known without it."""

import numpy as np
import pytest

import ggml_metal_py as gm
from ggml_metal_py.check import Case
from ggml_metal_py.fuzz.exact import exact


def result(device: gm.Device, text: str, *arrays: object) -> list[object]:
    values = [np.asarray(array, np.int32 if kind == "i" else np.float32).tobytes() for kind, array in arrays]  # type: ignore[misc]
    found = exact(device, Case.of(text), values)
    assert found is not None
    return list(found.ravel())


@pytest.mark.parametrize(
    ("text", "arrays", "expected"),
    [
        ("add(f32(4), f32(2))", [("f", [1, 2, 3, 4]), ("f", [10, 20])], [11, 22, 13, 24]),
        ("permute(f32(2, 2), 1, 0, 2, 3)", [("f", [1, 2, 3, 4])], [1, 3, 2, 4]),
        ("cut(f32(3, 2), [2], [1])", [("f", [1, 2, 3, 4, 5, 6])], [2, 3, 5, 6]),
        ("mul_mat(f32(2, 3), f32(2))", [("f", [1, 0, 0, 1, 1, 1]), ("f", [5, 7])], [5, 7, 12]),
        ("get_rows(f32(1, 3), i32(2))", [("f", [5, 6, 7]), ("i", [2, 0])], [7, 5]),
        ("concat(f32(1, 2), f32(1, 2), 0)", [("f", [1, 2]), ("f", [3, 4])], [1, 3, 2, 4]),
        ("norm(f32(2), 0.0)", [("f", [1, 3])], [-1, 1]),
        ("cumsum(f32(3))", [("f", [1, 2, 3])], [1, 3, 6]),
        ("reglu(f32(4))", [("f", [-1, 2, 3, 4])], [0, 8]),
        ("soft_max_ext(f32(2), f32(2), 1.0, 0.0)", [("f", [0, 0]), ("f", [0, -np.inf])], [1, 0]),
        (
            "im2col(f32(2, 1, 1), f32(3, 1), 1, 0, 0, 0, 1, 0, False, 'f32')",
            [("f", [0, 0]), ("f", [1, 2, 3])],
            [1, 2, 2, 3],
        ),
        (
            "conv_3d_direct(f32(2, 1, 1, 2), f32(2, 1, 2, 2), 1, 1, 2, 0, 0, 1, 1, 1, 1, 2, 1, 1)",
            [("f", [1, 2, 10, 20]), ("f", [1, 2, 3, 4, 5, 6, 7, 8])],  # [channel][depth][width]
            [0, 241],  # padding; depth 1: 3 + 8 + 70 + 160
        ),
        (
            "conv_3d_direct(f32(1, 1, 1, 2), f32(1, 1, 1, 2), 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 2, 2)",
            [("f", [2, 3]), ("f", [5, 7])],
            [10, 15, 14, 21],
        ),
        ("count_equal(i32(3), i32(3))", [("i", [1, 2, 3]), ("i", [1, 0, 3])], [2]),
    ],
)
def test_a_result(text: str, arrays: list[object], expected: list[float], device: gm.Device) -> None:
    assert result(device, text, *arrays) == expected


def test_what_is_not_defined_is_nothing(device: gm.Device) -> None:
    assert (
        exact(device, Case.of("solve_tri(f32(2, 2), f32(2, 2), True, True, False)"), [bytes(16)] * 2) is None
    )
