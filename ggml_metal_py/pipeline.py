"""Pipelines: a compiled kernel, its function constants and its parameters (upstream: ggml-metal-device.h)."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .library import Library

_RANGES = {"int16": (-(2**15), 2**15 - 1), "int32": (-(2**31), 2**31 - 1), "bool": (0, 1)}


@dataclass(frozen=True)
class FunctionConstant:
    """One value that a kernel was specialised with."""

    index: int
    """As in `[[function_constant(index)]]`."""
    type: str
    """`int16`, `int32` or `bool`."""
    value: int
    name: str | None = None
    """As upstream's kernels call it, `FC_mul_mm_bc_inp`; None when nothing declares it."""


class ConstantValues:
    """Function constants for `compile_pipeline`: index -> value (upstream: ggml_metal_cv_*).

    >>> ConstantValues().set_int16(600, 4).set_bool(601, True)
    """

    def __init__(self) -> None:
        self._values: dict[int, tuple[str, int]] = {}

    def set_int16(self, index: int, value: int) -> "ConstantValues":
        """Set constant `index`, a `short` in Metal."""
        return self._set("int16", index, value)

    def set_int32(self, index: int, value: int) -> "ConstantValues":
        """Set constant `index`, an `int` in Metal."""
        return self._set("int32", index, value)

    def set_bool(self, index: int, value: bool) -> "ConstantValues":
        """Set constant `index`, a `bool` in Metal."""
        return self._set("bool", index, int(value))

    def _set(self, kind: str, index: int, value: int) -> "ConstantValues":
        low, high = _RANGES[kind]
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
    base: str
    """The kernel's host name."""
    nsg: int
    """Simdgroups in a threadgroup."""
    nr0: int
    """Rows of src0 that a simdgroup works on."""
    nr1: int
    """Rows of src1."""
    smem: int
    """Threadgroup memory, in bytes."""
    c4: bool | None
    """Whether the kernel works on four values at once."""
    cnt: bool | None
    """Whether it takes the tensor as one contiguous row."""
    max_threads_per_threadgroup: int
    constants: tuple[FunctionConstant, ...] = ()
    """What the kernel was specialised with, by index."""
    _struct: Any = field(default=None, repr=False, compare=False)
    _library: "Library | None" = field(default=None, repr=False, compare=False)

    def as_json(self) -> dict[str, Any]:
        """As plain values, by the names of the fields."""
        public = [field.name for field in fields(self) if not field.name.startswith("_")]
        values = {name: getattr(self, name) for name in public}
        return {**values, "constants": [asdict(constant) for constant in self.constants]}
