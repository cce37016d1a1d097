"""Libraries of kernels and the pipelines made of them (upstream: ggml-metal-device.h, -device.m)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ._handle import Handle, pinned
from .errors import CompileError, KernelNotFound

if TYPE_CHECKING:
    from .device import Device

_SETTERS = {
    "int16": "ggml_metal_cv_set_int16",
    "int32": "ggml_metal_cv_set_int32",
    "bool": "ggml_metal_cv_set_bool",
}


class ConstantValues:
    """Function constants for `compile_pipeline`: index -> value (upstream: ggml_metal_cv_*).

    >>> ConstantValues().set_int16(600, 4).set_bool(601, True)
    """

    def __init__(self) -> None:
        self._values: dict[int, tuple[str, int]] = {}

    def set_int16(self, index: int, value: int) -> "ConstantValues":
        """Set constant `index`, a `short` in Metal."""
        return self._set("int16", index, value, -(2**15), 2**15 - 1)

    def set_int32(self, index: int, value: int) -> "ConstantValues":
        """Set constant `index`, an `int` in Metal."""
        return self._set("int32", index, value, -(2**31), 2**31 - 1)

    def set_bool(self, index: int, value: bool) -> "ConstantValues":
        """Set constant `index`, a `bool` in Metal."""
        return self._set("bool", index, int(value), 0, 1)

    def _set(self, kind: str, index: int, value: int, low: int, high: int) -> "ConstantValues":
        if not 0 <= index < 2**16:
            raise ValueError(f"a function constant's index is 0..65535, not {index}")
        if not low <= value <= high:
            raise ValueError(f"function constant {index} is an {kind}: {low}..{high}, not {value}")
        self._values[index] = (kind, value)
        return self

    def __iter__(self) -> Iterator[tuple[int, str, int]]:
        """(index, type, value), by index."""
        for index, (kind, value) in sorted(self._values.items()):
            yield index, kind, value


@dataclass(frozen=True)
class Pipeline:
    """A compiled kernel and the parameters that upstream dispatches it with.

    `c4` and `cnt` are None where the row's struct does not have them. After its library is closed it is
    only a description.
    """

    name: str
    """The name it is cached under: the kernel and its specialisation."""
    base: str | None
    """The kernel's host name; None when it was found by name only."""
    nsg: int
    """Simdgroups in a threadgroup."""
    nr0: int
    """Rows of src0 that a simdgroup works on."""
    nr1: int
    """Rows of src1."""
    smem: int
    """Threadgroup memory, in bytes."""
    c4: bool | None
    cnt: bool | None
    max_threads_per_threadgroup: int
    constants: tuple[tuple[int, str, int], ...] = ()
    """Function constants: (index, type, value)."""
    _struct: Any = field(default=None, repr=False, compare=False)
    _library: "Library | None" = field(default=None, repr=False, compare=False)


class Library(Handle):
    """Kernels of one Metal library, compiled to pipelines on request and cached by name."""

    _owned = False

    @classmethod
    def of_device(cls, device: "Device") -> "Library":
        """The device's own library. Closing it here leaves the device's intact."""
        pointer = device._native.ggml_metal_device_get_library(device._metal_device())
        return cls._make(device, pointer, owned=False)

    @classmethod
    def from_source(cls, device: "Device", source: str) -> "Library":
        """Compile Metal source text (upstream: ggml_metal_library_init_from_source).

        Raises CompileError with the compiler's messages; ValueError for an empty source or one with NUL.
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
        library._own(device._native, pointer, device)
        return library

    def _release(self, pointer: Any) -> None:
        if self._owned:
            self._native.ggml_metal_library_free(pointer)

    def get_pipeline(self, name: str) -> Pipeline:
        """The cached pipeline of that name. Raises KernelNotFound when none was compiled under it."""
        with pinned([self]):
            found = self._native.ggml_metal_library_get_pipeline(self._use(), name.encode())
        if found.pipeline == self._native.ffi.NULL:
            raise KernelNotFound(name, "no pipeline was compiled under this name yet")
        return self._pipeline(found, None, name)

    def compile_pipeline(
        self, base: str, name: str | None = None, constants: ConstantValues | None = None
    ) -> Pipeline:
        """Compile kernel `base`, specialised by `constants`, and cache it as `name` (default: `base`).

        A pipeline that is cached under that name is returned as it is, whatever the constants: a name must
        stand for one specialisation. Raises KernelNotFound when the library has no such kernel.
        """
        name = base if name is None else name
        native = self._native
        values = constants or ConstantValues()
        with pinned([self]):
            # NULL would mean "not specialised", which fails for kernels with function constants.
            cv = native.ggml_metal_cv_init()
            native.gmpy_collect_errors()
            try:
                for index, kind, value in values:
                    getattr(native, _SETTERS[kind])(cv, value, index)
                found = native.ggml_metal_library_compile_pipeline(
                    self._use(), base.encode(), name.encode(), cv
                )
            finally:
                errors = native.take_errors()
                native.ggml_metal_cv_free(cv)
        if found.pipeline == native.ffi.NULL:
            raise KernelNotFound(base, errors or "the library has no such kernel")
        return self._pipeline(found, base, name, tuple(values))

    def _pipeline(
        self, found: Any, base: str | None, name: str, constants: tuple[tuple[int, str, int], ...] = ()
    ) -> Pipeline:
        c4, cnt = getattr(found, "c4", None), getattr(found, "cnt", None)
        return Pipeline(
            name=name,
            base=base,
            nsg=int(found.nsg),
            nr0=int(found.nr0),
            nr1=int(found.nr1),
            smem=int(found.smem),
            c4=None if c4 is None else bool(c4),
            cnt=None if cnt is None else bool(cnt),
            max_threads_per_threadgroup=self._native.ggml_metal_pipeline_max_theads_per_threadgroup(found),
            constants=constants,
            _struct=found,
            _library=self,
        )
