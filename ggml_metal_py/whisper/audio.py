"""Sound as Whisper wants it: 16 kHz, mono, float32 from -1 to 1, made from any file or array."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .mel import SAMPLE_RATE

Samples = NDArray[np.float32]

# More columns than this are taken for a transposed array: (channels, frames) instead of (frames, channels).
_MAX_CHANNELS = 8


class AudioError(ValueError):
    """A file or array is not sound that can be transcribed; the message says what was expected."""


class AudioFileNotFound(AudioError, FileNotFoundError):
    """The audio file is not there."""


def load(path: str | os.PathLike[str]) -> Samples:
    """Decode a file (whatever libsndfile reads: wav, flac, mp3, ogg...) into Whisper's samples.

    The content decides the format, not the file's name.

    Raises: AudioFileNotFound; AudioError when it is no sound file.
    """
    import soundfile

    path = Path(path)
    if not path.is_file():
        raise AudioFileNotFound(f"{path}: no such file, expected a sound file (wav, flac, mp3, ogg)")
    try:
        # Opened here: libsndfile takes a missing or odd extension of a name for a hint.
        with path.open("rb") as file:
            frames, rate = soundfile.read(file, dtype="float32", always_2d=True)
    except (soundfile.LibsndfileError, TypeError) as error:
        raise AudioError(f"{path}: cannot be decoded, expected wav, flac, mp3 or ogg ({error})") from error
    return from_array(frames, rate)


def from_array(sound: ArrayLike, sample_rate: int = SAMPLE_RATE) -> Samples:
    """Whisper's samples from an array of shape (frames,) or (frames, channels).

    Floats are taken as they are (full scale is 1.0), integers are scaled by their type's range
    (int16: 32768; uint8 is centred on 128). Channels are averaged, another rate is resampled.

    Raises: AudioError for another shape or type, for NaN or infinity, or for an impossible rate.
    """
    array = np.asarray(sound)
    if (array.ndim == 2 and array.shape[1] > _MAX_CHANNELS) or array.ndim not in (1, 2):
        raise AudioError(
            f"sound of shape {array.shape}, expected (frames,) or (frames, channels) "
            f"with at most {_MAX_CHANNELS} channels"
        )
    if sample_rate <= 0:
        raise AudioError(f"a sample rate of {sample_rate} Hz, expected a positive one")
    samples = _to_float(array)
    if samples.ndim == 2:
        samples = samples.mean(axis=1, dtype=np.float32) if samples.shape[1] else samples.reshape(0)
    finite = np.isfinite(samples)
    if not finite.all():
        first = int(np.argmin(finite))
        raise AudioError(f"sample {first} is {samples[first]}, expected finite numbers from -1 to 1")
    if sample_rate != SAMPLE_RATE and samples.size:
        import soxr

        samples = soxr.resample(samples, sample_rate, SAMPLE_RATE)
    return np.ascontiguousarray(samples, np.float32)


def _to_float(array: NDArray[np.generic]) -> Samples:
    kind, bits = array.dtype.kind, 8 * array.dtype.itemsize
    if kind == "f":
        with np.errstate(over="ignore"):  # a float64 beyond float32 becomes infinite, and is refused as such
            return array.astype(np.float32)
    if kind in "iu":
        full_scale = 2.0 ** (bits - 1)
        centre = full_scale if kind == "u" else 0.0
        return ((array.astype(np.float64) - centre) / full_scale).astype(np.float32)
    if array.size == 0:  # np.asarray([]) is float64, but an empty object array has no better type either
        return array.astype(np.float32)
    raise AudioError(f"samples of type {array.dtype}, expected floats or integers")
