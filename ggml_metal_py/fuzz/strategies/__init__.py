"""Strategies of hypothesis for tensors, ops and graphs: use them in tests of your own.

    @given(strategies.cases("rms_norm", "mul_mat"))
    def test_my_device(case):
        assert examiner.examine(case).findings == ()

A case is a text, and the same text has always the same values (`ggml_metal_py.check`).
"""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ...check.case import Case
from . import (  # noqa: F401
    copies,
    elementwise,
    graphs,
    images,
    nothing,
    positions,
    products,
    rows,
    sequences,
)
from .registry import find, names, op, op_cases, trees, weight
from .tensors import lengths, shapes, tensors, types, values

__all__ = [
    "cases",
    "find",
    "lengths",
    "names",
    "op",
    "op_cases",
    "shapes",
    "tensors",
    "trees",
    "types",
    "values",
    "weight",
]


def cases(*ops: str) -> SearchStrategy[Case]:
    """Cases of one of these ops, or of any. Raises ValueError for an op without a strategy."""
    return st.one_of(*map(op_cases, find(ops)))
