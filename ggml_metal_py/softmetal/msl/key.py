"""The name of a source plus its macros: the folder of its kernel library. device/ computes the same in C."""

import hashlib
from collections.abc import Mapping

PREFIX = b"softmetal-1\0"


def source_key(source: bytes, macros: Mapping[str, str]) -> str:
    """64 hex digits: sha256 of the prefix, each macro by name as `NAME=VALUE` NUL, NUL, and the source."""
    digest = hashlib.sha256(PREFIX)
    for name in sorted(macros):
        digest.update(f"{name}={macros[name]}".encode() + b"\0")
    digest.update(b"\0")
    digest.update(source)
    return digest.hexdigest()
