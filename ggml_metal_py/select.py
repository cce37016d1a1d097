"""Which kernels upstream chooses: its own encoder is asked, and nothing runs.

The choice between families of kernels (matrix by matrix or by vector, flash attention for many queries or
few) is made where ops are encoded, by rules of the row; nothing of them is repeated here.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._handle import pinned
from .backend import Graph
from .pipeline import Pipeline
from .tensor import Tensor

if TYPE_CHECKING:
    from .device import Device

_MANY = 64

# Kernels that prepare or finish the work of another one in the same op, by what their names contain.
_HELPERS = (
    "_map0",
    "_amax",
    "flash_attn_ext_pad",
    "flash_attn_ext_blk",
    "flash_attn_ext_kv_f16",
    "flash_attn_ext_vec_idx",
    "flash_attn_ext_vec_reduce",
    "argsort_merge",
    "top_k_merge",
    "cumsum_add",
)


@dataclass(frozen=True)
class Dispatch:
    """One kernel of an op, as upstream would dispatch it."""

    op: str
    """The op, as ggml names it: `MUL_MAT`. Of a fused chain, the first one."""
    pipeline: Pipeline
    threadgroups: tuple[int, int, int]
    """The grid, in threadgroups."""
    threads_per_threadgroup: tuple[int, int, int]
    threadgroup_memory: int
    """Bytes, as set for this dispatch."""


def dispatches(*outputs: Tensor) -> tuple[Dispatch, ...]:
    """What upstream would dispatch for these tensors and all that they need, in order. Nothing is computed.

    Tensors need no memory: they get some for the time of the call. Raises ValueError without a tensor,
    UnsupportedOp, GgmlAbort, KernelNotFound when the chosen kernel is not in the library, MemoryError.
    Upstream: ggml-metal-ops.cpp, ggml_metal_op_encode.
    """
    if not outputs:
        raise ValueError("dispatches are those of at least one tensor")
    with Selector(outputs[0].context.device) as selector:
        return selector.dispatches(*outputs)


def chosen(op: Tensor) -> Pipeline | None:
    """The pipeline that does the work of an op, without those that prepare or finish it.

    None for an op that runs nothing, such as a view. Raises as `dispatches` does.
    """
    return main_pipeline(dispatches(op))


def main_pipeline(found: Sequence[Dispatch]) -> Pipeline | None:
    """Of the dispatches of one op, the pipeline that does its work."""
    pipelines = [dispatch.pipeline for dispatch in found]
    own = [pipeline for pipeline in pipelines if not any(helper in pipeline.base for helper in _HELPERS)]
    return next(iter(own or pipelines), None)


def describe(op: Tensor) -> dict[str, Any]:
    """The pipeline that does the work of an op and all its dispatches, as plain values.

    Raises ValueError for an op that runs nothing, and as `dispatches` does.
    """
    found = dispatches(op)
    pipeline = main_pipeline(found)
    if pipeline is None:
        raise ValueError(f"{op.op} runs nothing on the device")
    return {
        **pipeline.as_json(),
        "dispatches": [
            {
                "op": dispatch.op,
                **dispatch.pipeline.as_json(),
                "threadgroups": list(dispatch.threadgroups),
                "threads_per_threadgroup": list(dispatch.threads_per_threadgroup),
                "threadgroup_memory": dispatch.threadgroup_memory,
            }
            for dispatch in found
        ],
    }


class Selector:
    """Asks many times: keeps the Backend that lends its memory. Use it as a context manager."""

    def __init__(self, device: "Device") -> None:
        self._device = device
        self._backend = device.backend()

    def __enter__(self) -> "Selector":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the Backend back."""
        self._backend.close()

    def dispatches(self, *outputs: Tensor) -> tuple[Dispatch, ...]:
        """See `dispatches` of this module."""
        device, backend = self._device, self._backend
        with Graph(*outputs) as graph, ExitStack() as stack:
            for context in sorted(graph._contexts, key=lambda context: context._made):
                buffer = backend._give_memory(context)
                if buffer is not None:
                    stack.enter_context(buffer)
            stack.enter_context(pinned([backend, device.library, *graph._needed()]))
            backend._check(graph)
            return tuple(self._encode(graph))

    def _encode(self, graph: Graph) -> Iterator[Dispatch]:
        native = self._device._native
        capacity = _MANY
        while True:
            noted = native.ffi.new("struct gmpy_dispatch[]", capacity)
            with native.encoding:
                count = native.gmpy_encode_only(self._device._metal_device(), graph._graph, noted, capacity)
            if count <= capacity:
                break
            capacity = count
        for i in range(count):
            yield Dispatch(
                op=native.text(native.ggml_op_desc(noted[i].node)),
                pipeline=self._device.library._from_encoder(noted[i].pipeline),
                threadgroups=tuple(noted[i].threadgroups),
                threads_per_threadgroup=tuple(noted[i].threads_per_threadgroup),
                threadgroup_memory=int(noted[i].threadgroup_memory),
            )
