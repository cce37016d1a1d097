"""Any sound becomes 16 kHz mono float32, or a ValueError that says what was expected."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from ggml_metal_py.whisper import audio

DATA = Path(__file__).with_name("data")
RATE = 16000


def tone(seconds: float, rate: int, hertz: float = 440.0) -> np.ndarray:
    return 0.5 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)


def loudest_hertz(samples: np.ndarray) -> float:
    return float(np.argmax(np.abs(np.fft.rfft(samples))) * RATE / len(samples))


@pytest.mark.parametrize("rate", [8000, 16000, 22050, 44100, 48000])
@pytest.mark.parametrize("suffix", ["wav", "flac", "ogg", "mp3"])
def test_any_format_and_rate_is_read(tmp_path: Path, rate: int, suffix: str) -> None:
    path = tmp_path / f"tone.{suffix}"
    soundfile.write(path, tone(1.0, rate), rate)
    samples = audio.load(path)
    assert samples.dtype == np.float32
    assert samples.ndim == 1
    # mp3 pads the ends to whole frames
    assert len(samples) == pytest.approx(RATE, rel=0.25 if suffix == "mp3" else 0.001)
    assert loudest_hertz(samples) == pytest.approx(440, abs=3)
    assert np.abs(samples).max() == pytest.approx(0.5, rel=0.1)


@pytest.mark.parametrize("name", ["UPPER.WAV", "no_suffix", "lies.mp3", "with blank äöü.wav"])
def test_the_content_decides_not_the_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with path.open("wb") as file:
        soundfile.write(file, tone(0.5, RATE), RATE, format="WAV")
    assert len(audio.load(path)) == RATE // 2


def test_channels_are_averaged(tmp_path: Path) -> None:
    path = tmp_path / "stereo.wav"
    left = tone(0.5, RATE)
    soundfile.write(path, np.stack([left, -left], axis=1), RATE)
    assert np.abs(audio.load(path)).max() < 1e-3


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (np.array([-32768, 0, 16384], np.int16), [-1, 0, 0.5]),
        (np.array([0, 128, 192], np.uint8), [-1, 0, 0.5]),
        (np.array([-(2**31), 0, 2**30], np.int32), [-1, 0, 0.5]),
        (np.array([-1, 0, 0.5], np.float64), [-1, 0, 0.5]),
        (np.array([-1, 0, 0.5], np.float16), [-1, 0, 0.5]),
        (np.array([[-1, 1], [0, 1]], np.float32), [0, 0.5]),
        ([], []),
        (np.zeros((0, 2), np.float32), []),
        (np.zeros((3, 0), np.float32), []),
    ],
)
def test_arrays_are_scaled_by_their_type(stored: object, expected: list[float]) -> None:
    samples = audio.from_array(stored)  # type: ignore[arg-type]
    assert samples.dtype == np.float32
    assert samples.flags.c_contiguous
    np.testing.assert_allclose(samples, expected, atol=1e-7)


def test_a_view_that_is_not_contiguous_is_copied() -> None:
    every_other = np.arange(10, dtype=np.float32)[::2]
    np.testing.assert_array_equal(audio.from_array(every_other), [0, 2, 4, 6, 8])


@pytest.mark.parametrize(
    ("sound", "message"),
    [
        (np.array([0.0, np.nan]), "sample 1 is nan"),
        (np.array([np.inf, 0.0]), "sample 0 is inf"),
        (np.array([0.0, 1e300]), "finite"),
        (np.zeros((2, 3, 4)), "frames"),
        (np.zeros((2, 100)), "frames"),
        (np.float32(0), "frames"),
        (np.array(["a"]), "floats or integers"),
        (np.array([1j]), "floats or integers"),
        (np.array([True]), "floats or integers"),
        (np.array([None]), "floats or integers"),
    ],
)
def test_what_is_no_sound_is_refused(sound: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        audio.from_array(sound)  # type: ignore[arg-type]


@pytest.mark.parametrize("rate", [0, -16000])
def test_an_impossible_rate_is_refused(rate: int) -> None:
    with pytest.raises(ValueError, match="sample rate"):
        audio.from_array(np.zeros(10), rate)


@pytest.mark.parametrize("content", [b"", b"RIFF", b"not sound at all" * 100])
def test_a_file_that_is_no_sound_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "fake.wav"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="expected wav, flac, mp3 or ogg"):
        audio.load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.wav") as caught:
        audio.load(tmp_path / "nowhere.wav")
    assert isinstance(caught.value, ValueError)
    with pytest.raises(ValueError, match="no such file"):
        audio.load(tmp_path)


def test_the_committed_recording_is_resampled() -> None:
    path = DATA / "thanks.wav"
    assert soundfile.info(path).samplerate == 22050
    assert len(audio.load(path)) == pytest.approx(3.58 * RATE, rel=0.01)
