"""That a wrong result is seen: arrays that differ in one way each."""

import numpy as np
import numpy.typing as npt
import pytest

from ggml_metal_py.check.compare import difference, same_choice, same_order, same_value

Array = npt.NDArray[np.float32]
LIMIT = 1e-7


@pytest.fixture
def values() -> Array:
    return np.random.default_rng(0).uniform(-1, 1, (7, 33)).astype(np.float32)


def problem(result: Array, reference: Array, limit: float = LIMIT) -> str:
    return difference(result, reference, limit).problem


def test_equal_arrays_have_no_error(values: Array) -> None:
    assert difference(values, values.copy(), 0.0).error == 0
    assert not problem(values, values, 0.0)


def test_rounding_is_no_problem(values: Array) -> None:
    assert not problem(values * np.float32(1 + 1e-5), values)


def test_the_error_is_the_normalised_mean_square(values: Array) -> None:
    found = difference(values * np.float32(1.01), values, 1.0)
    assert found.error == pytest.approx(1e-4, rel=1e-2)


@pytest.mark.parametrize("factor", [0.0, 0.99, 1.01, -1.0])
def test_another_scale_is_a_problem(values: Array, factor: float) -> None:
    assert "error" in problem(values * np.float32(factor), values)


def test_a_single_wrong_value_among_many_is_a_problem() -> None:
    reference = np.ones(100_000, np.float32)
    result = reference.copy()
    result[777] = 1.2  # a mean over all of them does not show it
    found = difference(result, reference, 1e-5)
    assert found.error < 1e-5
    assert "777" in found.problem
    assert "1.2 for 1" in found.problem


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_stand_in_the_same_places(values: Array, odd: float) -> None:
    broken = values.copy()
    broken[2, 5] = odd
    assert problem(broken, values)
    assert problem(values, broken)
    assert not problem(broken, broken.copy())


def test_infinity_has_a_sign(values: Array) -> None:
    plus, minus = values.copy(), values.copy()
    plus[0, 0], minus[0, 0] = np.inf, -np.inf
    assert problem(plus, minus)


def test_zero_is_not_almost_something() -> None:
    assert problem(np.full(4, 1e-20, np.float32), np.zeros(4, np.float32))
    assert not problem(np.zeros(4, np.float32), np.zeros(4, np.float32))
    assert not problem(np.zeros(0, np.float32), np.zeros(0, np.float32))


def test_shapes_and_whole_numbers_are_equal(values: Array) -> None:
    assert problem(values[:3], values)
    numbers = np.arange(10, dtype=np.int32)
    off = numbers.copy()
    off[3] += 1
    assert not problem(numbers, numbers.copy())
    assert "4 for 3 at 3" in problem(off, numbers)


# ---- indices

ROWS = np.array([[3.0, 1.0, 2.0, 1.0]], np.float32)


def indices(*numbers: int) -> npt.NDArray[np.int32]:
    return np.array([numbers], np.int32)


def test_equal_values_may_be_sorted_either_way() -> None:
    assert not same_order(indices(1, 3, 2, 0), indices(3, 1, 2, 0), ROWS).problem
    assert same_order(indices(1, 2, 3, 0), indices(1, 3, 2, 0), ROWS).problem


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ((1, 3, 1, 0), "index 1 stands in row 0 twice, again at 2"),
        ((1, 3, 2, 4), "index 4 at 3, of rows of 4, and so for 1 of 4"),
        ((-1, -1, 2, 0), "index -1 at 0, of rows of 4, and so for 2 of 4"),
    ],
)
def test_an_order_has_every_index_once(wrong: tuple[int, ...], said: str) -> None:
    assert same_order(indices(*wrong), indices(1, 3, 2, 0), ROWS).problem == said


def test_an_index_in_another_row_is_not_there_twice() -> None:
    order = np.array([[0, 1], [1, 0], [1, 1]], np.int32)
    rows = np.zeros((3, 2), np.float32)
    assert same_order(order, order, rows).problem == "index 1 stands in row 2 twice, again at 5"
    assert not same_order(order[:2], order[:2], rows[:2]).problem


def test_a_choice_has_no_order() -> None:
    assert not same_choice(indices(2, 0), indices(0, 2), ROWS).problem
    assert not same_choice(indices(1, 0), indices(0, 3), ROWS).problem
    assert same_choice(indices(1, 0), indices(0, 2), ROWS).problem


def test_the_place_of_a_value() -> None:
    rows = np.array([[1.0, 5.0, 5.0], [2.0, 0.0, 1.0]], np.float32)
    first, second, wrong = (np.array(numbers, np.int32) for numbers in ([1, 0], [2, 0], [1, 2]))
    assert not same_value(first, second, rows).problem
    assert same_value(wrong, first, rows).problem
