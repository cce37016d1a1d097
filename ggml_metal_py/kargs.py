"""The argument structs of upstream's kernels as bytes (upstream: ggml-metal-impl.h, ggml_metal_kargs_*)."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._native import Native

PREFIX = "ggml_metal_kargs_"


def pack(native: Native, name: str, values: dict[str, Any]) -> bytes:
    """The bytes of `ggml_metal_kargs_NAME`; fields that are not given are zero.

    Raises ValueError, naming the known ones, for a struct or field that the row does not have, and for a
    value that does not fit; TypeError.
    """
    known = [typedef for typedef in native.ffi.list_types()[0] if typedef.startswith(PREFIX)]
    if PREFIX + name not in known:
        structs = ", ".join(typedef.removeprefix(PREFIX) for typedef in sorted(known))
        raise ValueError(f"upstream {native.row} has no {PREFIX}{name}; there are: {structs}")
    fields = dict(native.ffi.typeof(PREFIX + name).fields)
    unknown = [field for field in values if field not in fields]
    if unknown:
        raise ValueError(f"{PREFIX}{name} has no field {unknown[0]}; there are: {', '.join(fields)}")
    plain = {field: _plain(field, fields[field].type, value) for field, value in values.items()}
    try:
        packed = native.ffi.new(f"{PREFIX}{name} *", plain)
    except OverflowError as error:
        raise ValueError(f"{PREFIX}{name}: {error}") from None
    return bytes(native.ffi.buffer(packed))


def _plain(field: str, ctype: Any, value: Any) -> Any:
    """The value as Python's own numbers: cffi would cut the fraction off a float of numpy's."""
    if ctype.kind == "array":
        if not isinstance(value, Sequence | np.ndarray) or len(value) > ctype.length:
            raise ValueError(f"{field} takes a sequence of at most {ctype.length} numbers, not {value!r}")
        return [_plain(field, ctype.item, item) for item in value]
    try:
        return float(value) if ctype.cname in ("float", "double") else operator.index(value)
    except (TypeError, ValueError):
        raise TypeError(f"{field} takes a value of type {ctype.cname}, not {value!r}") from None
