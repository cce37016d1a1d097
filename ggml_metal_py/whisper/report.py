"""One transcription as the command line reports it, beside the CPU backend's when asked for."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from . import audio, progress
from .mel import SAMPLE_RATE
from .transcriber import Transcriber, Transcription


@dataclass(frozen=True)
class Report:
    """The device's transcription and, when they are compared, the same host's on its CPU backend."""

    device: Transcription
    cpu: Transcription | None = None

    @property
    def ratio(self) -> float | None:
        """The device's time over the CPU backend's."""
        return self.device.total_ms / self.cpu.total_ms if self.cpu and self.cpu.total_ms else None

    @property
    def same_text(self) -> bool:
        """False when a comparison gave another text."""
        return self.cpu is None or self.cpu.text == self.device.text

    def as_json(self) -> dict[str, Any]:
        """The values of `ggml-metal-py transcribe --json`."""
        values = self.device.as_json()
        if self.cpu is not None:
            values["cpu_total_ms"] = round(self.cpu.total_ms, 2)
            values["cpu_text"] = self.cpu.text
            values["ratio"] = None if self.ratio is None else round(self.ratio, 2)
        return values

    def lines(self) -> list[str]:
        """What was done, for people."""
        ran = self.device.ran
        lines = [
            f"{ran.device_graphs} graphs and {ran.device_nodes} nodes on the Metal device, "
            f"{ran.cpu_nodes} nodes on the CPU backend; {len(ran.dispatches)} pipelines",
            f"Metal device: {_times(self.device)}",
        ]
        if self.cpu is not None:
            verdict = "the same text" if self.same_text else f"another text: {self.cpu.text}"
            lines += [
                f"CPU backend:  {_times(self.cpu)}; {verdict}",
                f"the device took {self.ratio or 0:.1f} times as long, each with {self.cpu.threads} threads",
            ]
        return lines


def _times(run: Transcription) -> str:
    return (
        f"encode {run.encode_ms:.0f} ms, decode {run.decode_ms_per_token:.1f} ms a token, "
        f"total {run.total_ms:.0f} ms"
    )


def transcribe(
    sound: str | os.PathLike[str],
    model: str,
    *,
    threads: int | None = None,
    compare_cpu: bool = False,
    say: Callable[[str], None] = lambda line: None,
) -> Report:
    """Transcribe a file on the device and, when compared, on the CPU backend afterwards with as many threads.

    Raises: what Transcriber raises.
    """
    device = _run(sound, model, "metal", threads, say)
    cpu = _run(sound, model, "cpu", threads, say) if compare_cpu else None
    return Report(device, cpu)


def _run(
    sound: str | os.PathLike[str],
    model: str,
    device: Literal["metal", "cpu"],
    threads: int | None,
    say: Callable[[str], None],
) -> Transcription:
    samples = audio.load(sound)
    with Transcriber(model, device=device, threads=threads, say=say) as transcriber:
        say(f"{sound}: {len(samples) / SAMPLE_RATE:.1f} s of sound, {model}, {device}")
        with progress.shown():
            return transcriber.transcribe(samples)
