"""A rule of the model that is wrong in one place does not survive the properties."""

import pytest
from hypothesis import Phase

from .mutants import MUTANTS, Mutant, in_place
from .properties import examples_of, holds
from .rows import Row

pytestmark = pytest.mark.slow


def run(getter: str, row: Row) -> None:
    holds(row, getter, examples_of(getter), derandomize=True, phases=[Phase.generate])()


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_wrong_rule_is_caught(mutant: Mutant) -> None:
    with in_place(mutant), pytest.raises(AssertionError):
        run(mutant.getter, mutant.row)


@pytest.mark.parametrize(("getter", "row"), sorted({(mutant.getter, mutant.row) for mutant in MUTANTS}))
def test_the_right_rule_is_not(getter: str, row: Row) -> None:
    run(getter, row)
