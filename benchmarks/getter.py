"""What asking for an already compiled pipeline costs: our mirrors against the same C function by ctypes."""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable, Iterator, Sequence

import ggml_metal_py as gm

from .result import Result

CALLS = 2000
ROUNDS = 15
GETTER = "ggml_metal_library_get_pipeline_mul_mm"


class WithParams(ctypes.Structure):
    """`struct ggml_metal_pipeline_with_params`, as somebody who uses ctypes has to repeat it."""

    _fields_ = (
        ("pipeline", ctypes.c_void_p),
        ("nsg", ctypes.c_int),
        ("nr0", ctypes.c_int),
        ("nr1", ctypes.c_int),
        ("smem", ctypes.c_size_t),
        ("c4", ctypes.c_bool),
        ("cnt", ctypes.c_bool),
    )


def measure() -> Iterator[Result]:
    """Time of one call for an op that was asked for before, and for one that was not."""
    with gm.open() as device, device.context(3 * CALLS) as context:
        library = device.library
        products = [_product(context) for _ in range(CALLS)]
        by_ctypes = _by_ctypes(library, products)
        again = [products[0]] * CALLS
        library.get_pipeline_mul_mm(products[0])
        times: dict[str, list[float]] = {"again": [], "new": [], "ctypes": []}
        for _ in range(ROUNDS):  # in turns, so that a slower moment of the machine meets all of them
            times["again"].append(_seconds(library.get_pipeline_mul_mm, again))
            times["ctypes"].append(by_ctypes())
            for product in products:
                product._pipelines.clear()
            times["new"].append(_seconds(library.get_pipeline_mul_mm, products))
    median = {name: statistics.median(values) for name, values in times.items()}
    for name, what in (("again", "getter of a known op"), ("new", "getter of a new op")):
        yield Result(what, median[name] * 1e6, "us", "ctypes", median[name] / median["ctypes"])


def _product(context: gm.Context) -> gm.Tensor:
    return gm.ops.mul_mat(context.new_tensor("f16", (64, 64)), context.new_tensor("f32", (64, 64)))


def _seconds(get: Callable[[gm.Tensor], object], ops: Sequence[gm.Tensor]) -> float:
    start = time.perf_counter()
    for op in ops:
        get(op)
    return (time.perf_counter() - start) / len(ops)


def _by_ctypes(library: gm.Library, products: Sequence[gm.Tensor]) -> Callable[[], float]:
    """Measures the C function itself, called with the library and op as plain numbers."""
    ffi = library._native.ffi
    address = int(ffi.cast("uintptr_t", ffi.addressof(library._native._lib, GETTER)))
    function = ctypes.CFUNCTYPE(WithParams, ctypes.c_void_p, ctypes.c_void_p)(address)
    pointer = int(ffi.cast("uintptr_t", library._use()))
    ops = [int(ffi.cast("uintptr_t", product._use())) for product in products]

    def seconds() -> float:
        start = time.perf_counter()
        for op in ops:
            function(pointer, op)
        return (time.perf_counter() - start) / len(ops)

    return seconds
