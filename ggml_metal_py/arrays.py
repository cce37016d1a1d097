"""One call from numpy arrays to a numpy array, for trying things out."""

import threading

import numpy as np
import numpy.typing as npt

from . import ops
from .backend import Backend
from .device import Device, open
from .tensor import Type

_device: Device | None = None
_opening = threading.Lock()


def mul_mat(a: npt.ArrayLike, b: npt.ArrayLike, type: Type | str = Type.F32) -> npt.NDArray[np.float32]:
    """b @ a.T, computed by the default device: a is (m, k), b is (n, k) or (k,), the result (n, m) or (m,).

    `a` is stored as `type` first, such as "q4_0" or "f16"; b stays f32. Leading axes are repeated as in
    `ops.mul_mat`. Raises ValueError when the shapes do not fit, UnsupportedOp.
    """
    left, right = np.asarray(a), np.asarray(b)
    if left.ndim < 2 or right.ndim < 1:
        raise ValueError(f"mul_mat: a is (m, k) and b is (n, k) or (k,), not {left.shape} and {right.shape}")
    device = _default_device()
    with device.context(tensors=8) as context, Backend(device) as backend:
        stored = context.from_numpy(left, type, "a")
        result = ops.mul_mat(stored, context.from_numpy(np.atleast_2d(right), Type.F32, "b"))
        with backend.alloc(context):
            backend.compute(result)
            values: npt.NDArray[np.float32] = result.numpy()
    return values.reshape(*right.shape[:-1], left.shape[-2])


def _default_device() -> Device:
    global _device
    with _opening:
        if _device is None or _device.closed:
            _device = open()
        return _device
