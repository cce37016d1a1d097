"""Contexts and tensors: what a graph is made of, from and to numpy (upstream: ggml.h, struct ggml_tensor).

Shapes are numpy's: ggml's `ne` reversed, so that the last axis is ggml's ne[0], the contiguous one.
"""

import itertools
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._handle import Handle, pinned
from ._native import Native
from .errors import ClosedError, GgmlAbort, NotInUpstream

if TYPE_CHECKING:
    from .backend import Buffer
    from .device import Device
    from .pipeline import Pipeline

MAX_DIMS = 4

_serial = itertools.count()


class Type(IntEnum):
    """`enum ggml_type`: how values are stored. The quantised types store blocks of, mostly, 32 or 256."""

    F32 = 0
    F16 = 1
    Q4_0 = 2
    Q4_1 = 3
    Q5_0 = 6
    Q5_1 = 7
    Q8_0 = 8
    Q8_1 = 9
    Q2_K = 10
    Q3_K = 11
    Q4_K = 12
    Q5_K = 13
    Q6_K = 14
    Q8_K = 15
    IQ2_XXS = 16
    IQ2_XS = 17
    IQ3_XXS = 18
    IQ1_S = 19
    IQ4_NL = 20
    IQ3_S = 21
    IQ2_S = 22
    IQ4_XS = 23
    I8 = 24
    I16 = 25
    I32 = 26
    I64 = 27
    F64 = 28
    IQ1_M = 29
    BF16 = 30
    TQ1_0 = 34
    TQ2_0 = 35
    MXFP4 = 39
    NVFP4 = 40
    Q1_0 = 41
    Q2_0 = 42

    @classmethod
    def of(cls, value: "Type | str | int") -> "Type":
        """A Type from itself, its name in any case (`"q4_0"`) or its number. Raises ValueError."""
        try:
            return cls[value.upper()] if isinstance(value, str) else cls(value)
        except (KeyError, ValueError):
            names = ", ".join(member.name.lower() for member in cls)
            raise ValueError(f"there is no tensor type {value!r}; types: {names}") from None


_DTYPES: dict[Type, npt.DTypeLike] = {
    Type.F32: np.float32,
    Type.F16: np.float16,
    Type.F64: np.float64,
    Type.I8: np.int8,
    Type.I16: np.int16,
    Type.I32: np.int32,
    Type.I64: np.int64,
}
_TYPES = {np.dtype(dtype): type_ for type_, dtype in _DTYPES.items()}


class Context(Handle):
    """Holds the descriptions of tensors (upstream: ggml_context with no_alloc). Their values are in Buffers.

    Closing it also closes its Buffers. One thread at a time builds in it; others wait.
    """

    def __init__(self, device: "Device", tensors: int = 1024) -> None:
        if tensors < 1:
            raise ValueError(f"a context has room for at least one tensor, not {tensors}")
        native = device._native
        device._use()
        self._device = device
        self._capacity = tensors
        self._made = next(_serial)
        self._building = threading.RLock()
        self._buffers: list[Buffer] = []
        self._sources: set[Context] = set()
        self._waiting: list[tuple[Tensor, bytes]] = []
        size = tensors * native.ggml_tensor_overhead()
        pointer = native.ggml_init({"mem_size": size, "mem_buffer": native.ffi.NULL, "no_alloc": True})
        if pointer == native.ffi.NULL:
            raise MemoryError(f"no memory for a context of {tensors} tensors ({size} bytes)")
        self._own(native, pointer, device)

    def _release(self, pointer: Any) -> None:
        for buffer in self._buffers:
            buffer.close()
        self._native.ggml_free(pointer)

    @property
    def device(self) -> "Device":
        """The Device that it was made for."""
        self._use()
        return self._device

    # ---- making tensors

    def new_tensor(self, type: Type | str, shape: Sequence[int], name: str | None = None) -> "Tensor":
        """A tensor without values; its memory comes with `Backend.alloc`.

        `shape` is numpy's, at most 4 axes; the last one must be a multiple of the type's block size.
        Raises ValueError.
        """
        kind = Type.of(type)
        ne = self._checked_ne(kind, shape)
        make = self._native.ggml_new_tensor_4d
        return self._build(lambda: make(self._use(), int(kind), *ne), len(shape), (), name)

    def from_numpy(
        self, array: npt.ArrayLike, type: Type | str | None = None, name: str | None = None
    ) -> "Tensor":
        """A tensor with the array's values, which are copied now and stored by `Backend.alloc`.

        Without `type` the array's dtype is kept (bool becomes int8). Floats are converted to any float or
        quantised type by ggml's own functions. Raises ValueError, TypeError.
        """
        values = np.asarray(array)
        if values.dtype == np.bool_:
            values = values.astype(np.int8)
        kind = _type_of(values) if type is None else Type.of(type)
        tensor = self.new_tensor(kind, values.shape or (1,), name)
        self._waiting.append((tensor, encode(self._native, values, kind)))
        return tensor

    def _checked_ne(self, kind: Type, shape: Sequence[int]) -> list[int]:
        if not 1 <= len(shape) <= MAX_DIMS:
            raise ValueError(f"a tensor has 1 to {MAX_DIMS} axes, not {len(shape)}: {tuple(shape)}")
        if any(n < 1 for n in shape):
            raise ValueError(f"every axis of a tensor has at least one value: {tuple(shape)}")
        block = block_size(self._native, kind)
        if shape[-1] % block:
            raise ValueError(
                f"the last axis of a {kind.name} tensor is a multiple of {block}: not {tuple(shape)}"
            )
        if math.prod(int(n) for n in shape) * type_size(self._native, kind) // block >= 2**63:
            raise ValueError(f"a tensor of shape {tuple(shape)} is too big")
        return [int(n) for n in reversed(shape)] + [1] * (MAX_DIMS - len(shape))

    def _build(
        self,
        make: Callable[[], Any],
        ndim: int,
        sources: Sequence["Tensor"],
        name: str | None = None,
    ) -> "Tensor":
        """Run an upstream builder. `sources` are what the new tensor refers to."""
        # A source may be a view of another context's tensor, whose size the builder reads.
        contexts = {source.context for source in sources}
        needed = set().union(*(context._reachable() for context in contexts))
        with self._building, pinned({self, *needed}):
            count = self._count
            try:
                pointer = make()
            except ValueError:
                self._empty_since(count)
                raise
            except GgmlAbort as error:
                self._empty_since(count)
                if self._count < self._capacity:
                    raise
                raise ValueError(
                    f"the context is full: it was made for {self._capacity} tensors; "
                    "give `device.context(tensors=...)` more room"
                ) from error
            self._sources.update(source.context for source in sources if source.context is not self)
            tensor = Tensor(self, pointer, ndim)
            if name is not None:
                tensor.name = name
            return tensor

    def _empty_since(self, count: int) -> None:
        """Take shape and op from what a builder that failed left behind: nobody is going to use it."""
        left = self._count - count
        for tensor in itertools.islice(self._tensors(), count, None) if left else ():
            tensor.ne = [0] * MAX_DIMS
            tensor.op = tensor.view_offs = 0
            tensor.view_src = self._native.ffi.NULL

    # ---- what a graph needs to know

    def _tensors(self) -> Iterator[Any]:
        """Native pointers to all its tensors, those inside of ops included."""
        native = self._native
        tensor = native.ggml_get_first_tensor(self._pointer)
        while tensor != native.ffi.NULL:
            yield tensor
            tensor = native.ggml_get_next_tensor(self._pointer, tensor)

    @property
    def _count(self) -> int:
        """Tensors made so far; every one takes the same room."""
        return int(self._native.ggml_used_mem(self._use())) // int(self._native.ggml_tensor_overhead())

    def _reachable(self) -> "set[Context]":
        """This context and those whose tensors its own refer to."""
        found: set[Context] = set()
        todo = [self]
        while todo:
            context = todo.pop()
            if context not in found:
                found.add(context)
                todo.extend(context._sources)
        return found

    def _reachable_handles(self) -> list[Handle]:
        """What must stay open while its tensors are used: contexts, and buffers that are open now."""
        contexts = self._reachable()
        buffers = [buffer for context in contexts for buffer in context._buffers if not buffer.closed]
        return [*contexts, *buffers]

    def _store_waiting(self) -> None:
        """Copy the values given to `from_numpy` into memory that exists now."""
        waiting, self._waiting = self._waiting, []
        for tensor, data in waiting:
            if tensor.allocated:
                tensor._set_bytes(data)
            else:
                self._waiting.append((tensor, data))

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"{self._count} of {self._capacity} tensors"
        return f"<Context, {state}>"


class Tensor:
    """A tensor of a Context: a leaf with values, or the result of an op (see ops.py)."""

    __slots__ = ("_ndim", "_pipelines", "_pointer", "context")

    def __init__(self, context: Context, pointer: Any, ndim: int) -> None:
        self.context = context
        self._pointer = pointer
        # What Library's getters answered for it: type, shape, strides and op of a tensor never change.
        self._pipelines: dict[Any, Pipeline] = {}
        # ggml does not count axes of length 1 in front; numpy does, so we remember them.
        self._ndim = max(ndim, *(i + 1 for i, n in enumerate(pointer.ne) if n != 1), 1)

    def _use(self) -> Any:
        """The native pointer. Raises ClosedError when the context is closed."""
        context = self.context
        if context._pointer is None:
            raise ClosedError("the context of this Tensor is closed")
        if context._native.forked:
            context._native.refuse_after_fork()
        return self._pointer

    @property
    def _native(self) -> Native:
        return self.context._native

    # ---- description

    @property
    def name(self) -> str:
        """ggml's name for it; ops name their results after their sources."""
        return self._native.text(self._use().name)

    @name.setter
    def name(self, name: str) -> None:
        encoded = name.encode()
        limit = self._native.GGML_MAX_NAME - 1
        if len(encoded) > limit:
            raise ValueError(f"a tensor's name has at most {limit} bytes: {name!r}")
        self._native.ggml_set_name(self._use(), encoded)

    @property
    def type(self) -> Type:
        """How its values are stored."""
        value = int(self._use().type)
        try:
            return Type(value)
        except ValueError:
            raise NotInUpstream(f"tensor type {value} has no name in gm.Type") from None

    @property
    def op(self) -> str:
        """The op that computes it, as ggml names it: `MUL_MAT`, `GELU`; `NONE` for a leaf."""
        return self._native.text(self._native.ggml_op_desc(self._use()))

    @property
    def ne(self) -> tuple[int, int, int, int]:
        """Lengths of the axes in ggml's order, ne[0] innermost; always 4."""
        ne = self._use().ne
        return int(ne[0]), int(ne[1]), int(ne[2]), int(ne[3])

    @property
    def nb(self) -> tuple[int, int, int, int]:
        """Strides in bytes, in ggml's order; nb[0] is the size of a value or block."""
        nb = self._use().nb
        return int(nb[0]), int(nb[1]), int(nb[2]), int(nb[3])

    @property
    def ndim(self) -> int:
        """Number of axes."""
        self._use()
        return self._ndim

    @property
    def shape(self) -> tuple[int, ...]:
        """numpy's shape: ne reversed, `ndim` long."""
        return self.ne[: self._ndim][::-1]

    @property
    def nbytes(self) -> int:
        """Bytes from its first value to its last, gaps of a strided view included."""
        return int(self._native.ggml_nbytes(self._use()))

    @property
    def is_contiguous(self) -> bool:
        """Whether its values lie in memory in order and without gaps."""
        return bool(self._native.ggml_is_contiguous(self._use()))

    @property
    def allocated(self) -> bool:
        """Whether it has memory in an open Buffer."""
        return bool(self._native.gmpy_has_memory(self._use()))

    def __repr__(self) -> str:
        if self.context.closed:
            return "<Tensor, closed>"
        label = f" {self.name!r}" if self.name else ""
        return f"<Tensor{label} {self.op} {self.type.name} {self.shape}>"

    # ---- values

    def numpy(self) -> npt.NDArray[Any]:
        """Its values, copied. Quantised and bf16 values come as float32, the others in their own dtype.

        Raises ValueError when it has no memory yet, or parts of blocks.
        """
        kind = self.type
        native = self._native
        raw = self._get_bytes()
        ne, nb = self.ne, self.nb
        block, size = block_size(native, kind), type_size(native, kind)
        if ne[0] % block:
            raise ValueError(f"{self!r} has rows that are not whole blocks of {block}")
        # One item per value, or per block of a quantised type, wherever the strides put it.
        shape = (ne[3], ne[2], ne[1], ne[0] // block)
        # A stride that is never taken may be anything.
        taken = 0 not in ne
        strides = [stride if taken and n > 1 else 0 for n, stride in zip(shape, reversed(nb), strict=True)]
        blocks = np.lib.stride_tricks.as_strided(
            np.frombuffer(raw, np.uint8), (*shape, size), (*strides, 1), writeable=False
        )
        values = decode(native, blocks.tobytes(), kind, math.prod(ne))
        return values.reshape(self.shape)

    def set(self, array: npt.ArrayLike) -> None:
        """Replace its values; the array's shape must be the tensor's. Floats are converted to its type.

        Raises ValueError: another shape, not contiguous, or without memory yet.
        """
        values = np.asarray(array)
        if values.shape != self.shape:
            raise ValueError(f"the tensor's shape is {self.shape}, the array's is {values.shape}")
        if not self.is_contiguous:
            raise ValueError(f"{self!r} is not contiguous: set the tensor that it is a view of")
        self._set_bytes(encode(self._native, values, self.type))

    def _check_memory(self) -> None:
        if self.nbytes and not self.allocated:
            raise ValueError(f"{self!r} has no memory yet: call `backend.alloc(context)` first")

    def _get_bytes(self) -> bytearray:
        with pinned(self.context._reachable_handles()):
            self._check_memory()
            raw = bytearray(self.nbytes)
            if raw:
                native = self._native
                native.ggml_backend_tensor_get(self._use(), native.ffi.from_buffer(raw), 0, len(raw))
        return raw

    def _set_bytes(self, data: bytes) -> None:
        with pinned(self.context._reachable_handles()):
            self._check_memory()
            if len(data) != self.nbytes:
                raise ValueError(f"{self!r} has {self.nbytes} bytes, not {len(data)}")
            if data:
                native = self._native
                native.ggml_backend_tensor_set(self._use(), native.ffi.from_buffer(data), 0, len(data))


# ---- types and their bytes


def block_size(native: Native, kind: Type) -> int:
    """Values in one block of the type. Raises NotInUpstream when the row does not know the type."""
    if int(kind) >= native.GGML_TYPE_COUNT or native.ggml_type_size(int(kind)) == 0:
        raise NotInUpstream(f"upstream {native.row} has no tensor type {kind.name}")
    return int(native.ggml_blck_size(int(kind)))


def type_size(native: Native, kind: Type) -> int:
    """Bytes of one block of the type."""
    return int(native.ggml_type_size(int(kind)))


def encode(native: Native, values: npt.NDArray[Any], kind: Type) -> bytes:
    """The array's values as the type stores them, rows along the last axis. Raises ValueError, TypeError."""
    if values.dtype.kind not in "fiub":
        raise TypeError(f"{kind.name} stores real numbers, the array has {values.dtype}")
    if kind in _DTYPES:
        dtype = np.dtype(_DTYPES[kind])
        if dtype.kind == "i" and values.dtype.kind == "f":
            raise TypeError(f"{kind.name} stores integers, the array has {values.dtype}")
        with np.errstate(over="ignore"):  # what is too large is stored as infinity
            converted = values.astype(dtype)
        if dtype.kind == "i" and not np.array_equal(converted, values):
            raise ValueError(f"the array has values that {kind.name} cannot store")
        return converted.tobytes()
    floats = np.ascontiguousarray(values, np.float32)
    return _quantise(native, floats, kind)


def _quantise(native: Native, floats: npt.NDArray[np.float32], kind: Type) -> bytes:
    ffi = native.ffi
    columns = floats.shape[-1] if floats.ndim else 1
    rows = floats.size // columns
    source = ffi.from_buffer("float[]", floats)
    out = bytearray(rows * int(native.ggml_row_size(int(kind), columns)))
    if kind is Type.BF16:
        native.ggml_fp32_to_bf16_row(source, ffi.from_buffer("ggml_bf16_t[]", out), floats.size)
        return bytes(out)
    _refuse_not_finite(floats, kind)
    importance = ffi.NULL
    if native.ggml_quantize_requires_imatrix(int(kind)):
        weights = np.ones(columns, np.float32)  # every column counts the same
        importance = ffi.from_buffer("float[]", weights)
    native.ggml_quantize_chunk(int(kind), source, ffi.from_buffer(out), 0, rows, columns, importance)
    return bytes(out)


def _refuse_not_finite(floats: npt.NDArray[np.float32], kind: Type) -> None:
    if not np.isfinite(floats).all():
        raise ValueError(f"the array has values that are not finite, {kind.name} cannot store them")


def encode_as_ops_do(native: Native, values: npt.NDArray[Any], kind: Type) -> bytes:
    """As `encode`, but ops do not look for better scales, which `ggml_quantize_chunk` does for some types."""
    if kind in _DTYPES or kind is Type.BF16:
        return encode(native, values, kind)
    floats = np.ascontiguousarray(values, np.float32)
    _refuse_not_finite(floats, kind)
    out = bytearray(floats.size // block_size(native, kind) * type_size(native, kind))
    quantise = native.ggml_get_type_traits(int(kind)).from_float_ref
    if quantise == native.ffi.NULL:
        raise NotInUpstream(f"ggml has no conversion from float to {kind.name}")
    quantise(native.ffi.from_buffer("float[]", floats), native.ffi.from_buffer(out), floats.size)
    return bytes(out)


def decode(native: Native, data: bytes, kind: Type, count: int) -> npt.NDArray[Any]:
    """The `count` values that `data` stores, as a flat array."""
    if kind in _DTYPES:
        return np.array(np.frombuffer(data, _DTYPES[kind]))
    values = np.empty(count, np.float32)
    to_float = native.ggml_get_type_traits(int(kind)).to_float
    if to_float == native.ffi.NULL:
        raise NotInUpstream(f"ggml has no conversion from {kind.name} to float")
    to_float(native.ffi.from_buffer(data), native.ffi.from_buffer("float[]", values), count)
    return values


def _type_of(values: npt.NDArray[Any]) -> Type:
    try:
        return _TYPES[values.dtype]
    except KeyError:
        known = ", ".join(str(dtype) for dtype in _TYPES)
        raise TypeError(f"no tensor type stores {values.dtype}; convert to one of {known}") from None
