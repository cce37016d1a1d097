"""What one graph costs beyond its work: a graph of a single small addition."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

import numpy as np

import ggml_metal_py as gm

from .result import Result

RUNS = 300


def measure() -> Iterator[Result]:
    """Time of one `Backend.compute`, on the device and on ggml's CPU backend through the same binding."""
    with gm.open() as device:
        with device.backend() as metal:
            on_metal = _seconds(device, metal)
        with gm.Backend.on_cpu(device) as cpu:
            on_cpu = _seconds(device, cpu)
    yield Result("one graph of one ADD", on_metal * 1e6, "us", "CPU backend", on_metal / on_cpu)


def _seconds(device: gm.Device, backend: gm.Backend) -> float:
    with device.context() as context:
        a = context.from_numpy(np.ones(32, np.float32))
        graph = gm.Graph(gm.ops.add(a, a))
        backend.alloc(context)
        times = []
        for _ in range(RUNS):
            start = time.perf_counter()
            backend.compute(graph)
            times.append(time.perf_counter() - start)
    return statistics.median(times)
