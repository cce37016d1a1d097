"""The name of all that decides which code a source becomes: translator, executor, compiler, CPU baseline.

What is in the cache was made by one version, and is of no use to any other.
"""

import hashlib
from pathlib import Path

from ..toolchain import Toolchain

_SOFTMETAL = Path(__file__).resolve().parents[1]
_MAKERS = ("toolchain.py", "msl/**/*.py", "msl/include/**/*", "exec/**/*", "include/softmetal.h")


def version(toolchain: Toolchain) -> str:
    """16 hex digits."""
    digest = hashlib.sha256(toolchain.describe().encode())
    for path in sorted(path for pattern in _MAKERS for path in _SOFTMETAL.glob(pattern) if path.is_file()):
        digest.update(f"\0{path.relative_to(_SOFTMETAL)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
