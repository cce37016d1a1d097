"""A Whisper model in memory, under whisper.cpp's tensor names: what every reader makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .modelfile import F16, Hparams


@dataclass(frozen=True)
class Checkpoint:
    """Tensors by whisper.cpp name in numpy shapes, any float type, and what no shape tells."""

    tensors: Mapping[str, NDArray[np.generic]]
    n_audio_head: int
    n_text_head: int

    def hparams(self) -> Hparams:
        """The rest of the hyper-parameters, read off the shapes; stored as f16."""
        n_audio_ctx, n_audio_state = self.tensors["encoder.positional_embedding"].shape
        n_text_ctx, n_text_state = self.tensors["decoder.positional_embedding"].shape
        return Hparams(
            n_vocab=self.tensors["decoder.token_embedding.weight"].shape[0],
            n_audio_ctx=n_audio_ctx,
            n_audio_state=n_audio_state,
            n_audio_head=self.n_audio_head,
            n_audio_layer=count_layers(self.tensors, "encoder.blocks."),
            n_text_ctx=n_text_ctx,
            n_text_state=n_text_state,
            n_text_head=self.n_text_head,
            n_text_layer=count_layers(self.tensors, "decoder.blocks."),
            n_mels=self.tensors["encoder.conv1.weight"].shape[1],
            ftype=F16,
        )


def count_layers(names: Iterable[str], prefix: str) -> int:
    """Layers numbered after `prefix` in the names: the highest number plus one."""
    numbers = (
        name[len(prefix) :].replace("/", ".").split(".", 1)[0] for name in names if name.startswith(prefix)
    )
    return max((int(number) for number in numbers if number.isdigit()), default=-1) + 1
