"""Makes a whisper.cpp model file from a CTranslate2 or a Hugging Face model folder."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import ctranslate2, mel, modelfile, safetensors, vocabulary
from .modelfile import ALWAYS_F32, F16, F32, ModelError, TensorData


def convert(folder: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Write the model in `folder` to `target` as f16, as whisper.cpp's own converter does.

    Matrices and convolution kernels become f16; vectors, convolution biases and positions f32.

    Raises: ModelError (a ValueError) that says which layouts are known or what is wrong with this one.
    """
    folder = Path(folder)
    for layout in (ctranslate2, safetensors):
        if layout.is_layout(folder):
            checkpoint = layout.load(folder)
            break
    else:
        raise ModelError(
            f"{folder}: no model found, expected {ctranslate2.WEIGHTS} (CTranslate2) "
            f"or {safetensors.WEIGHTS} (Hugging Face)"
        )
    try:
        hparams = checkpoint.hparams()
    except (KeyError, ValueError, IndexError) as error:
        raise ModelError(f"{folder}: not a whole Whisper model ({error})") from error
    modelfile.write(
        target,
        hparams,
        mel.filters(hparams.n_mels),
        vocabulary.load(folder),
        (_stored(name, array) for name, array in checkpoint.tensors.items()),
    )


def _stored(name: str, array: NDArray[np.generic]) -> TensorData:
    if name.endswith(("conv1.bias", "conv2.bias")):
        array = array.reshape(-1, 1)  # whisper.cpp adds it to a matrix
    keep_f32 = array.ndim < 2 or name in ALWAYS_F32
    data = np.ascontiguousarray(array, "<f4" if keep_f32 else "<f2")
    return TensorData(name, F32 if keep_f32 else F16, data.shape, data.tobytes())
