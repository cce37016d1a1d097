"""Whisper on the device says what it says on the CPU backend, whatever it is given and however called."""

import json
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import numpy as np
import pytest
import soundfile
import speech
import tiny_whisper
from fresh_python import ROOT, run_python

from ggml_metal_py.dropin import attach
from ggml_metal_py.whisper import (
    ModelError,
    Transcriber,
    Transcription,
    audio,
    convert,
    modelfile,
    models,
    quantize,
)
from ggml_metal_py.whisper.host import import_extension

QUANTIZED = ["tiny.en-q8_0", "tiny.en-q5_0"]


@pytest.fixture(scope="module")
def transcriber() -> Iterator[Transcriber]:
    with Transcriber("tiny.en") as opened:
        yield opened


def assert_all_on_device(done: Transcription) -> None:
    assert done.ran.device_graphs > 0
    assert done.ran.device_nodes > 1000
    assert done.ran.cpu_nodes == 0
    assert sum(done.ran.dispatches.values()) > 0


# ---- the text


@pytest.mark.parametrize("model", ["tiny.en", *QUANTIZED])
def test_the_text_is_the_cpu_backends(model: str) -> None:
    with Transcriber(model) as on_device, Transcriber(model, device="cpu") as on_cpu:
        done = on_device.transcribe(speech.THANKS)
        expected = on_cpu.transcribe(speech.THANKS)
    assert done.text == expected.text == speech.THANKS_TEXT
    assert_all_on_device(done)
    assert expected.ran.device_nodes == 0
    assert expected.ran.cpu_nodes == done.ran.device_nodes
    assert done.total_ms > done.encode_ms > 0
    assert done.decode_ms_per_token > 0


@pytest.mark.slow
@pytest.mark.parametrize("model", QUANTIZED)
def test_the_long_text_of_a_quantised_model_is_the_cpu_backends(model: str) -> None:
    with Transcriber(model, device="cpu") as on_cpu, Transcriber(model) as on_device:
        done = on_device.transcribe(speech.jfk())
        assert done.text == on_cpu.transcribe(speech.jfk()).text
    assert_all_on_device(done)


def test_a_refused_op_runs_on_the_cpu_and_the_text_stays() -> None:
    import_extension()
    (attachment,) = attach()
    attachment.native.gmpy_set_refused_ops(b"GELU")
    try:
        with Transcriber("tiny.en") as transcriber:
            done = transcriber.transcribe(speech.THANKS)
    finally:
        attachment.native.gmpy_set_refused_ops(b"")
    assert done.text == speech.THANKS_TEXT
    assert done.ran.cpu_nodes > 0
    assert done.ran.device_nodes > done.ran.cpu_nodes


# ---- odd sound (R13)


@pytest.mark.parametrize(
    "sound",
    [
        [],
        np.zeros(1, np.float32),
        np.ones(160, np.float32),
        np.zeros(800, np.int16),  # 0.05 s
        np.zeros((0, 2)),
    ],
    ids=["empty", "one sample", "160 samples", "0.05 s", "no frames"],
)
def test_sound_below_a_tenth_of_a_second_has_no_text(transcriber: Transcriber, sound: object) -> None:
    assert transcriber.transcribe(sound).text == ""  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_sample_that_is_no_number_is_refused(transcriber: Transcriber, bad: float) -> None:
    samples = np.zeros(16000, np.float32)
    samples[77] = bad
    with pytest.raises(ValueError, match="sample 77"):
        transcriber.transcribe(samples)


def test_an_upper_case_stereo_file_of_another_rate_is_heard(transcriber: Transcriber, tmp_path: Path) -> None:
    sound, rate = soundfile.read(speech.THANKS, dtype="int16")
    path = tmp_path / "SPEECH.WAV"
    soundfile.write(path, np.stack([sound, sound], axis=1), rate)
    assert rate != 16000
    assert transcriber.transcribe(path).text == speech.THANKS_TEXT
    assert transcriber.transcribe([]).text == ""  # whisper.cpp would hear the last recording again


def test_a_missing_or_wrong_file_is_refused_and_the_next_call_works(
    transcriber: Transcriber, tmp_path: Path
) -> None:
    fake = tmp_path / "fake.wav"
    fake.write_text("no sound")
    for path in (tmp_path / "missing.wav", fake):
        with pytest.raises(ValueError, match="expected"):
            transcriber.transcribe(path)
    assert transcriber.transcribe(np.zeros(10)).text == ""


# ---- odd models


def test_a_model_that_is_not_there_is_named() -> None:
    with pytest.raises(ModelError, match=r"nothing\.bin.*tiny\.en"):
        Transcriber("nothing.bin")


def test_a_broken_model_file_is_refused_before_whisper_sees_it(tmp_path: Path) -> None:
    path = tmp_path / "cut.bin"
    path.write_bytes(models.find("tiny.en").read_bytes()[:1_000_000])
    with pytest.raises(ModelError, match=r"cut\.bin"):
        Transcriber(path, device="cpu")


def test_a_model_that_is_too_small_for_whisper_is_refused(tmp_path: Path) -> None:
    tiny_whisper.write_hugging_face(tmp_path, tiny_whisper.weights())
    convert(tmp_path, tmp_path / "model.bin")
    with pytest.raises(ModelError, match="12 tokens, Whisper has at least 51864"):
        Transcriber(tmp_path / "model.bin", device="cpu")


@pytest.mark.parametrize("kind", ["q8_0", "q5_0", "q4_0", "q4_1", "q5_1"])
def test_quantised_files_keep_the_values(kind: str, tmp_path: Path) -> None:
    original = modelfile.read(models.find("tiny.en"))
    quantize(models.find("tiny.en"), tmp_path / "small.bin", kind)
    small = modelfile.read(tmp_path / "small.bin")
    assert small.tensors.keys() == original.tensors.keys()
    assert small.hparams.ftype // 1000 == 2
    quantised = [name for name, t in small.tensors.items() if t.type != original.tensors[name].type]
    assert all(len(original.tensors[name].shape) == 2 for name in quantised)
    assert {"decoder.token_embedding.weight", "encoder.blocks.0.mlp.0.weight"} <= set(quantised)
    assert not {"encoder.conv1.bias", "encoder.positional_embedding", "encoder.conv1.weight"} & set(quantised)
    with pytest.raises(ModelError, match="quantise an f16 or f32 model"):
        quantize(tmp_path / "small.bin", tmp_path / "again.bin", kind)


def test_only_known_kinds_are_quantised_to(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="q5_0"):
        quantize(models.find("tiny.en"), tmp_path / "x.bin", "iq2_xxs")


# ---- more than one at once (R14)


def test_two_threads_share_one_model(transcriber: Transcriber) -> None:
    whole = audio.load(speech.THANKS)
    sounds = {"whole": whole, "beginning": whole[: len(whole) // 3]}
    texts: dict[str, str] = {}

    def work(name: str) -> None:
        texts[name] = transcriber.transcribe(sounds[name]).text

    _in_threads(work, sounds)
    assert texts["whole"] == speech.THANKS_TEXT
    assert texts["beginning"].startswith("Thank")
    assert "coming" not in texts["beginning"]


def test_two_threads_with_a_model_each() -> None:
    texts: dict[str, str] = {}

    def work(name: str) -> None:
        with Transcriber("tiny.en") as own:
            texts[name] = own.transcribe(speech.THANKS).text

    _in_threads(work, ["first", "second"])
    assert texts == {"first": speech.THANKS_TEXT, "second": speech.THANKS_TEXT}


def _in_threads(work: Callable[[str], None], names: Iterable[str]) -> None:
    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_two_processes_at_once() -> None:
    command = [sys.executable, "-m", "ggml_metal_py", "transcribe", str(speech.THANKS), "--json"]
    processes = [Popen(command, cwd=ROOT, stdout=PIPE, stderr=PIPE, text=True) for _ in range(2)]
    for process in processes:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        values = json.loads(out)
        assert values["text"] == speech.THANKS_TEXT
        assert values["nodes"]["cpu"] == 0


def test_a_closed_transcriber_says_so() -> None:
    own = Transcriber("tiny.en", device="cpu")
    own.close()
    own.close()
    with pytest.raises(ValueError, match="closed"):
        own.transcribe(speech.THANKS)


# ---- the end of the process


def test_exit_with_a_model_open() -> None:
    done = run_python("""
        from ggml_metal_py.whisper import Transcriber
        import numpy
        transcriber = Transcriber("tiny.en")
        transcriber.transcribe(numpy.zeros(100))
    """)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_exit_while_another_thread_computes() -> None:
    done = run_python(f"""
        import threading, time
        from ggml_metal_py.dropin import counters
        from ggml_metal_py.whisper import Transcriber
        transcriber = Transcriber("tiny.en")
        threading.Thread(target=transcriber.transcribe, args=({str(speech.jfk())!r},), daemon=True).start()
        while not counters.read().device_graphs:
            time.sleep(0.01)
        print("computing")
    """)
    assert (done.returncode, done.stdout) == (0, "computing\n"), done.stderr


def test_exit_of_a_forked_child() -> None:
    done = run_python(f"""
        import os, sys
        from ggml_metal_py.whisper import Transcriber
        transcriber = Transcriber("tiny.en")
        child = os.fork()
        if child == 0:
            try:
                transcriber.transcribe({str(speech.THANKS)!r})
            except RuntimeError as error:
                print(error, flush=True)
            sys.exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert done.returncode == 0, done.stderr
    message, status = done.stdout.splitlines()
    assert "fork" in message
    assert status == "0"
