"""Makes a smaller model file with ggml's own quantisers, in the layout of whisper.cpp's quantize tool."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .._native import Native, open_native
from ..tensor import Type, encode
from . import modelfile
from .modelfile import ALWAYS_F32, F16, F32, QUANTIZATION_FACTOR, QUANTIZATION_VERSION, ModelError, TensorData

# tensor type -> enum ggml_ftype, the number by which a model file says what most of it is
FTYPES = {Type.Q4_0: 2, Type.Q4_1: 3, Type.Q8_0: 7, Type.Q5_0: 8, Type.Q5_1: 9}


def quantize(
    source: str | os.PathLike[str], target: str | os.PathLike[str], kind: Type | str = Type.Q5_0
) -> None:
    """Write `source` (f16 or f32) to `target` with its matrices as `kind`, one of FTYPES.

    Convolutions, positions and vectors stay as they are.

    Raises: ModelError when `source` is quantised already; ValueError for another kind; LibraryNotFound.
    """
    kind = Type.of(kind)
    if kind not in FTYPES:
        raise ValueError(
            f"models are quantised to {', '.join(t.name.lower() for t in FTYPES)}, not {kind.name}"
        )
    model = modelfile.read(source)
    hparams = replace(model.hparams, ftype=QUANTIZATION_VERSION * QUANTIZATION_FACTOR + FTYPES[kind])
    native = open_native()

    def tensors() -> Iterator[TensorData]:
        for tensor in model.tensors.values():
            if len(tensor.shape) == 2 and tensor.name not in ALWAYS_F32:
                yield _quantized(native, tensor, kind)
            else:
                yield tensor

    modelfile.write(target, hparams, model.mel_filters, model.tokens, tensors())


def _quantized(native: Native, tensor: TensorData, kind: Type) -> TensorData:
    if tensor.type not in (F32, F16):
        raise ModelError(f"{tensor.name} is stored as ggml type {tensor.type}: quantise an f16 or f32 model")
    block = modelfile.BLOCKS[kind][0]
    if tensor.shape[-1] % block:
        raise ModelError(f"{tensor.name} has rows of {tensor.shape[-1]} values, {kind.name} needs {block}s")
    values = np.frombuffer(tensor.data, "<f4" if tensor.type == F32 else "<f2").reshape(tensor.shape)
    return tensor._replace(type=int(kind), data=encode(native, values, kind))
