"""Running graphs: Backend, its Buffers, and Graph (upstream: ggml-backend.h, ggml-alloc.h).

What cannot run is refused before it runs: a tensor without memory, or an op that the device lacks.
"""

import mmap
import threading
import weakref
from typing import TYPE_CHECKING, Any

from ._handle import Handle, pinned
from .errors import BackendPoisoned, ComputeError, GgmlAbort, KernelNotFound, UnsupportedOp
from .tensor import Context, Tensor

if TYPE_CHECKING:
    from .device import Device


_APART, _ROWS_APART = 4096, 8
"""Bytes and rows between tensors in checked mode."""


class Buffer(Handle):
    """Memory of a backend that holds the values of a Context's tensors. Made by `Backend.alloc`."""

    def __init__(self, backend: "Backend", context: Context, pointer: Any, tensors: list[Any]) -> None:
        self._context = weakref.ref(context)
        self._tensors = tensors
        assert backend._parent is not None
        self._own(backend._native, pointer, backend._parent)

    def _release(self, pointer: Any) -> None:
        context = self._context()
        if context is not None and not context.closed:
            self._forget_tensors(context)
        self._native.ggml_backend_buffer_free(pointer)

    def _forget_tensors(self, context: Context) -> None:
        """Take the memory away from its tensors, so that nobody follows a dangling pointer."""
        null = self._native.ffi.NULL
        with context._building:
            for tensor in self._tensors:
                tensor.buffer = tensor.data = null

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self._native.ggml_backend_buffer_get_size(self._use()))

    @property
    def name(self) -> str:
        """ggml's name for its kind of memory."""
        return self._native.text(self._native.ggml_backend_buffer_name(self._use()))

    def clear(self, value: int = 0) -> None:
        """Set every byte to `value`."""
        if not 0 <= value <= 255:
            raise ValueError(f"a byte is 0..255, not {value}")
        with pinned([self]):
            self._native.ggml_backend_buffer_clear(self._use(), value)


class Graph(Handle):
    """The nodes that compute some tensors, in order (upstream: ggml_cgraph). Can be computed many times."""

    def __init__(self, *outputs: Tensor) -> None:
        if not outputs:
            raise ValueError("a graph computes at least one tensor")
        native = outputs[0]._native
        for tensor in outputs:
            outputs[0].context._check_upstream(tensor.context)
        self.outputs = outputs
        self._contexts = set().union(*(tensor.context._reachable() for tensor in outputs))
        size = max(16, sum(context._count for context in self._contexts))
        with pinned(self._contexts):
            context = native.ggml_init(
                {
                    "mem_size": native.ggml_graph_overhead_custom(size, False),
                    "mem_buffer": native.ffi.NULL,
                    "no_alloc": True,
                }
            )
            self._own(native, context, outputs[0].context._parent)
            self._graph = native.ggml_new_graph_custom(context, size, False)
            for tensor in outputs:
                native.ggml_build_forward_expand(self._graph, tensor._use())

    def _release(self, pointer: Any) -> None:
        self._native.ggml_free(pointer)

    def _needed(self) -> list[Handle]:
        """All that must stay open while it runs."""
        needed: list[Handle] = [self]
        for context in self._contexts:
            needed.append(context)
            needed += [buffer for buffer in context._buffers if not buffer.closed]
        return needed

    @property
    def n_nodes(self) -> int:
        """Number of nodes, views included."""
        self._use()
        return int(self._native.ggml_graph_n_nodes(self._graph))


class Backend(Handle):
    """Runs graphs on a device, one at a time: threads that share it wait for each other.

    After an abort or a device error in the middle of a graph it is poisoned: it raises BackendPoisoned
    until it is closed and another one is opened.
    """

    def __init__(self, device: "Device") -> None:
        self._set_up(device, device._use())

    @classmethod
    def on_cpu(cls, device: "Device", threads: int = 1) -> "Backend":
        """A Backend on the same library's CPU code; the Device only lends its library.

        With more than one thread, a GGML_ASSERT on one of ggml's own threads cannot be caught.
        """
        if threads < 1:
            raise ValueError(f"at least one thread, not {threads}")
        native = device._native
        device._use()
        cpu = native.ggml_backend_reg_dev_get(native.ggml_backend_cpu_reg(), 0)
        backend = cls.__new__(cls)
        backend._set_up(device, cpu)
        native.ggml_backend_cpu_set_n_threads(backend._pointer, threads)
        return backend

    def _set_up(self, device: "Device", pointer: Any) -> None:
        native = device._native
        self._device = pointer
        self._running = threading.RLock()
        self._poison: str | None = None
        native.gmpy_collect_errors()
        try:
            backend = native.ggml_backend_dev_init(pointer, native.ffi.NULL)
        finally:
            errors = native.take_errors()
        if backend == native.ffi.NULL:
            raise ComputeError(f"the device gives no backend: {errors or 'no reason given'}")
        self._is_metal = bool(native.ggml_backend_is_metal(backend))
        self._own(native, backend, device)

    def _release(self, pointer: Any) -> None:
        try:
            self._native.ggml_backend_free(pointer)
        except GgmlAbort:
            if self._poison is None:
                raise
            # Rows before ggml 0.9.8 abort over the failed command buffer again; the context's memory is lost.

    @property
    def name(self) -> str:
        """ggml's name for it."""
        return self._native.text(self._native.ggml_backend_name(self._use()))

    # ---- memory

    def alloc(self, context: Context) -> Buffer:
        """Give memory to every tensor of the context that has none, and store the values of `from_numpy`.

        Views of tensors in other contexts need those to have memory first; a context of nothing but such
        views gets an empty Buffer. The context keeps the Buffer until either is closed. Raises ValueError
        when nothing needs memory, MemoryError.
        """
        buffer = self._give_memory(context)
        if buffer is None:
            raise ValueError("every tensor of the context has memory already")
        context._buffers.append(buffer)
        context._store_waiting()
        return buffer

    def _give_memory(self, context: Context) -> Buffer | None:
        """Memory for every tensor of the context that has none, without values; None when all have some."""
        native = self._native
        self._check_upstream(context)
        with context._building, pinned([self, *context._reachable_handles()]):
            without = [tensor for tensor in context._tensors() if not native.gmpy_has_memory(tensor)]
            views = [tensor for tensor in without if tensor.view_src]
            leaves = [tensor for tensor in without if not tensor.view_src]
            if not any(native.ggml_nbytes(leaf) for leaf in leaves):
                leaves = []  # empty ones, as a refused op leaves behind
            if not views and not leaves:
                return None
            self._check_views(views, leaves)
            buffer = self._alloc_leaves(context, leaves)
            for view in views:
                # Upstream initialises only the views of a context that gets new memory.
                if not native.gmpy_has_memory(view):
                    view.buffer = view.data = native.ffi.NULL
                    native.ggml_backend_view_init(view)
            return buffer

    def _alloc_leaves(self, context: Context, leaves: list[Any]) -> Buffer:
        native = self._native
        if not leaves:
            pointer = native.ggml_backend_buft_alloc_buffer(self._buffer_type(), 0)
            return Buffer(self, context, pointer, [])
        self._check_size(leaves)
        native.gmpy_collect_errors()
        try:
            if self._is_metal and context.device.checked:
                pointer = self._alloc_apart(leaves)
            else:
                pointer = native.ggml_backend_alloc_ctx_tensors(context._use(), self._use())
        finally:
            errors = native.take_errors()
        if pointer == native.ffi.NULL:
            raise MemoryError(errors or "the backend gives no memory")
        return Buffer(self, context, pointer, leaves)

    def _alloc_apart(self, leaves: list[Any]) -> Any:
        """Memory with room around each tensor: who leaves one in checked mode does not get into another."""
        native, kind = self._native, self._buffer_type()
        offsets, end = [], 0
        for leaf in leaves:
            room = max(_APART, _ROWS_APART * int(leaf.nb[1]))
            offsets.append(end + room)
            end = _aligned(offsets[-1] + int(native.ggml_backend_buft_get_alloc_size(kind, leaf))) + room
        pointer = native.ggml_backend_buft_alloc_buffer(kind, end)
        if pointer != native.ffi.NULL:
            base = native.ffi.cast("char *", native.ggml_backend_buffer_get_base(pointer))
            for leaf, offset in zip(leaves, offsets, strict=True):
                native.ggml_backend_tensor_alloc(pointer, leaf, base + _aligned(offset))
        return pointer

    def _buffer_type(self) -> Any:
        return self._native.ggml_backend_get_default_buffer_type(self._use())

    def _check_size(self, leaves: list[Any]) -> None:
        """Upstream follows a NULL pointer when the Metal device has no memory to give."""
        native, kind = self._native, self._buffer_type()
        total = sum(native.ggml_backend_buft_get_alloc_size(kind, leaf) for leaf in leaves)
        free, all_of_it = native.ffi.new("size_t *"), native.ffi.new("size_t *")
        native.ggml_backend_dev_memory(self._device, free, all_of_it)
        if total > free[0]:
            raise MemoryError(f"the context needs {total} bytes, {self.name} has {free[0]} free")
        try:
            mmap.mmap(-1, total).close()
        except (OSError, OverflowError) as error:
            raise MemoryError(f"the system does not give {total} bytes: {error}") from error

    def _check_views(self, views: list[Any], leaves: list[Any]) -> None:
        """Upstream asserts on a view whose source has no memory and gets none now."""
        native = self._native
        getting = {int(native.ffi.cast("uintptr_t", leaf)) for leaf in leaves}
        for view in views:
            source = view.view_src
            if (
                not native.gmpy_has_memory(source)
                and int(native.ffi.cast("uintptr_t", source)) not in getting
            ):
                raise ValueError(
                    f"tensor {native.text(view.name)!r} is a view of {native.text(source.name)!r}, "
                    "which is in another context and has no memory yet: allocate that context first"
                )

    # ---- computing

    def supports_op(self, tensor: Tensor) -> bool:
        """Whether the backend can compute this op result with its types and shapes."""
        self._use()
        self._check_upstream(tensor.context)
        return bool(self._native.ggml_backend_dev_supports_op(self._device, tensor._use()))

    def compute(self, *what: "Graph | Tensor") -> None:
        """Compute a Graph, or the given tensors and all that they need; returns when it is done.

        Raises, with nothing run: ValueError for a tensor without memory or in another backend's memory,
        UnsupportedOp naming op, types and shapes, BackendPoisoned. Raises, and poisons this Backend:
        GgmlAbort from inside the graph, KernelNotFound when upstream chose a kernel that the library does
        not have, ComputeError when the device failed.
        """
        if len(what) == 1 and isinstance(what[0], Graph):
            self._run(what[0])
            return
        tensors = [tensor for tensor in what if isinstance(tensor, Tensor)]
        if len(tensors) != len(what):
            raise TypeError("compute takes one Graph, or tensors")
        with Graph(*tensors) as graph:
            self._run(graph)

    def _run(self, graph: Graph) -> None:
        self._check_upstream(graph)
        with self._running, pinned([self, *graph._needed()]):
            self._refuse_poisoned()
            self._check(graph)
            self._compute_unchecked(graph)

    def _refuse_poisoned(self) -> None:
        if self._poison is not None:
            raise BackendPoisoned(
                "this Backend failed before and cannot go on; close it and open another one. "
                f"It was: {self._poison}"
            )

    def _check(self, graph: Graph) -> None:
        """Refuse what would fail half-way."""
        native = self._native
        culprit = native.ffi.new("struct ggml_tensor **")
        problem = native.gmpy_check_graph(graph._graph, self._device, culprit)
        if problem == native.GMPY_GRAPH_OK:
            return
        tensor = culprit[0]
        text = _describe(native, tensor)
        if problem == native.GMPY_GRAPH_UNALLOCATED:
            raise ValueError(f"{text} has no memory: call `backend.alloc(context)` before computing")
        if problem == native.GMPY_GRAPH_FOREIGN_BUFFER:
            owner = tensor.view_src if tensor.view_src else tensor
            memory = native.text(native.ggml_backend_buffer_name(owner.buffer))
            raise ValueError(f"{text} is in {memory} memory, which {self.name} cannot use")
        raise UnsupportedOp(f"{self.name} does not support {text}")

    def _compute_unchecked(self, graph: Graph) -> None:
        native = self._native
        native.gmpy_collect_errors()
        try:
            status = self._start(graph)
            aborted = self._wait()
        except (GgmlAbort, KernelNotFound) as error:
            self._poison = str(error)
            raise
        finally:
            errors = native.take_errors()
        # Upstream notices a failed command buffer only after it has answered SUCCESS: it logs an error.
        if status != native.GGML_STATUS_SUCCESS or errors or aborted:
            reason = errors or aborted or native.text(native.ggml_status_to_string(status))
            self._poison = f"{reason}{native.kernel_advice()}"
            raise ComputeError(self._poison) from aborted

    def _wait(self) -> GgmlAbort | None:
        """Wait for the device. After a failed command buffer, rows before ggml 0.9.8 abort."""
        try:
            self._native.ggml_backend_synchronize(self._use())
        except GgmlAbort as error:
            return error
        return None

    def _start(self, graph: Graph) -> Any:
        """Give the graph to the device; clean up when upstream aborts half-way."""
        start = self._native.ggml_backend_graph_compute_async
        if not self._is_metal:
            return start(self._use(), graph._graph)
        with self._native.encoding:
            try:
                return start(self._use(), graph._graph)
            except (GgmlAbort, KernelNotFound):
                self._clear_queue()
                raise

    def _clear_queue(self) -> None:
        """After an abort: drop what was encoded in part, wait for what was committed before.

        Command buffers that nobody commits would hold up every later one of the device. Others still run
        and use memory that the caller may free as soon as he sees the exception.
        """
        native = self._native
        if native.has("softmetal_abandon"):
            native.softmetal_abandon()
        device = native.ffi.cast("struct ggml_metal_device *", self._device.context)
        # Clearing private memory goes through the device's queue, behind everything else, and waits.
        probe = native.ggml_metal_buffer_init(device, 1, False)
        native.ggml_metal_buffer_clear(probe, 0)
        native.ggml_metal_buffer_free(probe)

    def synchronize(self) -> None:
        """Wait until everything that was started is done."""
        with self._running, pinned([self]):
            self._native.ggml_backend_synchronize(self._use())

    def __repr__(self) -> str:
        return "<Backend, closed>" if self.closed else f"<Backend {self.name}>"


def _aligned(offset: int) -> int:
    """To 32 bytes and no more, as upstream lays out tensors."""
    return (offset + 63) // 64 * 64 + 32


def _describe(native: Any, tensor: Any) -> str:
    """`tensor 'x' (MUL_MAT f32 [64, 2] of q4_0 [32, 64] and f32 [32, 2])`, in ggml's order of axes."""

    def brief(t: Any) -> str:
        ne = ", ".join(str(n) for n in list(t.ne)[: native.ggml_n_dims(t)])
        return f"{native.text(native.ggml_type_name(t.type))} [{ne}]"

    sources = " and ".join(brief(source) for source in tensor.src if source)
    op = native.text(native.ggml_op_desc(tensor))
    return f"tensor {native.text(tensor.name)!r} ({op} {brief(tensor)}{' of ' + sources if sources else ''})"
