"""Whether two arrays are the same numbers: by normalised mean squared error, as in upstream's own test.

Beyond that: NaN and infinities stand in the same places, no single value is far off, whole numbers are equal.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[Any]

FAR = 10.0
"""A single value may be off by that many times what all of them may be off by on average."""


@dataclass(frozen=True)
class Difference:
    """How far a result is from the reference. `problem` is empty when it is near enough."""

    error: float
    """Sum of squared differences over sum of squares of the reference."""
    problem: str = ""


def difference(result: Values, reference: Values, limit: float, *, in_steps: bool = False) -> Difference:
    """Compare arrays of one shape; `limit` is the largest error.

    `in_steps`: values that are rounded so far that one of them may be off by all that is allowed.
    """
    if result.shape != reference.shape:
        return Difference(np.inf, f"the shape is {result.shape}, not {reference.shape}")
    if result.dtype.kind != "f" or reference.dtype.kind != "f":
        return _whole(result, reference)
    a, b = result.astype(np.float64).ravel(), reference.astype(np.float64).ravel()
    odd = _not_finite(a, b)
    if odd:
        return Difference(np.inf, odd)
    finite = np.isfinite(b)
    a, b = a[finite], b[finite]
    off = np.abs(a - b)
    squares = float(b @ b)
    total = float(off @ off)
    error = total / squares if squares else (0.0 if total == 0 else np.inf)
    if error > limit:
        return Difference(error, f"error {error:.3g} > {limit:.3g}{_worst(off, result, reference, finite)}")
    if not in_steps and total and float(off.max()) ** 2 > FAR**2 * limit * squares / len(b):
        return Difference(error, f"one value is far off{_worst(off, result, reference, finite)}")
    return Difference(error)


def same_order(result: Values, reference: Values, source: Values) -> Difference:
    """Compare rows of indices into rows of `source` that put them in order; equal values may swap places."""
    odd = _indices(result, source)
    if odd:
        return Difference(np.inf, odd)
    picked = np.take_along_axis(source, result.astype(np.int64), -1)
    return difference(picked, np.take_along_axis(source, reference.astype(np.int64), -1), 0.0)


def same_choice(result: Values, reference: Values, source: Values) -> Difference:
    """As `same_order`, but their order does not count."""
    odd = _indices(result, source)
    if odd:
        return Difference(np.inf, odd)
    picked = np.sort(np.take_along_axis(source, result.astype(np.int64), -1), -1)
    wanted = np.sort(np.take_along_axis(source, reference.astype(np.int64), -1), -1)
    return difference(picked, wanted, 0.0)


def same_value(result: Values, reference: Values, source: Values) -> Difference:
    """Compare one index for each row of `source`; an equal value may stand elsewhere."""
    rows = source.reshape(-1, source.shape[-1])
    return same_order(result.reshape(-1, 1), reference.reshape(-1, 1), rows)


def _indices(result: Values, source: Values) -> str:
    """Whether there are indices of something else than a row's elements, or one twice in a row."""
    flat, length = result.ravel(), source.shape[-1]
    outside = np.flatnonzero((flat < 0) | (flat >= length))
    if len(outside):
        at = int(outside[0])
        return f"index {flat[at]} at {at}, of rows of {length}, and so for {len(outside)} of {len(flat)}"
    rows = result.reshape(-1, result.shape[-1])
    ordered = np.sort(rows, -1)
    with_twins = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(-1))
    if len(with_twins):
        number = int(with_twins[0])
        row = rows[number]
        _, first = np.unique(row, return_index=True)
        again = int(np.setdiff1d(np.arange(len(row)), first)[0])
        return f"index {row[again]} stands in row {number} twice, again at {number * len(row) + again}"
    return ""


def _whole(result: Values, reference: Values) -> Difference:
    wrong = np.flatnonzero(result.ravel() != reference.ravel())
    if not len(wrong):
        return Difference(0.0)
    first = int(wrong[0])
    got, want = result.ravel()[first], reference.ravel()[first]
    return Difference(
        np.inf, f"{len(wrong)} of {result.size} differ, the first is {got} for {want} at {first}"
    )


def _not_finite(a: Values, b: Values) -> str:
    wrong = np.flatnonzero(
        (np.isnan(a) != np.isnan(b)) | ((np.isinf(a) | np.isinf(b)) & (a != b) & ~np.isnan(a))
    )
    if not len(wrong):
        return ""
    first = int(wrong[0])
    return f"{a[first]:g} for {b[first]:g} at {first}, and so for {len(wrong)} of {len(a)}"


def _worst(off: Values, result: Values, reference: Values, finite: Values) -> str:
    at = int(np.flatnonzero(finite)[int(off.argmax())])
    return f": {result.ravel()[at]:g} for {reference.ravel()[at]:g} at {at} of {result.size}"
