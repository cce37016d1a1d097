"""What holds for every call of a getter: the property that all tests here run."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import HealthCheck, given, settings

import ggml_metal_py as gm

from .calls import Call, device_of
from .draws import arguments_of
from .expected import Abort, Expected
from .findings import KEPT, METAL_ALIGNMENT, OVERSIZED, UNALIGNED
from .host_names import host_names
from .rows import Row

EXAMPLES = 200
"""Calls drawn for a getter of a row."""

# More where as many kernels and thresholds are as in these.
MORE_EXAMPLES = {"mul_mv": 600, "mul_mv_id": 400, "flash_attn_ext": 400, "flash_attn_ext_vec": 400}

FIELDS = ("nsg", "nr0", "nr1", "smem", "c4", "cnt")


@dataclass
class Record:
    """What every name stood for so far: one Record for a row and the whole run."""

    seen: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def meets(self, pipeline: gm.Pipeline) -> None:
        with self.lock:
            met = (pipeline.base, pipeline.constants, *(getattr(pipeline, name) for name in FIELDS))
            before = self.seen.setdefault(pipeline.name, met)
        assert before == met, f"{pipeline.name} stood for {before} before, now for {met}"


records = {row: Record() for row in Row}


def check(row: Row, getter: str, arguments: tuple[Any, ...]) -> None:
    """The library answers as the model says. `arguments` are drawn by `arguments_of`."""
    with Call(row, getter, arguments) as call:
        expected = call.expected()
        if isinstance(expected, Abort):
            aborts(call, expected)
        elif expected.base not in host_names(row):
            lacks(call, expected)
        else:
            agrees(row, call, expected)


def refusal(call: Call, expected: Abort | Expected) -> gm.GgmlMetalError:
    try:
        pipeline = call()
    except gm.GgmlMetalError as error:
        return error
    raise AssertionError(f"the model expects {expected}, the library answers {pipeline}")


def aborts(call: Call, expected: Abort) -> None:
    error = refusal(call, expected)
    assert isinstance(error, gm.GgmlAbort), f"the model expects {expected}, the library raises {error!r}"
    assert expected.text in error.message
    assert error.file
    assert error.line


def lacks(call: Call, expected: Expected) -> None:
    error = refusal(call, expected)
    assert isinstance(error, gm.KernelNotFound), f"there is no {expected}, the library raises {error!r}"
    assert error.name == expected.base


def agrees(row: Row, call: Call, expected: Expected) -> None:
    library = call.device.library
    try:
        pipeline = call()
    except gm.GgmlMetalError as error:
        raise AssertionError(f"the model expects {expected}") from error
    assert (pipeline.base, pipeline.name) == (expected.base, expected.name)
    found = library.get_pipeline(pipeline.name)
    if (row, call.getter) in KEPT:
        expected = replace(expected, smem=found.smem)
    for name in FIELDS:
        wanted = None if name in ("c4", "cnt") and not row.has_c4 else getattr(expected, name)
        assert getattr(pipeline, name) == wanted, name
    constants = tuple((constant.index, constant.type, constant.value) for constant in pipeline.constants)
    assert constants == expected.constants
    assert call() == pipeline
    assert found.name == pipeline.name
    assert found.max_threads_per_threadgroup == pipeline.max_threads_per_threadgroup
    fits(row, call.getter, pipeline)
    records[row].meets(pipeline)


def fits(row: Row, getter: str, pipeline: gm.Pipeline) -> None:
    """The pipeline's threadgroup memory can be given to Metal."""
    limit = device_of(row).props.max_theadgroup_memory_size
    assert limit is not None
    assert pipeline.smem <= limit or getter in OVERSIZED, f"{pipeline.name} wants {pipeline.smem} bytes"
    aligned = pipeline.smem % METAL_ALIGNMENT == 0
    assert aligned or row < UNALIGNED.get(getter, row), f"{pipeline.name} wants {pipeline.smem} bytes"


def examples_of(getter: str) -> int:
    return MORE_EXAMPLES.get(getter, EXAMPLES)


def holds(
    row: Row, getter: str, examples: int, body: Callable[..., None] = check, **options: Any
) -> Callable[[], None]:
    """A test that draws so many calls of the getter and checks each. `options` are hypothesis' settings."""

    @settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.nested_given],
        **options,
    )
    @given(arguments_of(getter, row))
    def property_of(arguments: tuple[Any, ...]) -> None:
        body(row, getter, arguments)

    return property_of
