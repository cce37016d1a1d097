"""The device's side of a case: its graph, computed in memory of which every byte is known before."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import Backend, Buffer
from ..errors import ComputeError, GgmlAbort, KernelNotFound, UnsupportedOp
from ..select import Dispatch, Selector
from ..tensor import Tensor, Type
from .build import Built

if TYPE_CHECKING:
    from ..device import Device

_GUARD = 64
"""Values behind the results, which nobody may touch."""

OUTSIDE = "outside of all tensors"
"""Part of what is said of a write to where no tensor lies."""


@dataclass(frozen=True)
class Computed:
    """What the device made of a graph."""

    built: Built
    buffer: Buffer
    dispatches: tuple[Dispatch, ...]
    stray: str
    """Which bytes were written that belong to no tensor; empty when none was."""

    @property
    def kernels(self) -> tuple[str, ...]:
        """Host names, each once."""
        return tuple(dict.fromkeys(dispatch.pipeline.base for dispatch in self.dispatches))


class Machine:
    """Computes graphs on the device. Use it as a context manager.

    `settings` are environment variables that upstream reads when it opens a backend, such as
    `GGML_METAL_FUSION_DISABLE`. `compute` stands in for Backend.compute. Raises ValueError for a row that
    ships no kernels' source.
    """

    def __init__(
        self,
        device: "Device",
        settings: Mapping[str, str] | None = None,
        compute: Callable[[Backend, Tensor], object] = Backend.compute,
    ) -> None:
        if not device._native.manifest.get("kernels", {}).get("source", True):
            raise ValueError(f"upstream {device.upstream} ships no kernel source: nothing of it can be run")
        self._device = device
        self._compute = compute
        self._settings = dict(settings or {})
        self._backend: Backend | None = None
        self._selector = Selector(device)

    def __enter__(self) -> "Machine":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the backends back."""
        self._selector.close()
        if self._backend is not None:
            self._backend.close()

    def compute(self, built: Built, values: list[bytes], unwritten: int | None = None) -> Computed:
        """Compute the graph with these values of its leaves; all other memory holds `unwritten` before.

        Without `unwritten` it is NaN, or what the graph asks for. Raises as Backend.compute does.
        """
        with self._opened() as backend:
            built.context.new_tensor(Type.I32, (_GUARD,))
            if not backend.supports_op(built.result):
                raise UnsupportedOp(f"{backend.name} does not support {built.result!r}")
            before = built.unwritten if unwritten is None else unwritten
            buffer = backend.alloc(built.context)
            buffer.clear(before)
            built.store(values)
            dispatches = self._selector.dispatches(built.result)
            self._compute(backend, built.result)
            return Computed(built, buffer, dispatches, self._stray(buffer, built, before))

    def repeat(self, computed: Computed, values: list[bytes], unwritten: int | None = None) -> None:
        """Compute a graph again where it is, with all memory as `compute` has it."""
        built = computed.built
        with self._opened() as backend:
            computed.buffer.clear(built.unwritten if unwritten is None else unwritten)
            built.store(values)
            self._compute(backend, built.result)

    @contextmanager
    def _opened(self) -> Iterator[Backend]:
        """The backend; an abort or a failure ends it, and the next graph gets a new one."""
        if self._backend is None:
            with _environment(self._settings):
                self._backend = self._device.backend()
        try:
            yield self._backend
        except (GgmlAbort, KernelNotFound, ComputeError):
            if self._backend._poison is not None:
                self._backend.close()
                self._backend = None
            raise

    def _stray(self, buffer: Buffer, built: Built, before: int) -> str:
        """What was written between the tensors of the buffer, and behind them."""
        native = self._device._native
        *tensors, guard = built.context._tensors()
        if not self._device.props.use_shared_buffers:  # private memory is read through its tensors only
            held = bytearray(native.ggml_nbytes(guard))
            native.ggml_backend_tensor_get(guard, native.ffi.from_buffer(held), 0, len(held))
            return f"bytes {OUTSIDE} were written" if held != bytes([before]) * len(held) else ""
        base = native.ggml_backend_buffer_get_base(buffer._use())
        start = int(native.ffi.cast("uintptr_t", base))
        memory = np.frombuffer(native.ffi.buffer(native.ffi.cast("char *", base), buffer.size), np.uint8)
        wrong = memory != before
        ends = [(0, "the beginning")]
        for tensor in tensors:
            if tensor.view_src or not tensor.data:
                continue
            first = int(native.ffi.cast("uintptr_t", tensor.data)) - start
            # Upstream gives some results room for intermediate values behind them.
            end = first + native.ggml_backend_buffer_get_alloc_size(buffer._use(), tensor)
            wrong[first:end] = False
            ends.append((end, _brief(native, tensor)))
        if not wrong.any():
            return ""
        at = int(wrong.argmax())
        end, name = max(entry for entry in ends if entry[0] <= at)
        return f"{int(wrong.sum())} bytes {OUTSIDE} were written, the first one {at - end} behind {name}"


def _brief(native: Any, tensor: Any) -> str:
    ne = ", ".join(str(n) for n in list(tensor.ne)[: native.ggml_n_dims(tensor)])
    type = native.text(native.ggml_type_name(tensor.type))
    return f"{native.text(native.ggml_op_desc(tensor))} {type} [{ne}]"


@contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
