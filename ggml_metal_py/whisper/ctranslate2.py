"""Reads a Whisper model in CTranslate2's layout (faster-whisper): model.bin beside a vocabulary.

The binary format is CTranslate2's "model specification" file, version 6 (ctranslate2/specs/model_spec.py).
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .checkpoint import Checkpoint, count_layers
from .modelfile import ModelError

VERSION = 6
WEIGHTS = "model.bin"

_DTYPES = {0: np.float32, 1: np.int8, 2: np.int16, 3: np.int32, 4: np.float16}

Weights = dict[str, NDArray[np.generic]]


def is_layout(folder: Path) -> bool:
    return (folder / WEIGHTS).is_file()


def load(folder: Path) -> Checkpoint:
    """The model under whisper.cpp's names. Raises: ModelError for another version, kind or quantisation."""
    weights = _read_specification(folder / WEIGHTS)
    try:
        return _to_checkpoint(weights)
    except KeyError as error:
        raise ModelError(f"{folder / WEIGHTS}: not a whole Whisper model, {error} is missing") from None


def _read_specification(path: Path) -> Weights:
    content = path.read_bytes()
    offset = 0

    def unpack(format: str) -> int:
        nonlocal offset
        (value,) = struct.unpack_from("<" + format, content, offset)
        offset += struct.calcsize("<" + format)
        return int(value)

    def take(n_bytes: int) -> bytes:
        nonlocal offset
        offset += n_bytes
        if offset > len(content):
            raise ModelError(f"{path}: the file ends early: is the download complete?")
        return content[offset - n_bytes : offset]

    def string() -> str:
        return take(unpack("H"))[:-1].decode()  # stored with its terminating zero

    try:
        version = unpack("I")
        if version != VERSION:
            raise ModelError(f"{path}: CTranslate2 file version {version}, expected {VERSION}")
        specification = string()
        if specification != "WhisperSpec":
            raise ModelError(f"{path}: a {specification} model, expected WhisperSpec")
        unpack("I")  # revision of the specification
        weights: Weights = {}
        for _ in range(unpack("I")):
            name = string()
            shape = [unpack("I") for _ in range(unpack("B"))]
            dtype = _DTYPES[unpack("B")]
            weights[name] = np.frombuffer(take(unpack("I")), dtype).reshape(shape)
        for _ in range(unpack("I")):
            alias = string()
            weights[alias] = weights[string()]
    except (struct.error, KeyError, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: not a CTranslate2 model ({error!r})") from error
    return weights


def _to_checkpoint(weights: Weights) -> Checkpoint:
    if quantised := [name for name in weights if name.endswith("/weight_scale")]:
        raise ModelError(f"{len(quantised)} weights are stored as int8 or int16, expected float16 or float32")
    tensors: Weights = {
        "encoder.positional_embedding": weights["encoder/position_encodings/encodings"],
        "decoder.positional_embedding": weights["decoder/position_encodings/encodings"],
        "decoder.token_embedding.weight": weights["decoder/embeddings/weight"],
    }

    def linear(target: str, source: str, part: slice = slice(None)) -> None:
        tensors[f"{target}.weight"] = weights[f"{source}/weight"][part]
        tensors[f"{target}.bias"] = weights[f"{source}/bias"][part]

    def norm(target: str, source: str) -> None:
        tensors[f"{target}.weight"] = weights[f"{source}/gamma"]
        tensors[f"{target}.bias"] = weights[f"{source}/beta"]

    def fused(target: str, source: str, parts: tuple[str, ...]) -> None:
        """Split a projection that CTranslate2 stacked. Keys have a bias there, of zeros; Whisper has none."""
        rows = weights[f"{source}/weight"].shape[0] // len(parts)
        for i, part in enumerate(parts):
            linear(f"{target}.{part}", source, slice(i * rows, (i + 1) * rows))
        if np.any(tensors.pop(f"{target}.key.bias")):
            raise ModelError(f"{source}/bias: the keys have a bias, which Whisper does not have")

    for conv in ("conv1", "conv2"):
        linear(f"encoder.{conv}", f"encoder/{conv}")
    norm("encoder.ln_post", "encoder/layer_norm")
    norm("decoder.ln", "decoder/layer_norm")
    for side in ("encoder", "decoder"):
        for i in range(count_layers(weights, f"{side}/layer_")):
            target, source = f"{side}.blocks.{i}", f"{side}/layer_{i}"
            fused(f"{target}.attn", f"{source}/self_attention/linear_0", ("query", "key", "value"))
            linear(f"{target}.attn.out", f"{source}/self_attention/linear_1")
            norm(f"{target}.attn_ln", f"{source}/self_attention/layer_norm")
            if side == "decoder":
                linear(f"{target}.cross_attn.query", f"{source}/attention/linear_0")
                fused(f"{target}.cross_attn", f"{source}/attention/linear_1", ("key", "value"))
                linear(f"{target}.cross_attn.out", f"{source}/attention/linear_2")
                norm(f"{target}.cross_attn_ln", f"{source}/attention/layer_norm")
            linear(f"{target}.mlp.0", f"{source}/ffn/linear_0")
            linear(f"{target}.mlp.2", f"{source}/ffn/linear_1")
            norm(f"{target}.mlp_ln", f"{source}/ffn/layer_norm")
    heads = {side: int(weights[f"{side}/num_heads"]) for side in ("encoder", "decoder")}
    return Checkpoint(tensors, heads["encoder"], heads["decoder"])
