"""A whole transcription on the device beside the same host's on its CPU backend, with as many threads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ggml_metal_py.whisper import report

from .result import Result


def measure(sound: Path, model: str = "tiny.en") -> Iterator[Result]:
    """Total, encoder and decoder time for the recording."""
    done = report.transcribe(sound, model, compare_cpu=True)
    assert done.cpu is not None
    if not done.same_text:
        raise SystemExit(f"the two backends disagree: {done.device.text!r} and {done.cpu.text!r}")
    against = f"CPU backend, {done.cpu.threads} threads"
    for name, unit, metal, cpu in (
        (f"{sound.name}, {model}", "ms", done.device.total_ms, done.cpu.total_ms),
        ("  encode", "ms", done.device.encode_ms, done.cpu.encode_ms),
        ("  decode a token", "ms", done.device.decode_ms_per_token, done.cpu.decode_ms_per_token),
    ):
        yield Result(name, metal, unit, against, metal / cpu)
