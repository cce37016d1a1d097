"""Reads a Whisper model in Hugging Face's layout: config.json, *.safetensors and a vocabulary.

The safetensors format: eight bytes with the length of a JSON header, the header (dtype, shape and byte
range of each tensor), then the tensors.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checkpoint import Checkpoint
from .modelfile import ModelError

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"  # names the files of a model that was split

_DTYPES = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "BF16": "<u2"}

# Hugging Face's module names (transformers, modeling_whisper.py) and whisper.cpp's, without their parameter
_WHOLE = {
    "encoder.embed_positions.weight": "encoder.positional_embedding",
    "decoder.embed_positions.weight": "decoder.positional_embedding",
    "decoder.embed_tokens.weight": "decoder.token_embedding.weight",
}
_MODULES = {
    "encoder.conv1": "encoder.conv1",
    "encoder.conv2": "encoder.conv2",
    "encoder.layer_norm": "encoder.ln_post",
    "decoder.layer_norm": "decoder.ln",
}
_IN_LAYER = {
    "self_attn.q_proj": "attn.query",
    "self_attn.k_proj": "attn.key",
    "self_attn.v_proj": "attn.value",
    "self_attn.out_proj": "attn.out",
    "self_attn_layer_norm": "attn_ln",
    "encoder_attn.q_proj": "cross_attn.query",
    "encoder_attn.k_proj": "cross_attn.key",
    "encoder_attn.v_proj": "cross_attn.value",
    "encoder_attn.out_proj": "cross_attn.out",
    "encoder_attn_layer_norm": "cross_attn_ln",
    "fc1": "mlp.0",
    "fc2": "mlp.2",
    "final_layer_norm": "mlp_ln",
}
_LAYER = re.compile(r"(encoder|decoder)\.layers\.(\d+)\.(.+)")
_TIED = "proj_out.weight"  # the same matrix as the token embedding


def is_layout(folder: Path) -> bool:
    return (folder / WEIGHTS).is_file() or (folder / INDEX).is_file()


def load(folder: Path) -> Checkpoint:
    """The model under whisper.cpp's names. Raises: ModelError naming the tensor or setting that is odd."""
    config = _read_json(folder / "config.json")
    try:
        heads = int(config["encoder_attention_heads"]), int(config["decoder_attention_heads"])
    except (KeyError, TypeError) as error:
        raise ModelError(f"{folder / 'config.json'}: no {error}: not a Whisper model") from None
    tensors = {}
    for path in _weight_files(folder):
        for name, array in _read_tensors(path).items():
            if name != _TIED:
                tensors[whisper_name(name)] = array
    return Checkpoint(tensors, *heads)


def whisper_name(name: str) -> str:
    """whisper.cpp's name of a Hugging Face parameter. Raises: ModelError when Whisper has no such one."""
    name = name.removeprefix("model.")
    if name in _WHOLE:
        return _WHOLE[name]
    module, _, parameter = name.rpartition(".")
    if module in _MODULES:
        return f"{_MODULES[module]}.{parameter}"
    if (layer := _LAYER.fullmatch(module)) and layer[3] in _IN_LAYER:
        return f"{layer[1]}.blocks.{layer[2]}.{_IN_LAYER[layer[3]]}.{parameter}"
    raise ModelError(f"Whisper has no parameter {name}")


def _weight_files(folder: Path) -> list[Path]:
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    return [folder / name for name in sorted(set(_read_json(folder / INDEX)["weight_map"].values()))]


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(f"{path}: not JSON ({error})") from error
    except FileNotFoundError:
        raise ModelError(f"{path}: missing, expected beside the weights") from None
    return content if isinstance(content, dict) else {}


def _read_tensors(path: Path) -> dict[str, NDArray[np.generic]]:
    try:
        content = np.memmap(path, np.uint8, "r")
        start = 8 + int.from_bytes(content[:8].tobytes(), "little")
        header = json.loads(content[8:start].tobytes())
        return {
            name: _tensor(content[start:], name, entry)
            for name, entry in header.items()
            if name != "__metadata__"
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path}: not a whole safetensors file ({error})") from error


def _tensor(data: NDArray[np.uint8], name: str, entry: dict[str, Any]) -> NDArray[np.generic]:
    if entry["dtype"] not in _DTYPES:
        raise ModelError(f"{name} is stored as {entry['dtype']}, expected one of {', '.join(_DTYPES)}")
    begin, end = entry["data_offsets"]
    array: NDArray[Any] = data[begin:end].view(_DTYPES[entry["dtype"]]).reshape(entry["shape"])
    if entry["dtype"] == "BF16":  # the upper half of a float32
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array
