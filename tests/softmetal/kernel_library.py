"""Runs kernels of a compiled kernel library through its table, with ctypes: no device, no ggml.

The structures mirror softmetal/exec/abi.h.
"""

import ctypes as c
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

MAX_BUFFERS = 31


class Argument(c.Structure):
    _fields_ = [("kind", c.c_uint8), ("index", c.c_uint8), ("writable", c.c_uint8), ("name", c.c_char_p)]


class Constant(c.Structure):
    _fields_ = [("index", c.c_uint16), ("type", c.c_uint16), ("name", c.c_char_p)]


class Kernel(c.Structure):
    _fields_ = [
        ("name", c.c_char_p),
        ("flags", c.c_uint32),
        ("static_tg_bytes", c.c_uint32),
        ("n_args", c.c_uint32),
        ("args", c.POINTER(Argument)),
        ("entry", c.c_void_p),
    ]


class Dispatch(c.Structure):
    _fields_ = [
        ("kernel", c.POINTER(Kernel)),
        ("buffers", c.POINTER(c.c_void_p)),
        ("buffer_bytes", c.POINTER(c.c_size_t)),
        ("tg_bytes", c.c_uint32 * MAX_BUFFERS),
        ("grid", c.c_uint32 * 3),
        ("threads", c.c_uint32 * 3),
        ("constants", c.POINTER(c.c_int64)),
        ("constants_set", c.POINTER(c.c_uint8)),
        ("checked", c.c_void_p),
        ("pipeline", c.c_char_p),
        ("last_first", c.c_uint8),
        ("fills", c.c_uint8),
        ("fill", c.c_uint8),
    ]


class Kernels(c.Structure):
    _fields_ = [
        ("abi", c.c_uint32),
        ("flags", c.c_uint32),
        ("source_hash", c.c_char_p),
        ("cpu", c.c_char_p),
        ("n_kernels", c.c_uint32),
        ("kernels", c.POINTER(Kernel)),
        ("n_constants", c.c_uint32),
        ("constants", c.POINTER(Constant)),
        ("worker_new", c.CFUNCTYPE(c.c_void_p)),
        ("worker_free", c.CFUNCTYPE(None, c.c_void_p)),
        ("run", c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(Dispatch), c.c_uint64, c.c_uint64)),
        ("error", c.CFUNCTYPE(c.c_char_p, c.c_void_p)),
    ]


class DispatchError(RuntimeError):
    """run returned something else than SM_OK."""


def three(extent: int | Sequence[int]) -> tuple[int, int, int]:
    """(x, y, z) of an extent given as a number or as one to three numbers."""
    x, y, z = (*((extent,) if isinstance(extent, int) else extent), 1, 1)[:3]
    return x, y, z


class KernelLibrary:
    """A kernel library and one worker."""

    def __init__(self, path: Path):
        self.library = c.CDLL(str(path))
        self.table = Kernels.in_dll(self.library, "softmetal_kernels")
        self.kernels = {
            self.table.kernels[i].name.decode(): self.table.kernels[i] for i in range(self.table.n_kernels)
        }
        self.slots = {self.table.constants[i].index: i for i in range(self.table.n_constants)}
        self.worker = self.table.worker_new()

    def close(self) -> None:
        self.table.worker_free(self.worker)

    def prepare(
        self,
        name: str,
        arguments: Sequence[np.ndarray | bytes | None],
        grid: int | Sequence[int] = 1,
        threads: int | Sequence[int] = 32,
        threadgroup_bytes: Sequence[int] = (),
        constants: Mapping[int, int | float | bool] | None = None,
        last_first: bool = False,
        fill: int | None = None,
    ) -> Dispatch:
        """A dispatch. Arguments by index: arrays are passed in place, bytes copied. Constants by index.

        `fill`: what threadgroup memory holds in each byte when a threadgroup begins.
        """
        kept = [np.frombuffer(a, np.uint8).copy() if isinstance(a, bytes) else a for a in arguments]
        buffers = (c.c_void_p * MAX_BUFFERS)()
        sizes = (c.c_size_t * MAX_BUFFERS)()
        for i, array in enumerate(kept):
            if array is not None:
                assert array.flags.c_contiguous
                buffers[i], sizes[i] = array.ctypes.data, array.nbytes
        values = np.zeros(self.table.n_constants + 1, np.int64)
        given = np.zeros(self.table.n_constants + 1, np.uint8)
        for index, value in (constants or {}).items():
            values[self.slots[index]] = (
                np.float32(value).view(np.int32) if isinstance(value, float) else value
            )
            given[self.slots[index]] = 1
        dispatch = Dispatch(
            c.pointer(self.kernels[name]),
            buffers,
            sizes,
            (c.c_uint32 * MAX_BUFFERS)(*threadgroup_bytes),
            (c.c_uint32 * 3)(*three(grid)),
            (c.c_uint32 * 3)(*three(threads)),
            values.ctypes.data_as(c.POINTER(c.c_int64)),
            given.ctypes.data_as(c.POINTER(c.c_uint8)),
            last_first=last_first,
            fills=fill is not None,
            fill=fill or 0,
        )
        dispatch.kept = (kept, buffers, sizes, values, given)
        return dispatch

    def run(self, dispatch: Dispatch, first: int = 0, count: int | None = None) -> None:
        """Run all threadgroups of the dispatch, or some. Raises DispatchError."""
        grid = dispatch.grid
        count = grid[0] * grid[1] * grid[2] if count is None else count
        status = self.table.run(self.worker, c.byref(dispatch), first, count)
        if status:
            raise DispatchError(self.table.error(self.worker).decode())

    def __call__(self, name: str, arguments: Sequence[np.ndarray | bytes | None], **how) -> None:
        self.run(self.prepare(name, arguments, **how))
