"""Speech to text with Whisper, on this project's backend or on ggml's CPU backend."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import ArrayLike

from .. import cpus
from ..dropin import Attachment, attach, counters
from . import audio, models
from .host import Host, WhisperError, import_extension
from .mel import SAMPLE_RATE

# whisper.cpp returns no text for less; for less than 201 samples it also reads past their end.
MIN_SAMPLES = SAMPLE_RATE // 10


@dataclass(frozen=True)
class Transcription:
    """The text of one recording and how it came to be.

    Counts are of this process: another thread that computes at the same time is counted too.
    """

    text: str
    ran: counters.Counters
    encode_ms: float
    decode_ms_per_token: float
    total_ms: float
    threads: int

    def as_json(self) -> dict[str, Any]:
        """What `ggml-metal-py transcribe --json` prints of it."""
        return {
            "text": self.text,
            "graphs": self.ran.device_graphs,
            "nodes": {"device": self.ran.device_nodes, "cpu": self.ran.cpu_nodes},
            "pipelines": len(self.ran.dispatches),
            "encode_ms": round(self.encode_ms, 2),
            "decode_ms_per_token": round(self.decode_ms_per_token, 2),
            "total_ms": round(self.total_ms, 2),
            "threads": self.threads,
        }


class Transcriber:
    """A loaded Whisper model. Threads may share one: their calls are done one after the other."""

    def __init__(
        self,
        model: str | os.PathLike[str] = models.DEFAULT,
        *,
        device: Literal["metal", "cpu"] = "metal",
        threads: int | None = None,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        """Load a model by name or path; for "metal", put the backend into pywhispercpp first.

        `threads` are those of the device and of the CPU backend; default: all usable.

        Raises: ModelError; FetchError; WhisperError; what dropin.attach() raises.
        """
        if threads is not None and threads < 1:
            raise ValueError(f"{threads} threads, expected at least 1")
        self.threads = threads or cpus.usable()
        path = models.find(os.fspath(model), say)
        import_extension()
        self._attachments: list[Attachment] = []
        if device == "metal":
            self._attachments = attach()
            for attachment in self._attachments:
                attachment.set_device_threads(self.threads)
        self._host = Host(path, use_gpu=device == "metal", threads=self.threads)
        self._lock = threading.Lock()
        self._closed = False

    def transcribe(
        self, sound: str | os.PathLike[str] | ArrayLike, sample_rate: int = SAMPLE_RATE
    ) -> Transcription:
        """The text of a sound file, or of an array (see audio.from_array); empty below a tenth of a second.

        Raises: AudioError (a ValueError); WhisperError; ValueError after close().
        """
        is_path = isinstance(sound, (str, os.PathLike))
        samples = audio.load(sound) if is_path else audio.from_array(sound, sample_rate)  # type: ignore[arg-type]
        with self._lock:
            if self._closed:
                raise ValueError("the transcriber is closed")
            if len(samples) < MIN_SAMPLES:
                return Transcription("", counters.Counters(), 0.0, 0.0, 0.0, self.threads)
            before = counters.read()
            began = time.perf_counter()
            segments = self._full(samples)
            total_ms = 1e3 * (time.perf_counter() - began)
            ran = counters.read().since(before)
            timings = self._host.timings()
            return Transcription(
                text="".join(segments).strip(),
                ran=ran,
                encode_ms=timings.encode_ms,
                decode_ms_per_token=timings.decode_ms_per_token,
                total_ms=total_ms,
                threads=self.threads,
            )

    def _full(self, samples: audio.Samples) -> list[str]:
        """Host.full(), with the backend's own words when it fails."""
        for attachment in self._attachments:
            attachment.collect_errors()
        try:
            segments, failure = self._host.full(samples), None
        except WhisperError as error:
            segments, failure = [], error
        # The backend says it again for every graph that came after the failed one.
        said = "\n".join(attachment.take_errors() for attachment in self._attachments)
        reasons = dict.fromkeys(said.splitlines())
        if failure is not None:
            counters.read()  # raises GgmlAbort when that is what happened
            raise WhisperError("\n".join([str(failure), *reasons]))
        return segments

    def close(self) -> None:
        """Free the model; waits for a running call; again does nothing."""
        with self._lock:
            self._closed = True
            self._host.close()

    def __enter__(self) -> Transcriber:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
