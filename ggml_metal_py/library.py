"""Libraries of kernels: look pipelines up, compile them, and upstream's getters (upstream:
ggml-metal-device.h, ggml_metal_library_*)."""

import itertools
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from ._handle import pinned
from .errors import CompileError, GgmlMetalError, KernelNotFound
from .getters import AllGetters
from .getters.base import PREFIX
from .pipeline import ConstantValues, FunctionConstant, Pipeline
from .tensor import Tensor

if TYPE_CHECKING:
    from .device import Device

_TYPES = {"int16": "GMPY_CONSTANT_INT16", "int32": "GMPY_CONSTANT_INT32", "bool": "GMPY_CONSTANT_BOOL"}


class Library(AllGetters):
    """Kernels of one Metal library, compiled to pipelines on request and cached by name.

    `get_pipeline_*` are upstream's: the kernel and parameters that it chooses for an op, in the same order
    of arguments. They raise ValueError or TypeError for what can be told before the call, GgmlAbort with
    upstream's words where it asserts, KernelNotFound when the chosen kernel is not in the library, and
    NotInUpstream for what the row does not have.
    """

    _owned = False
    _records: dict[int, tuple[str, str, int, tuple[FunctionConstant, ...]]]

    @classmethod
    def of_device(cls, device: "Device") -> "Library":
        """The device's own library. Closing it here leaves the device's intact."""
        pointer = device._native.ggml_metal_device_get_library(device._metal_device())
        return cls._make(device, pointer, owned=False)

    @classmethod
    def from_source(cls, device: "Device", source: str) -> "Library":
        """Compile Metal source text (upstream: ggml_metal_library_init_from_source).

        Raises CompileError with the compiler's messages; ValueError for an empty source or one with NUL;
        NotInUpstream.
        """
        if not source.strip() or "\0" in source:
            raise ValueError("Metal source is text with at least one kernel, and without NUL characters")
        native = device._native
        native.gmpy_collect_errors()
        try:
            pointer = native.ggml_metal_library_init_from_source(
                device._metal_device(), source.encode(), True
            )
        finally:
            errors = native.take_errors()
        if pointer == native.ffi.NULL:
            raise CompileError(errors or "the Metal source does not compile")
        return cls._make(device, pointer, owned=True)

    @classmethod
    def _make(cls, device: "Device", pointer: Any, owned: bool) -> "Library":
        library = cls()
        library._owned = owned
        library._records = {}
        library._own(device._native, pointer, device)
        return library

    def _release(self, pointer: Any) -> None:
        if self._owned:
            self._native.gmpy_forget_pipelines(pointer)
            self._native.ggml_metal_library_free(pointer)

    def get_pipeline(self, name: str) -> Pipeline:
        """The pipeline that was compiled as `name`, without the parameters that a getter would add.

        Raises KernelNotFound when none was.
        """
        with pinned([self]), self._serialised():
            found = self._native.ggml_metal_library_get_pipeline(self._use(), name.encode())
            if self._pointer_of(found) == self._native.ffi.NULL:
                raise KernelNotFound(name, "no pipeline was compiled under this name yet")
            return self._pipeline(found)

    def compile_pipeline(
        self, base: str, name: str | None = None, constants: ConstantValues | None = None
    ) -> Pipeline:
        """Compile kernel `base`, specialised by `constants`, and cache it as `name` (default: `base`).

        A pipeline that is cached under that name is returned as it is, whatever the constants: a name must
        stand for one specialisation. Raises KernelNotFound when the library has no such kernel.
        """
        name = base if name is None else name
        for text in (base, name):
            if not text or "\0" in text:
                raise ValueError(f"a kernel or pipeline has a name without NUL characters, not {text!r}")
        native = self._native
        values = [
            (index, getattr(native, _TYPES[kind]), value)
            for index, kind, value in constants or ConstantValues()
        ]
        with pinned([self]), self._serialised():
            pointer = native.gmpy_compile_pipeline(
                self._use(),
                base.encode(),
                name.encode(),
                native.ffi.new("struct gmpy_constant[]", values),
                len(values),
            )
            return self._pipeline(self._native.with_parameters(pointer))

    # ---- for the mirrors of the getters

    def _call(self, getter: str, *arguments: Any) -> Pipeline:
        native = self._native
        self._require(getter)
        contexts = [a.context._reachable() for a in arguments if isinstance(a, Tensor)]
        with pinned({self, *itertools.chain(*contexts)}), self._serialised():
            plain = [a._use() if isinstance(a, Tensor) else a for a in arguments]
            return self._pipeline(getattr(native, PREFIX + getter)(self._use(), *plain))

    def _serialised(self) -> AbstractContextManager[Any]:
        """Rows that return a bare pipeline keep its parameters on it, and have no lock."""
        return nullcontext() if self._native.pipelines_are_values else self._native.getting

    # ---- from C to Python

    def _from_encoder(self, noted: Any) -> Pipeline:
        """The Pipeline that an encoder was given, from its bytes."""
        kind = "struct ggml_metal_pipeline_with_params *"
        if not self._native.pipelines_are_values:
            kind = "ggml_metal_pipeline_t *"
        return self._pipeline(self._native.copy_of(kind, noted))

    def _pointer_of(self, found: Any) -> Any:
        return found.pipeline if self._native.pipelines_are_values else found

    def _pipeline(self, found: Any) -> Pipeline:
        """A Pipeline from what the row's getters return."""
        native = self._native
        name, base, max_threads, constants = self._record(found)
        if native.pipelines_are_values:
            nsg, nr0, nr1, smem = found.nsg, found.nr0, found.nr1, found.smem
            c4, cnt = getattr(found, "c4", None), getattr(found, "cnt", None)
        else:
            nsg, nr0, nr1, smem = (
                getattr(native, f"ggml_metal_pipeline_get_{field}")(found)
                for field in ("nsg", "nr0", "nr1", "smem")
            )
            c4 = cnt = None
        return Pipeline(name, base, nsg, nr0, nr1, smem, c4, cnt, max_threads, constants, found, self)

    def _record(self, found: Any) -> tuple[str, str, int, tuple[FunctionConstant, ...]]:
        """Name, base, thread limit and constants of a compiled pipeline, which never change."""
        native = self._native
        pointer = self._pointer_of(found)
        key = int(native.ffi.cast("uintptr_t", pointer))
        known = self._records.get(key)
        if known is None:
            record = native.gmpy_find_pipeline(self._use(), pointer)
            if record == native.ffi.NULL:
                raise GgmlMetalError("the pipeline was compiled by somebody else, nothing is known of it")
            kinds = {getattr(native, c_name): kind for kind, c_name in _TYPES.items()}
            constants = [
                FunctionConstant(c.index, kinds[c.type], c.value, native.function_constant_name(c.index))
                for c in (record.constants[i] for i in range(record.n_constants))
            ]
            known = self._records[key] = (
                native.text(record.name),
                native.text(record.base),
                int(native.ggml_metal_pipeline_max_theads_per_threadgroup(found)),
                tuple(sorted(constants, key=lambda constant: constant.index)),
            )
        return known
