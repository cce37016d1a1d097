"""Dispatching pipelines by hand (upstream: ggml-metal-device.h, ggml_metal_encoder_*).

A call is checked and kept; the device's encoder gets all of them when the block ends. So an exception inside
the block leaves no trace on the device, and Metal's queue, which has room for 64 unfinished command buffers,
holds none that may never be finished.
"""

import math
import operator
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from ._handle import Handle, pinned
from .errors import ComputeError
from .pipeline import Pipeline
from .tensor import Tensor

if TYPE_CHECKING:
    from .device import Device

MAX_ARGUMENTS = 31
"""A kernel has argument indices below it, for buffers and bytes as well as for threadgroup memory."""
MAX_BYTES = 4096
"""What Metal takes as bytes; more needs a buffer."""
_TEXT_SIZE = 4096


class Encoder:
    """One command buffer with one compute encoder. Made by `Device.encoder`, used in a `with` block:

        with device.encoder() as encoder:
            encoder.set_pipeline(pipeline)
            encoder.set_bytes(device.kargs("bin", ne00=4, ...), 0)
            encoder.set_buffer(tensor, 1)
            encoder.dispatch_threadgroups((rows, 1, 1), 32)

    Leaving the block ends the encoding, runs it all on the device and waits until it is done. What was set
    stays set for later dispatches, as in Metal. An exception inside the block abandons: nothing is run.
    Until then everything it uses stays open: closing that inside the block raises RuntimeError, in another
    thread it waits.

    As on any GPU nobody checks what a kernel does: a wrong grid, wrong bytes or too little threadgroup
    memory can make it read or write outside of its buffers, and so overwrite the process's own memory. A
    buffer argument to which nothing is bound is ComputeError on softmetal, and whatever the GPU makes of it
    on Apple's Metal.

    Methods raise ValueError, saying what they expected, ClosedError, TypeError. An Encoder belongs to the
    thread that entered its block; several can be open at once, and their command buffers run one by one.
    """

    def __init__(self, device: "Device", concurrent: bool = False) -> None:
        self._pins = ExitStack()  # first: `__del__` works on an object whose constructor failed
        limit = device.props.max_theadgroup_memory_size
        assert limit is not None
        self._device = device
        self._native = device._native
        self._threadgroup_limit = limit
        self._concurrent = bool(concurrent)
        self._calls: list[tuple[str, tuple[Any, ...]]] = []
        self._state = "new"  # then "open", "ended", "done"
        self._thread: int | None = None
        self._pinned: set[Handle] = set()
        self._backend_device: Any = None
        self._metal_device: Any = None
        self._pipeline: Pipeline | None = None
        self._threadgroup_memory: dict[int, int] = {}
        self._groups = 0

    # ---- the block

    def __enter__(self) -> "Encoder":
        if self._state != "new":
            raise ValueError("an Encoder encodes once; make another one with `device.encoder()`")
        self._pin([self._device])
        # Asked for now: once another thread waits to close the device, it gives them to nobody.
        self._backend_device = self._device._use()
        self._metal_device = self._device._metal_device()
        self._thread = threading.get_ident()
        self._state = "open"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._pins:
            try:
                if kind is None:
                    self.end_encoding()
                    self._run()
            finally:
                self._state = "done"
                self._calls.clear()
                self._pinned.clear()

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self._pins.close()  # nobody left the block

    def _run(self) -> None:
        """Encode what was kept, and run it. Raises ComputeError with the device's text."""
        native = self._native
        command_buffer = native.gmpy_command_buffer_new(self._metal_device)
        if command_buffer == native.ffi.NULL:
            raise ComputeError("the device's queue gives no command buffer")
        try:
            self._encode(command_buffer)
            text = native.ffi.new("char[]", _TEXT_SIZE)
            if not native.gmpy_command_buffer_run(command_buffer, text, _TEXT_SIZE):
                raise ComputeError(native.text(text))
        finally:
            native.gmpy_command_buffer_free(command_buffer)

    def _encode(self, command_buffer: Any) -> None:
        native = self._native
        encoder = native.ggml_metal_encoder_init(command_buffer, self._concurrent)
        try:
            for name, arguments in self._calls:
                getattr(native, f"ggml_metal_encoder_{name}")(encoder, *arguments)
        finally:
            # Metal ends the process when an encoder that has not ended is let go.
            native.ggml_metal_encoder_end_encoding(encoder)
            native.ggml_metal_encoder_free(encoder)

    # ---- ggml_metal_encoder_*

    def set_pipeline(self, pipeline: Pipeline) -> None:
        """What the next dispatches run. Its library belongs to the encoder's device and is open."""
        self._check_open()
        if not isinstance(pipeline, Pipeline):
            raise TypeError(f"set_pipeline takes a Pipeline, not {pipeline!r}")
        library = pipeline._library
        if library is None:
            raise ValueError(f"pipeline {pipeline.name} is only a description: take one from a Library")
        self._device._check_upstream(library)
        self._pin([library])
        if library._parent is None or library._parent._pointer != self._backend_device:
            raise ValueError(f"pipeline {pipeline.name} belongs to another device than the encoder")
        self._pipeline = pipeline
        self._keep("set_pipeline", pipeline._struct)

    def set_bytes(
        self, data: bytes | bytearray | memoryview | np.generic | npt.NDArray[Any], idx: int
    ) -> None:
        """Copy 1 to 4096 bytes for argument `idx`: `device.kargs(...)`, `np.int32(4)`, a contiguous array."""
        self._check_open()
        idx = _index(idx)
        copied = _bytes_of(data)
        if not 1 <= len(copied) <= MAX_BYTES:
            raise ValueError(
                f"set_bytes takes 1 to {MAX_BYTES} bytes, not {len(copied)}: more needs a tensor"
            )
        self._keep("set_bytes", self._native.ffi.from_buffer(copied), len(copied), idx)

    def set_buffer(self, tensor: Tensor, idx: int, offset: int = 0) -> None:
        """Bind a tensor's memory, from its first byte or `offset` bytes behind that, to argument `idx`."""
        self._check_open()
        if not isinstance(tensor, Tensor):
            raise TypeError(f"set_buffer takes a Tensor, not {tensor!r}")
        idx = _index(idx)
        offset = operator.index(offset)
        self._device._check_upstream(tensor.context)
        self._pin(tensor.context._reachable_handles())
        tensor._check_memory()
        if not 0 <= offset < tensor.nbytes:
            raise ValueError(f"{tensor!r} has {tensor.nbytes} bytes: an offset is less, not {offset}")
        buffer = self._buffer_id(tensor)
        buffer.offs += offset
        self._keep("set_buffer", buffer, idx)

    def _buffer_id(self, tensor: Tensor) -> Any:
        """Where the tensor lies in Metal's buffers, as upstream looks for it when it encodes a graph."""
        native = self._native
        pointer = tensor._use()
        owner = pointer.view_src if pointer.view_src else pointer
        kind = native.ggml_backend_buffer_get_type(owner.buffer)
        if not native.ggml_backend_dev_supports_buft(self._backend_device, kind):
            memory = native.text(native.ggml_backend_buffer_name(owner.buffer))
            raise ValueError(f"{tensor!r} is in {memory} memory, which the encoder's device cannot use")
        metal_buffer = native.ffi.cast("struct ggml_metal_buffer *", owner.buffer.context)
        found = native.ggml_metal_buffer_get_id(metal_buffer, pointer)
        if found.metal == native.ffi.NULL:
            raise ValueError(f"{tensor!r} is in none of its memory's Metal buffers")
        return found

    def set_threadgroup_memory_size(self, size: int, idx: int) -> None:
        """Bytes of threadgroup memory for argument `idx`, such as `pipeline.smem`.

        Metal wants multiples of 16, and `size` is rounded up to one: upstream's older getters do not.
        """
        self._check_open()
        idx = _index(idx)
        size = operator.index(size)
        rounded = (size + 15) // 16 * 16
        if size < 0 or rounded > self._threadgroup_limit:
            raise ValueError(
                f"threadgroup memory is 0 to {self._threadgroup_limit} bytes on this device, not {size}"
            )
        self._threadgroup_memory[idx] = rounded
        self._keep("set_threadgroup_memory_size", rounded, idx)

    def dispatch_threadgroups(
        self, threadgroups: int | Sequence[int], threads_per_threadgroup: int | Sequence[int]
    ) -> None:
        """Run the pipeline with what is set: a grid of threadgroups, each of that many threads.

        Both are three numbers, or one for (n, 1, 1).
        """
        self._check_open()
        grid = _three("threadgroups", threadgroups)
        threads = _three("threads_per_threadgroup", threads_per_threadgroup)
        if self._pipeline is None:
            raise ValueError("a dispatch needs a pipeline: call `set_pipeline` first")
        most = self._pipeline.max_threads_per_threadgroup
        if math.prod(threads) > most:
            raise ValueError(
                f"a threadgroup of {self._pipeline.name} has at most {most} threads, "
                f"not {math.prod(threads)}: {threads}"
            )
        total = sum(self._threadgroup_memory.values())
        if total > self._threadgroup_limit:
            raise ValueError(
                f"the device has {self._threadgroup_limit} bytes of threadgroup memory, "
                f"set are {total}: {self._threadgroup_memory}"
            )
        self._keep("dispatch_threadgroups", *grid, *threads)

    def memory_barrier(self) -> None:
        """Later dispatches see what earlier ones wrote; only needed when the encoder is concurrent."""
        self._check_open()
        self._keep("memory_barrier")

    def debug_group_push(self, name: str) -> None:
        """Begin a group of that name for Xcode's debugger."""
        self._check_open()
        if "\0" in name:
            raise ValueError(f"a debug group has a name without NUL characters, not {name!r}")
        self._groups += 1
        self._keep("debug_group_push", name.encode())

    def debug_group_pop(self) -> None:
        """End the group that was begun last; those that are left end with the encoding."""
        self._check_open()
        if self._groups == 0:
            raise ValueError("no debug group is open: call `debug_group_push` first")
        self._groups -= 1
        self._keep("debug_group_pop")

    def end_encoding(self) -> None:
        """Take nothing more. The end of the block does it, and then runs what was encoded."""
        if self._state == "ended":
            return
        self._check_open()
        while self._groups:
            self.debug_group_pop()
        self._state = "ended"

    # ---- bookkeeping

    def _keep(self, name: str, *arguments: Any) -> None:
        self._calls.append((name, arguments))

    def _check_open(self) -> None:
        if self._state == "new":
            raise ValueError("an Encoder encodes inside its block: `with device.encoder() as encoder:`")
        if self._state != "open":
            raise ValueError("the encoding has ended; make another Encoder with `device.encoder()`")
        if self._thread != threading.get_ident():
            raise ValueError("an Encoder is used by the thread that entered its block; make one for each")

    def _pin(self, handles: Sequence[Handle]) -> None:
        """Keep them open until the block ends. Raises ClosedError when one is not."""
        new = [handle for handle in handles if handle not in self._pinned]
        if not new:
            return
        self._pins.enter_context(pinned(new))
        self._pinned.update(new)

    def __repr__(self) -> str:
        return f"<Encoder, {self._state}>"


def _index(idx: SupportsIndex) -> int:
    index = operator.index(idx)
    if not 0 <= index < MAX_ARGUMENTS:
        raise ValueError(f"a kernel's argument index is 0 to {MAX_ARGUMENTS - 1}, not {index}")
    return index


def _three(what: str, size: SupportsIndex | Sequence[SupportsIndex]) -> tuple[int, int, int]:
    sizes = list(size) if isinstance(size, Sequence) else [size, 1, 1]
    axes = [operator.index(n) for n in sizes]
    if len(axes) != 3 or not all(1 <= n < 2**31 for n in axes):
        raise ValueError(f"{what}: three numbers from 1 to {2**31 - 1}, or one, not {size!r}")
    return axes[0], axes[1], axes[2]


def _bytes_of(data: Any) -> bytes:
    if isinstance(data, np.generic | np.ndarray):
        array = np.asarray(data)
        if array.dtype.hasobject:
            raise TypeError(f"set_bytes takes numbers, not an array of {array.dtype}")
        contiguous, copied = array.flags.c_contiguous, array.tobytes()
    else:
        try:
            view = memoryview(data)
        except TypeError:
            raise TypeError(
                f"set_bytes takes bytes, or numbers of numpy such as np.int32(4), not {data!r}"
            ) from None
        contiguous, copied = view.c_contiguous, view.tobytes()
    if not contiguous:
        raise ValueError("set_bytes takes a contiguous array: np.ascontiguousarray makes one")
    return copied
