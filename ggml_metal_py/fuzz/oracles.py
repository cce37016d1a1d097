"""Properties that hold for every case. Each says what is wrong, or nothing ("") when it holds.

An oracle is named after the kind of its findings. `trial.outcome` is what `ggml_metal_py.check` made of the
case; `trial.again` lets it run in another way.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..check.case import Case
from ..check.compare import difference
from ..check.expression import Call, nodes
from ..check.machine import OUTSIDE
from ..check.run import NO_RESULT, Opened, Snapshot
from ..check.thresholds import DEFAULT, HALVES
from .exact import Array, exact

if TYPE_CHECKING:
    from .examiner import Examiner

Oracle = Callable[["Trial"], str]

_PLAIN_TYPES = ("f32", "f16", "i32", "i64", "i16")
"""What numpy rounds to as ggml does."""
_SPECIAL = re.compile(r"fill='(?:special|huge|subnormal|nan)'")
_CANCELLED = 2e-6
"""What a single value may be off by: of a difference little may be left."""
_SUMS = frozenset(
    ["SUM", "MEAN", "SUM_ROWS", "CUMSUM"]
    + [gate + function for gate in ("GELU", "GEGLU") for function in ("", "_ERF", "_QUICK")]
)
"""Ops of which little may be left, too: they add values of both signs, or something near -1 to 1."""
_TERMS = 2.0**-22
"""What a result of theirs may be off by for each 1 that its terms come to without their signs."""
_ROUNDED = 1e-5
"""What all values of a graph of several ops, of a result in halves, or of what lies around a mean may be off
by, by normalised mean squared error."""
_AROUND_A_MEAN = ("NORM", "GROUP_NORM")
_ORDERS = {1: "threadgroups and simdgroups from last to first", 4711: "threadgroups shuffled"}
_ORDERS_OF_SIMDGROUPS = {1: "simdgroups from last to first"}
"""softmetal_set_order's."""
_SIMDGROUP = 32
"""Threads."""
_LARGE = 0x4B
"""In all its bytes: the f32 13323083. In the largest of several values it shows, other than NaN."""


class Trial:
    """A case under examination."""

    def __init__(self, examiner: "Examiner", opened: Opened) -> None:
        self.examiner = examiner
        self.opened = opened
        self.outcome = opened.outcome
        self.blamed = ""
        """Host name of the kernel that an oracle says it is; else it is the one of the last op."""

    @property
    def case(self) -> Case:
        """The case."""
        return self.outcome.case

    @property
    def first(self) -> Snapshot:
        """As it ran for the outcome: in memory full of NaN, with upstream's settings."""
        return self.opened.first

    def again(
        self,
        *,
        unwritten: int | None = None,
        threads: int = 0,
        order: int = 0,
        settings: tuple[str, ...] = (),
    ) -> Snapshot:
        """Run it in memory of other bytes, threadgroups' own included, with so many threads, threadgroups and
        simdgroups in another order (softmetal.h), or with these of upstream's settings."""
        return self.examiner.again(self.opened, unwritten, threads, order, settings)

    @property
    def failed_by(self) -> str:
        """What the outcome's problem is: `wrong`, `no kernel`, `abort`, `device`; or nothing."""
        found = re.match(r"(wrong|no kernel|abort|device): ", self.outcome.problem)
        return found[1] if found else ""

    @property
    def limit(self) -> float:
        """How far results may be from each other."""
        return self.outcome.limit or 0.0


def agrees_with_cpu(trial: Trial) -> str:
    """The result is the CPU backend's, within the op's tolerance, unless it is what numpy says."""
    stray = OUTSIDE in trial.outcome.problem or NO_RESULT in trial.outcome.problem
    wrong = trial.failed_by == "wrong" and not stray and not is_right(trial)
    return trial.outcome.problem if wrong else ""


def agrees_with_numpy(trial: Trial) -> str:
    """The result is what the op's definition says, computed by numpy: the CPU backend may be wrong, too."""
    expected = None if _SPECIAL.search(trial.case.text) else _by_numpy(trial)
    if (
        expected is None
        or _furthest(trial.first.result, expected) <= _CANCELLED
        or _cancelled(trial, expected)
    ):
        return ""
    return difference(trial.first.result, expected, _limit_by_numpy(trial)).problem


def is_right(trial: Trial) -> bool:
    """Whether the result is what the op means, by numpy: then it is the CPU backend that is too far off.

    That rounds more, in places; and of a difference of larger values both have errors of their size.
    """
    expected = _by_numpy(trial)
    if expected is None:
        return False
    return _cancelled(trial, expected) or not difference(trial.first.result, expected, trial.limit).problem


def writes_its_results_only(trial: Trial) -> str:
    """No byte changes outside of what the op writes."""
    return trial.outcome.problem if OUTSIDE in trial.outcome.problem else ""


def leaves_sources_alone(trial: Trial) -> str:
    """Sources hold what they held before."""
    return trial.outcome.problem if NO_RESULT in trial.outcome.problem else ""


def has_its_kernels(trial: Trial) -> str:
    """What supports_op says yes to has kernels."""
    return trial.outcome.problem if trial.failed_by == "no kernel" else ""


def does_not_abort(trial: Trial) -> str:
    """What supports_op says yes to meets no assertion."""
    return trial.outcome.problem if trial.failed_by == "abort" else ""


def runs(trial: Trial) -> str:
    """What supports_op says yes to is a dispatch that the device accepts."""
    return trial.outcome.problem if trial.failed_by == "device" else ""


def asks_for_legal_threadgroups(trial: Trial) -> str:
    """Threads and threadgroup memory are within the device's limits; its length is a multiple of 16."""
    most = trial.examiner.threadgroup_memory
    for dispatch in trial.outcome.dispatches:
        name, bytes = dispatch.pipeline.base, dispatch.threadgroup_memory
        threads = int(np.prod(dispatch.threads_per_threadgroup))
        trial.blamed = name
        if bytes > most:
            return f"{name} is dispatched with {bytes} bytes of threadgroup memory, the device has {most}"
        if bytes % 16:
            return f"{name} is dispatched with {bytes} bytes of threadgroup memory, no multiple of 16"
        if not 0 < threads <= dispatch.pipeline.max_threads_per_threadgroup:
            return f"{name} is dispatched with {threads} threads in a threadgroup"
    trial.blamed = ""
    return ""


def reads_what_was_written(trial: Trial) -> str:
    """The result does not depend on what memory outside of the sources holds, threadgroups' included."""
    if any(isinstance(node, Call) and node.name == "on_zeros" for node in nodes(trial.case.tree)):
        return ""
    problem = _same(trial.first, trial.again(unwritten=_LARGE))
    return f"with {_LARGE:#04x} instead of 0xff in all bytes that nobody wrote: {problem}" if problem else ""


def is_the_same_with_more_threads(trial: Trial) -> str:
    """The result does not depend on how many threadgroups run at a time."""
    if not _has_several_threadgroups(trial):
        return ""
    problem = _same(trial.first, trial.again(threads=3))
    return f"with 3 threads: {problem}" if problem else ""


def is_the_same_in_any_order(trial: Trial) -> str:
    """The result does not depend on which threadgroup comes first, nor on which of its simdgroups does."""
    if _has_several_threadgroups(trial):
        orders = _ORDERS
    elif any(np.prod(dispatch.threads_per_threadgroup) > _SIMDGROUP for dispatch in trial.outcome.dispatches):
        orders = _ORDERS_OF_SIMDGROUPS
    else:
        return ""
    for order, words in orders.items():
        problem = _same(trial.first, trial.again(threads=1, order=order))
        if problem:
            return f"with {words}: {problem}"
    return ""


def is_the_same_without_fusion(trial: Trial) -> str:
    """The result does not depend on upstream's settings for fusion and concurrency."""
    if len(trial.outcome.nodes) < 2:
        return ""
    other = trial.again(settings=("GGML_METAL_FUSION_DISABLE", "GGML_METAL_CONCURRENCY_DISABLE"))
    return difference(other.result, trial.first.result, trial.limit).problem


ORACLES: dict[str, Oracle] = {
    "no kernel": has_its_kernels,
    "abort": does_not_abort,
    "device": runs,
    "stray write": writes_its_results_only,
    "source written": leaves_sources_alone,
    "wrong": agrees_with_cpu,
    "threadgroup": asks_for_legal_threadgroups,
    "unwritten memory": reads_what_was_written,
    "threads": is_the_same_with_more_threads,
    "order": is_the_same_in_any_order,
    "fusion": is_the_same_without_fusion,
    "numpy": agrees_with_numpy,
}
"""By the kind of their findings, in the order in which they are asked."""


def _by_numpy(trial: Trial, *, magnitudes: bool = False) -> Array | None:
    """What the result should be, rounded to its type; None where that cannot be said."""
    if any(node.type not in _PLAIN_TYPES for node in trial.outcome.nodes):
        return None
    expected = exact(trial.examiner.device, trial.case, trial.opened.values, magnitudes=magnitudes)
    if expected is None:
        return None
    result = trial.first.result
    if expected.dtype.kind != "f" or result.dtype.kind != "f":
        expected = expected.astype(result.dtype)
    with np.errstate(all="ignore"):
        rounded: Array = expected.reshape(result.shape).astype(result.dtype)
    return rounded


def _cancelled(trial: Trial, expected: Array) -> bool:
    """Whether all that the result is off by are errors of the larger values that it is what is left of."""
    nodes = trial.outcome.nodes
    if len(nodes) > 1:
        return _furthest(trial.first.result, expected) <= _CANCELLED
    if nodes[0].kind not in _SUMS:
        return False
    terms = _by_numpy(trial, magnitudes=True)
    with np.errstate(all="ignore"):
        off = np.abs(trial.first.result.astype(np.float64) - expected)
        return terms is not None and bool((off <= _TERMS * terms).all())


def _limit_by_numpy(trial: Trial) -> float:
    """The op's own, unless that makes room for the tables that the CPU backend has."""
    nodes = trial.outcome.nodes
    if len(nodes) > 1 or trial.first.result.dtype != np.float32 or nodes[0].kind in _AROUND_A_MEAN:
        return max(trial.limit, _ROUNDED)
    return DEFAULT if trial.limit == HALVES else trial.limit


def _furthest(result: Array, expected: Array) -> float:
    with np.errstate(all="ignore"):
        return float(np.abs(result.astype(np.float64) - expected).max(initial=0.0))


def _has_several_threadgroups(trial: Trial) -> bool:
    return any(np.prod(dispatch.threadgroups) > 1 for dispatch in trial.outcome.dispatches)


def _same(first: Snapshot, second: Snapshot) -> str:
    if first.result.tobytes() != second.result.tobytes():
        a, b = first.result.ravel(), second.result.ravel()
        apart = np.flatnonzero(a.view(f"u{a.itemsize}") != b.view(f"u{b.itemsize}"))
        at = int(apart[0])
        return f"{len(apart)} of {len(a)} values differ, the first is {b[at]} for {a[at]} at {at}"
    for number, (one, other) in enumerate(zip(first.leaves, second.leaves, strict=True)):
        if one != other:
            at = next(i for i, (x, y) in enumerate(zip(one, other, strict=True)) if x != y)
            return f"byte {at} of source {number} is {other[at]:#04x} for {one[at]:#04x}"
    return ""
