"""Every getter of every row does what the model says, for drawn arguments."""

import pytest

from .calls import getters_of
from .draws import makers
from .expected import rules
from .properties import examples_of, holds
from .rows import Row

FEW = 20
PAIRS = [
    pytest.param(row, getter, id=f"{row.upstream}-{getter}") for row in Row for getter in getters_of(row)
]


def test_every_getter_has_a_rule_and_a_strategy() -> None:
    declared = {getter for row in Row for getter in getters_of(row)}
    assert declared == set(rules()) == set(makers())


@pytest.mark.parametrize(("row", "getter"), PAIRS)
def test_a_getter_does_what_the_model_says(row: Row, getter: str) -> None:
    holds(row, getter, FEW)()


@pytest.mark.slow
@pytest.mark.parametrize(("row", "getter"), PAIRS)
def test_a_getter_does_what_the_model_says_in_many_draws(row: Row, getter: str) -> None:
    holds(row, getter, examples_of(getter))()
