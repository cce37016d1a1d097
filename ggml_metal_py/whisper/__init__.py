"""Whisper on this project's backend: models, sound, and transcription through pywhispercpp.

from ggml_metal_py.whisper import Transcriber

with Transcriber("tiny.en") as transcriber:
    print(transcriber.transcribe("speech.mp3").text)
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .audio import AudioError
    from .conversion import convert
    from .host import WhisperError
    from .modelfile import ModelError
    from .quantization import quantize
    from .transcriber import Transcriber, Transcription

_HOMES = {
    "AudioError": "audio",
    "ModelError": "modelfile",
    "Transcriber": "transcriber",
    "Transcription": "transcriber",
    "WhisperError": "host",
    "convert": "conversion",
    "quantize": "quantization",
}

__all__ = [
    "AudioError",
    "ModelError",
    "Transcriber",
    "Transcription",
    "WhisperError",
    "convert",
    "quantize",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
