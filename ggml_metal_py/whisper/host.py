"""The part of pywhispercpp that we use: its binding of whisper.cpp's functions, unchanged.

Its Model class ignores whisper_full()'s status and a model that did not load; so this goes one level below,
to the functions of its extension module, which mirror whisper.h.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import modelfile, stderr
from .audio import Samples
from .mel import N_FFT, SAMPLE_RATE
from .modelfile import ModelError

PACKAGE = "pywhispercpp==1.5.1"
WINDOW_SECONDS = 30  # what Whisper hears at once
SMALLEST_VOCABULARY = 51864  # of the English-only models

_TIMING = re.compile(r"(encode|decode|batchd) time = +([\d.]+) ms / +(\d+) runs")


class WhisperError(RuntimeError):
    """whisper.cpp could not load a model or failed while it ran."""


@dataclass(frozen=True)
class Timings:
    """Milliseconds of one encoder run and of one decoded token, by whisper.cpp's own clock."""

    encode_ms: float
    decode_ms_per_token: float


class Host:
    """One whisper.cpp context: not for two threads at once, closed explicitly or when collected."""

    def __init__(self, model: Path, *, use_gpu: bool, threads: int) -> None:
        """Load `model`. Raises: ModelError; WhisperError with whisper.cpp's own words."""
        _check(model)
        self._whisper = import_extension()
        parameters = self._whisper.whisper_context_default_params()
        parameters.use_gpu = use_gpu
        self._threads = threads
        self._context = None
        with stderr.captured() as log:
            context = self._whisper.whisper_init_from_file_with_params(str(model), parameters)
        # There is no other sign: NULL looks like any context. This line is the last of a good start.
        if "compute buffer (decode)" not in log():
            raise WhisperError(f"whisper.cpp could not load {model}: {_errors(log())}")
        self._context = context

    def full(self, samples: Samples) -> list[str]:
        """Transcribe; the text of each segment as whisper.cpp has it, with its leading space.

        Raises: WhisperError when a graph failed.
        """
        whisper = self._whisper
        parameters = whisper.whisper_full_default_params(
            whisper.whisper_sampling_strategy.WHISPER_SAMPLING_GREEDY
        )
        parameters.n_threads = self._threads
        parameters.print_progress = False
        if whisper.whisper_is_multilingual(self._context):
            parameters.language = "auto"
        # Timestamp tokens tell where the next window begins; when all fits into one they only cost tokens.
        parameters.no_timestamps = len(samples) <= WINDOW_SECONDS * SAMPLE_RATE
        whisper.whisper_reset_timings(self._context)
        status = whisper.whisper_full(self._context, parameters, samples, len(samples))
        if status != 0:
            raise WhisperError(f"whisper_full() failed with status {status}")
        return [
            whisper.whisper_full_get_segment_text(self._context, i).decode("utf-8", "replace")
            for i in range(whisper.whisper_full_n_segments(self._context))
        ]

    def timings(self) -> Timings:
        """Timings of the last full().

        Read from what whisper_print_timings() prints: the extension hands out no getter.
        """
        with stderr.captured() as log:
            self._whisper.whisper_print_timings(self._context)
        found = {part: (float(ms), int(runs)) for part, ms, runs in _TIMING.findall(log())}

        def per_run(*parts: str) -> float:
            # A part that did not run is printed as 0 ms in 1 run.
            return next((ms / runs for ms, runs in (found.get(part, (0.0, 1)) for part in parts) if ms), 0.0)

        # With several candidates at once tokens are decoded in batches, counted apart.
        return Timings(per_run("encode"), per_run("decode", "batchd"))

    def close(self) -> None:
        """Free the context; again does nothing."""
        context, self._context = self._context, None
        if context is not None:
            self._whisper.whisper_free(context)

    def __del__(self) -> None:
        if getattr(self, "_context", None) is not None:
            self.close()


def import_extension() -> Any:
    """pywhispercpp's extension module. Raises: WhisperError saying what to install."""
    try:
        import _pywhispercpp
    except ImportError as error:
        raise WhisperError(f"pywhispercpp is not installed: pip install {PACKAGE} ({error})") from error
    return _pywhispercpp


def _check(path: Path) -> None:
    """Refuse what whisper.cpp would not survive.

    It hands out NULL for a file that it cannot read, which the extension passes on; and it takes the ids of
    special tokens and the size of the Fourier transform as given.
    """
    model = modelfile.read(path)
    hparams = model.hparams
    if hparams.n_vocab < SMALLEST_VOCABULARY:
        raise ModelError(f"{path}: {hparams.n_vocab} tokens, Whisper has at least {SMALLEST_VOCABULARY}")
    if model.mel_filters.shape[1] != N_FFT // 2 + 1:
        raise ModelError(f"{path}: mel filters of {model.mel_filters.shape[1]} bins, not {N_FFT // 2 + 1}")
    if (
        hparams.n_audio_state != hparams.n_text_state
        or hparams.n_audio_state % hparams.n_audio_head
        or hparams.n_text_state % hparams.n_text_head
    ):
        raise ModelError(f"{path}: states that differ or that the heads do not divide: {hparams}")


def _errors(log: str) -> str:
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    telling = [line for line in lines if re.search("error|fail|invalid", line, re.IGNORECASE)]
    return "; ".join(telling or lines[-1:]) or "it said nothing"
