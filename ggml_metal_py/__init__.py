"""ggml's Metal backend for Python: on a Mac's GPU, or anywhere on softmetal. Public names, nothing else.

Importing this package loads neither numpy nor a native library: every name is fetched from its module
when it is first used. That also lets `python -m ggml_metal_py._build` run before anything is built.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import check, checked, fuzz, ops, select
    from .arrays import mul_mat
    from .backend import Backend, Buffer, Graph
    from .device import Device, DeviceProps, info, open
    from .encoder import Encoder
    from .enums import Op, OpPool
    from .errors import (
        BackendPoisoned,
        ClosedError,
        CompileError,
        ComputeError,
        ForkedError,
        GgmlAbort,
        GgmlMetalError,
        KernelNotFound,
        LibraryNotFound,
        NotInUpstream,
        UnsupportedOp,
    )
    from .library import Library
    from .log import set_log_callback
    from .pipeline import ConstantValues, FunctionConstant, Pipeline
    from .profile import Profile, profiles
    from .tensor import Context, Tensor, Type

_HOMES = {
    "Backend": "backend",
    "BackendPoisoned": "errors",
    "Buffer": "backend",
    "ClosedError": "errors",
    "CompileError": "errors",
    "ComputeError": "errors",
    "ConstantValues": "pipeline",
    "Context": "tensor",
    "Device": "device",
    "DeviceProps": "device",
    "Encoder": "encoder",
    "ForkedError": "errors",
    "FunctionConstant": "pipeline",
    "GgmlAbort": "errors",
    "GgmlMetalError": "errors",
    "Graph": "backend",
    "KernelNotFound": "errors",
    "Library": "library",
    "LibraryNotFound": "errors",
    "NotInUpstream": "errors",
    "Op": "enums",
    "OpPool": "enums",
    "Pipeline": "pipeline",
    "Profile": "profile",
    "Tensor": "tensor",
    "Type": "tensor",
    "UnsupportedOp": "errors",
    "info": "device",
    "mul_mat": "arrays",
    "open": "device",
    "profiles": "profile",
    "set_log_callback": "log",
}

__all__ = [
    "Backend",
    "BackendPoisoned",
    "Buffer",
    "ClosedError",
    "CompileError",
    "ComputeError",
    "ConstantValues",
    "Context",
    "Device",
    "DeviceProps",
    "Encoder",
    "ForkedError",
    "FunctionConstant",
    "GgmlAbort",
    "GgmlMetalError",
    "Graph",
    "KernelNotFound",
    "Library",
    "LibraryNotFound",
    "NotInUpstream",
    "Op",
    "OpPool",
    "Pipeline",
    "Profile",
    "Tensor",
    "Type",
    "UnsupportedOp",
    "check",
    "checked",
    "fuzz",
    "info",
    "mul_mat",
    "open",
    "ops",
    "profiles",
    "select",
    "set_log_callback",
]


def __getattr__(name: str) -> Any:
    if name in ("check", "checked", "fuzz", "ops", "select"):
        return importlib.import_module(f".{name}", __name__)
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
