"""The recordings that tests transcribe, and a script's beginning that is like any user's of pywhispercpp."""

from pathlib import Path

import soundfile

from ggml_metal_py._build.layout import Layout
from ggml_metal_py._build.manifest import read_manifest
from ggml_metal_py.whisper import audio

JFK_TEXT = (
    "And so my fellow Americans ask not what your country can do for you, "
    "ask what you can do for your country."
)
THANKS = Path(__file__).with_name("data") / "thanks.wav"
THANKS_TEXT = "Thank you very much for coming here today."


def jfk() -> Path:
    """Upstream's sample, unpacked with the default row by `./build.sh build`."""
    layout = Layout(read_manifest().row())
    return layout.root / layout.upstream / "samples" / "jfk.wav"


def write_16_khz(source: Path, target: Path) -> Path:
    """A copy as pywhispercpp itself reads it."""
    soundfile.write(target, audio.load(source), 16000, subtype="PCM_16")
    return target


PLAIN_SCRIPT = """
import sys
from pywhispercpp.model import Model

model = Model(sys.argv[1], n_threads=2, print_progress=False)
print(" ".join(segment.text for segment in model.transcribe(sys.argv[2])))
"""
"""Transcribes argv[2] with the model argv[1]; knows nothing of this project."""
