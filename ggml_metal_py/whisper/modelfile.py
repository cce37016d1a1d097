"""whisper.cpp's model file: reading, writing and checking it.

The layout is the one `whisper_model_load` in whisper.cpp reads: magic, hyper-parameters, mel filters,
vocabulary, then tensors until the end of the file. Knows bytes and shapes only; no ggml is loaded.
"""

from __future__ import annotations

import os
import struct
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

MAGIC = 0x67676D6C
QUANTIZATION_VERSION = 2  # GGML_QNT_VERSION; the file stores version * 1000 + ftype
QUANTIZATION_FACTOR = 1000

F32, F16 = 0, 1

# ggml type id -> (elements in a block, bytes of a block): what whisper.cpp models are made of
BLOCKS = {
    F32: (1, 4),
    F16: (1, 2),
    2: (32, 18),  # q4_0
    3: (32, 20),  # q4_1
    6: (32, 22),  # q5_0
    7: (32, 24),  # q5_1
    8: (32, 34),  # q8_0
    10: (256, 84),  # q2_K
    11: (256, 110),  # q3_K
    12: (256, 144),  # q4_K
    13: (256, 176),  # q5_K
    14: (256, 210),  # q6_K
}

# Kept as f32 by every converter and quantiser of whisper.cpp, beside all one-dimensional tensors.
ALWAYS_F32 = frozenset(
    {
        "encoder.conv1.bias",
        "encoder.conv2.bias",
        "encoder.positional_embedding",
        "decoder.positional_embedding",
    }
)


class ModelError(ValueError):
    """A model file or folder is not what Whisper needs; the message says what was expected."""


@dataclass(frozen=True)
class Hparams:
    """The eleven integers after the magic, in file order."""

    n_vocab: int
    n_audio_ctx: int
    n_audio_state: int
    n_audio_head: int
    n_audio_layer: int
    n_text_ctx: int
    n_text_state: int
    n_text_head: int
    n_text_layer: int
    n_mels: int
    ftype: int


class TensorData(NamedTuple):
    """One tensor as the file stores it; `shape` is numpy's (ne reversed), `data` the raw bytes."""

    name: str
    type: int
    shape: tuple[int, ...]
    data: bytes | memoryview


@dataclass(frozen=True)
class ModelFile:
    """A whole model. `mel_filters` is (n_mels, n_fft) f32; the tensors' bytes stay on disk (memory map)."""

    hparams: Hparams
    mel_filters: NDArray[np.float32]
    tokens: Sequence[bytes]
    tensors: Mapping[str, TensorData]


def tensor_shapes(hparams: Hparams) -> dict[str, tuple[int, ...]]:
    """Name and numpy shape of every tensor that a model with these hyper-parameters has."""
    state, mels = hparams.n_audio_state, hparams.n_mels
    shapes: dict[str, tuple[int, ...]] = {
        "encoder.positional_embedding": (hparams.n_audio_ctx, state),
        "encoder.conv1.weight": (state, mels, 3),
        "encoder.conv1.bias": (state, 1),
        "encoder.conv2.weight": (state, state, 3),
        "encoder.conv2.bias": (state, 1),
        "encoder.ln_post.weight": (state,),
        "encoder.ln_post.bias": (state,),
        "decoder.positional_embedding": (hparams.n_text_ctx, hparams.n_text_state),
        "decoder.token_embedding.weight": (hparams.n_vocab, hparams.n_text_state),
        "decoder.ln.weight": (hparams.n_text_state,),
        "decoder.ln.bias": (hparams.n_text_state,),
    }
    for i in range(hparams.n_audio_layer):
        shapes |= _block_shapes(f"encoder.blocks.{i}", hparams.n_audio_state, ("attn",))
    for i in range(hparams.n_text_layer):
        shapes |= _block_shapes(f"decoder.blocks.{i}", hparams.n_text_state, ("attn", "cross_attn"))
    return shapes


def _block_shapes(block: str, state: int, attentions: Sequence[str]) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for attention in attentions:
        for part in ("query", "key", "value", "out"):
            shapes[f"{block}.{attention}.{part}.weight"] = (state, state)
            if part != "key":  # Whisper's keys have no bias
                shapes[f"{block}.{attention}.{part}.bias"] = (state,)
    for norm in [*(f"{attention}_ln" for attention in attentions), "mlp_ln"]:
        shapes[f"{block}.{norm}.weight"] = shapes[f"{block}.{norm}.bias"] = (state,)
    shapes[f"{block}.mlp.0.weight"] = (4 * state, state)
    shapes[f"{block}.mlp.0.bias"] = (4 * state,)
    shapes[f"{block}.mlp.2.weight"] = (state, 4 * state)
    shapes[f"{block}.mlp.2.bias"] = (state,)
    return shapes


def read(path: str | os.PathLike[str]) -> ModelFile:
    """Open and check a model: every expected tensor is there, with its shape, and nothing is cut off.

    whisper.cpp gives its caller a NULL context for a bad file, which hosts then use; so check first.

    Raises: ModelError (a ValueError) that names the file and what is wrong; OSError.
    """
    path = Path(path)
    if path.stat().st_size < 4:
        raise ModelError(f"{path}: not a whisper.cpp model (too short)")
    content = np.memmap(path, dtype=np.uint8, mode="r").data
    try:
        return _parse(_Cursor(content))
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


class _Cursor:
    """Reads forward through a memoryview and refuses to go past its end."""

    def __init__(self, content: memoryview) -> None:
        self.content = content
        self.offset = 0

    def at_end(self) -> bool:
        return self.offset == len(self.content)

    def take(self, n_bytes: int, what: str) -> memoryview:
        end = self.offset + n_bytes
        if n_bytes < 0 or end > len(self.content):
            raise ModelError(f"the file ends inside {what}: is the download complete?")
        part = self.content[self.offset : end]
        self.offset = end
        return part

    def ints(self, count: int, what: str) -> tuple[int, ...]:
        return struct.unpack(f"<{count}i", self.take(4 * count, what))


def _parse(cursor: _Cursor) -> ModelFile:
    (magic,) = cursor.ints(1, "the magic number")
    if magic != MAGIC:
        raise ModelError(
            f"not a whisper.cpp model (it starts with {magic & 0xFFFFFFFF:#010x}, expected {MAGIC:#010x})"
        )
    hparams = Hparams(*cursor.ints(len(fields(Hparams)), "the hyper-parameters"))
    if min(astuple(hparams)[:-1]) <= 0 or hparams.ftype < 0:
        raise ModelError(f"not a Whisper model: {hparams}")
    n_mels, n_fft = cursor.ints(2, "the mel filters")
    if n_mels != hparams.n_mels or n_fft <= 0:
        raise ModelError(f"mel filters of shape ({n_mels}, {n_fft}), expected {hparams.n_mels} bands")
    mel_filters = np.frombuffer(cursor.take(4 * n_mels * n_fft, "the mel filters"), "<f4")
    (n_tokens,) = cursor.ints(1, "the vocabulary")
    if not 0 < n_tokens <= hparams.n_vocab:
        raise ModelError(f"{n_tokens} tokens in the vocabulary, expected 1 to {hparams.n_vocab}")
    tokens = [
        bytes(cursor.take(cursor.ints(1, "the vocabulary")[0], "the vocabulary")) for _ in range(n_tokens)
    ]
    tensors: dict[str, TensorData] = {}
    while not cursor.at_end():
        tensor = _parse_tensor(cursor)
        tensors[tensor.name] = tensor
    _check_tensors(hparams, {name: tensor.shape for name, tensor in tensors.items()})
    return ModelFile(hparams, mel_filters.reshape(n_mels, n_fft), tokens, tensors)


def _parse_tensor(cursor: _Cursor) -> TensorData:
    n_dims, name_length, ggml_type = cursor.ints(3, "a tensor's header")
    if not 1 <= n_dims <= 4:
        raise ModelError(f"a tensor with {n_dims} dimensions, expected 1 to 4")
    shape = cursor.ints(n_dims, "a tensor's shape")[::-1]
    name = bytes(cursor.take(name_length, "a tensor's name")).decode("utf-8", "replace")
    if ggml_type not in BLOCKS:
        raise ModelError(f"tensor {name} has the unknown ggml type {ggml_type}")
    if min(shape) <= 0 or shape[-1] % BLOCKS[ggml_type][0]:
        raise ModelError(f"tensor {name} has the shape {shape}, not possible for ggml type {ggml_type}")
    return TensorData(name, ggml_type, shape, cursor.take(n_bytes(ggml_type, shape), f"tensor {name}"))


def n_bytes(ggml_type: int, shape: Sequence[int]) -> int:
    """Bytes of a contiguous tensor; `shape` is numpy's, its last axis a multiple of the block size."""
    elements = 1
    for extent in shape:
        elements *= int(extent)
    per_block, block_bytes = BLOCKS[ggml_type]
    return elements // per_block * block_bytes


def _check_tensors(hparams: Hparams, shapes: Mapping[str, tuple[int, ...]]) -> None:
    expected = tensor_shapes(hparams)
    if missing := sorted(expected.keys() - shapes.keys()):
        raise ModelError(f"{len(missing)} tensors are missing, the first is {missing[0]}")
    if unknown := sorted(shapes.keys() - expected.keys()):
        raise ModelError(f"Whisper has no tensor {unknown[0]} ({len(unknown)} such tensors)")
    for name, shape in shapes.items():
        if shape != expected[name]:
            raise ModelError(f"tensor {name} has the shape {shape}, expected {expected[name]}")


def write(
    path: str | os.PathLike[str],
    hparams: Hparams,
    mel_filters: NDArray[np.float32],
    tokens: Sequence[bytes],
    tensors: Iterable[TensorData],
) -> None:
    """Write a model file; it appears under `path` only when it is whole.

    Raises: ModelError when tensors are missing, unknown or of another shape than `hparams` asks for.
    """
    with _replaced(Path(path)) as file:
        file.write(struct.pack("<i", MAGIC))
        file.write(struct.pack(f"<{len(fields(Hparams))}i", *astuple(hparams)))
        file.write(struct.pack("<2i", *mel_filters.shape))
        file.write(np.ascontiguousarray(mel_filters, "<f4").tobytes())
        file.write(struct.pack("<i", len(tokens)))
        for token in tokens:
            file.write(struct.pack("<i", len(token)) + token)
        shapes = {}
        for tensor in tensors:
            name = tensor.name.encode()
            file.write(struct.pack("<3i", len(tensor.shape), len(name), tensor.type))
            file.write(struct.pack(f"<{len(tensor.shape)}i", *reversed(tensor.shape)))
            file.write(name)
            file.write(tensor.data)
            shapes[tensor.name] = tensor.shape
        _check_tensors(hparams, shapes)


@contextmanager
def _replaced(path: Path) -> Iterator[IO[bytes]]:
    """A file beside `path` that takes its place when the block ends well and goes away when it does not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "wb", buffering=1 << 20) as file:
            yield file
        os.chmod(aside, 0o644)  # mkstemp's files are private; a model is not
        os.replace(aside, path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
