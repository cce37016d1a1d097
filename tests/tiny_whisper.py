"""A Whisper model of a few kilobytes, written in the layouts that models come in."""

import json
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ggml_metal_py.whisper.modelfile import Hparams, tensor_shapes
from ggml_metal_py.whisper.vocabulary import END_OF_TEXT

HPARAMS = Hparams(
    n_vocab=12,
    n_audio_ctx=6,
    n_audio_state=8,
    n_audio_head=2,
    n_audio_layer=2,
    n_text_ctx=5,
    n_text_state=8,
    n_text_head=2,
    n_text_layer=1,
    n_mels=4,
    ftype=1,
)
SPELLED = ["a", "Ġb", "Ã¤", "!", "", END_OF_TEXT, "<|startoftranscript|>"]
TOKENS = [b"a", b" b", "ä".encode(), b"!", b""]

Weights = dict[str, np.ndarray]


def weights(seed: int = 0) -> Weights:
    """Random tensors under whisper.cpp's names, exact in half precision."""
    random = np.random.default_rng(seed)
    tensors = {
        name: random.integers(-64, 64, shape).astype(np.float32) / 16
        for name, shape in tensor_shapes(HPARAMS).items()
    }
    for name in ("encoder.conv1.bias", "encoder.conv2.bias"):  # only the model file makes columns of them
        tensors[name] = tensors[name].reshape(-1)
    return tensors


def write_hugging_face(folder: Path, tensors: Weights, dtype: str = "F32") -> None:
    """config.json, model.safetensors and vocab.json, with the names of transformers."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {"encoder_attention_heads": HPARAMS.n_audio_head, "decoder_attention_heads": HPARAMS.n_text_head}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(SPELLED)}))
    named = {_hugging_face_name(name): array for name, array in tensors.items()}
    named["proj_out.weight"] = tensors["decoder.token_embedding.weight"]
    write_safetensors(folder / "model.safetensors", named, dtype)


def write_safetensors(path: Path, tensors: Mapping[str, np.ndarray], dtype: str) -> None:
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, array in tensors.items():
        if dtype == "BF16":
            stored = (array.astype(np.float32).view(np.uint32) >> 16).astype("<u2").tobytes()
        else:
            stored = array.astype({"F32": "<f4", "F16": "<f2"}[dtype]).tobytes()
        offsets = [len(data), len(data) + len(stored)]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": offsets}
        data += stored
    encoded = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + data)


def _hugging_face_name(name: str) -> str:
    """Spelled out the other way round than the reader does it, so that one checks the other."""
    replacements = [
        (".blocks.", ".layers."),
        ("cross_attn_ln.", "encoder_attn_layer_norm."),
        ("cross_attn.", "encoder_attn."),
        (".attn_ln.", ".self_attn_layer_norm."),
        (".attn.", ".self_attn."),
        (".query.", ".q_proj."),
        (".key.", ".k_proj."),
        (".value.", ".v_proj."),
        ("attn.out.", "attn.out_proj."),
        (".mlp.0.", ".fc1."),
        (".mlp.2.", ".fc2."),
        (".mlp_ln.", ".final_layer_norm."),
        ("encoder.ln_post.", "encoder.layer_norm."),
        ("decoder.ln.", "decoder.layer_norm."),
        (".positional_embedding", ".embed_positions.weight"),
        (".token_embedding.", ".embed_tokens."),
    ]
    for ours, theirs in replacements:
        name = name.replace(ours, theirs)
    return f"model.{name}"


def write_ctranslate2(folder: Path, tensors: Weights, version: int = 6, spec: str = "WhisperSpec") -> None:
    """model.bin and vocabulary.txt, with fused projections and zero biases for the keys."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocabulary.txt").write_text("\n".join(SPELLED) + "\n", encoding="utf-8")
    entries = _ctranslate2_entries(tensors)
    out = struct.pack("<I", version) + _ctranslate2_string(spec) + struct.pack("<2I", 3, len(entries))
    for name, array in entries.items():
        kind = {"float32": 0, "int8": 1, "int16": 2, "float16": 4}[array.dtype.name]
        out += _ctranslate2_string(name) + struct.pack("<B", array.ndim)
        out += struct.pack(f"<{array.ndim}I", *array.shape) + struct.pack("<BI", kind, array.nbytes)
        out += array.tobytes()
    out += struct.pack("<I", 1)
    out += _ctranslate2_string("decoder/projection/weight") + _ctranslate2_string("decoder/embeddings/weight")
    (folder / "model.bin").write_bytes(out)


def _ctranslate2_string(text: str) -> bytes:
    return struct.pack("<H", len(text) + 1) + text.encode() + b"\0"


def _ctranslate2_entries(tensors: Weights) -> Weights:
    entries: Weights = {}

    def both(target: str, source: str, names: tuple[str, str] = ("weight", "bias")) -> None:
        entries[f"{target}/{names[0]}"] = tensors[f"{source}.weight"].astype(np.float16)
        entries[f"{target}/{names[1]}"] = tensors[f"{source}.bias"].astype(np.float16)

    def stacked(target: str, source: str, parts: tuple[str, ...]) -> None:
        rows = [tensors[f"{source}.{part}.weight"] for part in parts]
        zeros = np.zeros(HPARAMS.n_audio_state, np.float32)
        biases = [tensors.get(f"{source}.{part}.bias", zeros) for part in parts]
        entries[f"{target}/weight"] = np.concatenate(rows).astype(np.float16)
        entries[f"{target}/bias"] = np.concatenate(biases).astype(np.float16)

    def norm(target: str, source: str) -> None:
        both(target, source, ("gamma", "beta"))

    for side, layers in (("encoder", HPARAMS.n_audio_layer), ("decoder", HPARAMS.n_text_layer)):
        entries[f"{side}/num_heads"] = np.array(2, np.int8)
        entries[f"{side}/position_encodings/encodings"] = tensors[f"{side}.positional_embedding"]
        for i in range(layers):
            ours, theirs = f"{side}.blocks.{i}", f"{side}/layer_{i}"
            stacked(f"{theirs}/self_attention/linear_0", f"{ours}.attn", ("query", "key", "value"))
            both(f"{theirs}/self_attention/linear_1", f"{ours}.attn.out")
            norm(f"{theirs}/self_attention/layer_norm", f"{ours}.attn_ln")
            if side == "decoder":
                both(f"{theirs}/attention/linear_0", f"{ours}.cross_attn.query")
                stacked(f"{theirs}/attention/linear_1", f"{ours}.cross_attn", ("key", "value"))
                both(f"{theirs}/attention/linear_2", f"{ours}.cross_attn.out")
                norm(f"{theirs}/attention/layer_norm", f"{ours}.cross_attn_ln")
            both(f"{theirs}/ffn/linear_0", f"{ours}.mlp.0")
            both(f"{theirs}/ffn/linear_1", f"{ours}.mlp.2")
            norm(f"{theirs}/ffn/layer_norm", f"{ours}.mlp_ln")
    both("encoder/conv1", "encoder.conv1")
    both("encoder/conv2", "encoder.conv2")
    norm("encoder/layer_norm", "encoder.ln_post")
    norm("decoder/layer_norm", "decoder.ln")
    entries["decoder/embeddings/weight"] = tensors["decoder.token_embedding.weight"].astype(np.float16)
    return entries
