"""The argument structs of upstream's kernels as bytes (upstream: ggml-metal-impl.h, ggml_metal_kargs_*)."""

import operator
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ._native import Native

PREFIX = "ggml_metal_kargs_"


def pack(native: Native, name: str, values: dict[str, Any]) -> bytes:
    """The bytes of `ggml_metal_kargs_NAME`; fields that are not given are zero.

    Raises ValueError, naming the known ones, for a struct or field that the row does not have, and for a
    value that does not fit; TypeError.
    """
    known = _structs(native)
    if name not in known:
        raise ValueError(f"upstream {native.row} has no {PREFIX}{name}; there are: {', '.join(known)}")
    fields = known[name]
    unknown = [field for field in values if field not in fields]
    if unknown:
        raise ValueError(f"{PREFIX}{name} has no field {unknown[0]}; there are: {', '.join(fields)}")
    plain = {field: _plain(field, fields[field].type, value) for field, value in values.items()}
    try:
        packed = native.ffi.new(f"{PREFIX}{name} *", plain)
    except OverflowError as error:
        raise ValueError(f"{PREFIX}{name}: {error}") from None
    return bytes(native.ffi.buffer(packed))


@cache
def _structs(native: Native) -> dict[str, dict[str, Any]]:
    """The row's structs without their prefix, each with its fields by name."""
    typedefs = sorted(name for name in native.ffi.list_types()[0] if name.startswith(PREFIX))
    return {name.removeprefix(PREFIX): dict(native.ffi.typeof(name).fields) for name in typedefs}


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
