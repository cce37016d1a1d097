"""Very many calls of a row's getters in one process, a third of them refused. It must survive, and not grow.

python -c "import getters_million; getters_million.run('pywhispercpp-1.5.1', calls=1_000_000)"
"""

import inspect
import json
import random
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from getters.properties import holds
from getters.recipes import Recipe, realise
from getters.rows import Row
from mirror_abuse import Values
from mirror_calls import legal_calls

import ggml_metal_py as gm

DRAWN = 20
"""Calls drawn for each getter, beside those with one illegal argument."""

NAMES = 2000
"""Half of the pipelines that are made to measure what one takes."""

CHUNKS = 10
REFUSED = 1 / 3
ERRORS = (ValueError, TypeError, gm.GgmlAbort, gm.KernelNotFound, gm.NotInUpstream)


@dataclass
class Call:
    """A prepared call, and what it gave the first time: a Pipeline, or the type and text of an error."""

    mirror: Callable[..., gm.Pipeline]
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    op: gm.Tensor | None = None
    first: Any = None

    def __post_init__(self) -> None:
        values = (*self.arguments, *self.options.values())
        self.op = next((value for value in values if isinstance(value, gm.Tensor)), None)
        self.first = self()

    def __call__(self) -> Any:
        if self.op is not None:
            self.op._pipelines.clear()  # ask upstream, not the tensor's memory
        try:
            return self.mirror(*self.arguments, **self.options)
        except ERRORS as error:
            return type(error), str(error)


def run(row: str, calls: int, seed: int = 0) -> None:
    """Make the calls, and print as JSON how many gave what, how many another answer than the first time,
    how fast they were, and how much memory was in use after every tenth of them."""
    rng = random.Random(seed)
    with gm.open(upstream=row) as device, device.context(tensors=20_000) as context:
        bytes_of_a_name = _bytes_of_a_name(device)
        prepared = list(_prepared(row, device, context))
        answered = [call for call in prepared if isinstance(call.first, gm.Pipeline)]
        refused = _by_error(call for call in prepared if not isinstance(call.first, gm.Pipeline))
        kinds, wrong = Counter[str](), 0
        memory = [_memory()]
        errors = list(refused)
        start = time.perf_counter()
        for _ in range(CHUNKS):
            for _ in range(calls // CHUNKS):
                if rng.random() < REFUSED:
                    kind = rng.choice(errors)
                    call = rng.choice(refused[kind])
                else:
                    kind, call = "answered", rng.choice(answered)
                kinds[kind] += 1
                wrong += call() != call.first
            memory.append(_memory())
        seconds = time.perf_counter() - start
        names = {call.first.name for call in answered}
        print(
            json.dumps(
                {
                    "calls": kinds.total(),
                    "kinds": kinds,
                    "wrong": wrong,
                    "calls per second": round(kinds.total() / seconds),
                    "prepared": len(prepared),
                    "names": len(names),
                    "names made": 2 * NAMES,
                    "names known": len(device.library._records),
                    "bytes of a name": bytes_of_a_name,
                    "memory": memory,
                }
            )
        )


def _memory() -> int:
    """Bytes of this process in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _by_error(calls: Iterator[Call]) -> dict[str, list[Call]]:
    found: dict[str, list[Call]] = {}
    for call in calls:
        found.setdefault(call.first[0].__name__, []).append(call)
    return found


def _bytes_of_a_name(device: gm.Device) -> float:
    """What one more pipeline takes."""
    before = 0
    for number in range(2 * NAMES):
        if number == NAMES:  # the first ones grow tables, too
            before = _memory()
        constants = gm.ConstantValues().set_int16(600, number)
        device.library.compile_pipeline("kernel_mul_mv_f32_f32", f"name_{number}", constants)
    return (_memory() - before) / NAMES


def _prepared(row: str, device: gm.Device, context: gm.Context) -> Iterator[Call]:
    closed = gm.Library.of_device(device)
    closed.close()
    legal = legal_calls(context)
    values = Values(row, context, legal)
    for getter, arguments in legal.items():
        name = f"get_pipeline_{getter}"
        mirror = getattr(device.library, name)
        yield Call(mirror, arguments, {})
        yield Call(getattr(closed, name), arguments, {})
        parameters = inspect.signature(mirror).parameters
        given = dict(zip(parameters, arguments, strict=False))
        for parameter in parameters.values():
            for value, _ in values.of(getter, parameter):
                yield Call(mirror, (), {**given, parameter.name: value})
        for drawn in _drawn(row, getter):
            options = next((value for value in drawn if isinstance(value, dict)), {})
            plain = [realise(a, context) if isinstance(a, Recipe) else a for a in drawn if a is not options]
            yield Call(mirror, tuple(plain), options)


def _drawn(row: str, getter: str) -> list[tuple[Any, ...]]:
    """Calls that the properties of tests/getters check."""
    found: list[tuple[Any, ...]] = []

    def note(_row: Row, _getter: str, drawn: tuple[Any, ...]) -> None:
        found.append(drawn)

    known = next(known for known in Row if known.upstream == row)
    holds(known, getter, DRAWN, note, derandomize=True, database=None)()
    return found
