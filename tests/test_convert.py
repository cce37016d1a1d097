"""Models of both layouts become the same whisper.cpp file; broken ones are refused by name and reason."""

import contextlib
import json
import struct
from pathlib import Path

import numpy as np
import pytest
import tiny_whisper

from ggml_metal_py.whisper import ModelError, convert, mel, modelfile, vocabulary

WRITERS = {"ctranslate2": tiny_whisper.write_ctranslate2, "hugging_face": tiny_whisper.write_hugging_face}


@pytest.fixture
def weights() -> tiny_whisper.Weights:
    return tiny_whisper.weights()


@pytest.fixture
def model_path(tmp_path: Path, weights: tiny_whisper.Weights) -> Path:
    tiny_whisper.write_hugging_face(tmp_path / "source", weights)
    convert(tmp_path / "source", tmp_path / "model.bin")
    return tmp_path / "model.bin"


@pytest.mark.parametrize("layout", WRITERS)
def test_both_layouts_give_every_tensor(layout: str, tmp_path: Path, weights: tiny_whisper.Weights) -> None:
    WRITERS[layout](tmp_path / "source", weights)
    convert(tmp_path / "source", tmp_path / "model.bin")
    model = modelfile.read(tmp_path / "model.bin")
    assert model.hparams == tiny_whisper.HPARAMS
    assert model.tokens == tiny_whisper.TOKENS
    np.testing.assert_array_equal(model.mel_filters, mel.filters(4))
    assert model.tensors.keys() == weights.keys()
    for name, tensor in model.tensors.items():
        stored = np.frombuffer(tensor.data, "<f4" if tensor.type == modelfile.F32 else "<f2")
        np.testing.assert_array_equal(stored, weights[name].reshape(-1), err_msg=name)
        is_matrix = weights[name].ndim > 1 and not name.endswith("positional_embedding")
        assert tensor.type == (modelfile.F16 if is_matrix else modelfile.F32), name


@pytest.mark.parametrize("dtype", ["F16", "BF16"])
def test_safetensors_of_half_precision_are_read(
    dtype: str, tmp_path: Path, weights: tiny_whisper.Weights
) -> None:
    tiny_whisper.write_hugging_face(tmp_path / "source", weights, dtype)
    convert(tmp_path / "source", tmp_path / "model.bin")
    stored = modelfile.read(tmp_path / "model.bin").tensors["encoder.conv1.weight"]
    np.testing.assert_array_equal(
        np.frombuffer(stored.data, "<f2"), weights["encoder.conv1.weight"].reshape(-1)
    )


def test_a_split_model_is_read(tmp_path: Path, weights: tiny_whisper.Weights) -> None:
    source = tmp_path / "source"
    tiny_whisper.write_hugging_face(source, weights)
    convert(source, tmp_path / "whole.bin")
    whole = (source / "model.safetensors").read_bytes()
    header = json.loads(whole[8 : 8 + struct.unpack("<Q", whole[:8])[0]])
    names = [name for name in header if name != "__metadata__"]
    start = 8 + struct.unpack("<Q", whole[:8])[0]
    arrays = {}
    for name in names:
        begin, end = header[name]["data_offsets"]
        flat = np.frombuffer(whole[start + begin : start + end], "<f4")
        arrays[name] = flat.reshape(header[name]["shape"])
    files = {name: f"part-{i % 2}.safetensors" for i, name in enumerate(names)}
    for file in set(files.values()):
        part = {name: array for name, array in arrays.items() if files[name] == file}
        tiny_whisper.write_safetensors(source / file, part, "F32")
    (source / "model.safetensors").unlink()
    (source / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))
    convert(source, tmp_path / "split.bin")
    split, expected = modelfile.read(tmp_path / "split.bin"), modelfile.read(tmp_path / "whole.bin")
    assert {name: bytes(t.data) for name, t in split.tensors.items()} == {
        name: bytes(t.data) for name, t in expected.tensors.items()
    }


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("vocabulary.txt", "\n".join(tiny_whisper.SPELLED)),
        ("vocabulary.json", json.dumps(tiny_whisper.SPELLED)),
        ("vocab.json", json.dumps({token: i for i, token in reversed([*enumerate(tiny_whisper.SPELLED)])})),
        (
            "tokenizer.json",
            json.dumps(
                {
                    "model": {"vocab": {token: i for i, token in enumerate(tiny_whisper.SPELLED[:5])}},
                    "added_tokens": [{"content": vocabulary.END_OF_TEXT, "id": 5}],
                }
            ),
        ),
    ],
)
def test_each_vocabulary_file_gives_the_bytes(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert vocabulary.load(tmp_path) == tiny_whisper.TOKENS


def test_every_byte_has_one_spelling() -> None:
    spellings = [chr(code) for code in range(0x21, 0x144) if code not in range(0x7F, 0xA1) and code != 0xAD]
    assert sorted(vocabulary.decode("".join(spellings))) == list(range(256))


def test_mel_filters_have_unit_area() -> None:
    bank = mel.filters(80)
    assert bank.shape == (80, 201)
    # The integral over frequency, on a grid of 40 Hz.
    np.testing.assert_allclose(bank.sum(axis=1) * 40, 1.0, rtol=0.1)


# ---- what is refused


def test_an_empty_folder_names_the_layouts(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"model\.bin .*model\.safetensors"):
        convert(tmp_path, tmp_path / "out.bin")
    assert not (tmp_path / "out.bin").exists()


@pytest.mark.parametrize("layout", WRITERS)
def test_a_cut_off_source_is_refused(layout: str, tmp_path: Path, weights: tiny_whisper.Weights) -> None:
    WRITERS[layout](tmp_path, weights)
    path = next(path for path in tmp_path.iterdir() if path.name in ("model.bin", "model.safetensors"))
    whole = path.read_bytes()
    for length in (0, 3, 7, 40, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelError):
            convert(tmp_path, tmp_path / "out.bin")
    assert not (tmp_path / "out.bin").exists()


@pytest.mark.parametrize("layout", WRITERS)
def test_a_missing_tensor_is_named(layout: str, tmp_path: Path, weights: tiny_whisper.Weights) -> None:
    del weights["decoder.ln.bias"]
    try:
        WRITERS[layout](tmp_path, weights)
    except KeyError:  # the other layout cannot be written without it: break it afterwards
        weights["decoder.ln.bias"] = np.zeros(8, np.float32)
        WRITERS[layout](tmp_path, weights)
        path = tmp_path / "model.bin"
        path.write_bytes(path.read_bytes().replace(b"decoder/layer_norm/beta", b"decoder/layer_norm/bete"))
    with pytest.raises(ModelError, match=r"decoder\.ln\.bias|decoder/layer_norm/beta"):
        convert(tmp_path, tmp_path / "out.bin")


def test_other_versions_and_kinds_of_ctranslate2_are_refused(
    tmp_path: Path, weights: tiny_whisper.Weights
) -> None:
    tiny_whisper.write_ctranslate2(tmp_path, weights, version=5)
    with pytest.raises(ModelError, match="version 5, expected 6"):
        convert(tmp_path, tmp_path / "out.bin")
    tiny_whisper.write_ctranslate2(tmp_path, weights, spec="TransformerSpec")
    with pytest.raises(ModelError, match="TransformerSpec"):
        convert(tmp_path, tmp_path / "out.bin")


def test_a_model_that_is_not_whisper_is_refused(tmp_path: Path, weights: tiny_whisper.Weights) -> None:
    tiny_whisper.write_hugging_face(tmp_path, weights)
    tiny_whisper.write_safetensors(tmp_path / "model.safetensors", {"bert.pooler.weight": np.ones(2)}, "F32")
    with pytest.raises(ModelError, match=r"bert\.pooler\.weight"):
        convert(tmp_path, tmp_path / "out.bin")


@pytest.mark.parametrize("content", ["", "[]", "{}", '["a"]', "\0"])
def test_a_broken_vocabulary_is_named(content: str, tmp_path: Path, weights: tiny_whisper.Weights) -> None:
    tiny_whisper.write_hugging_face(tmp_path, weights)
    (tmp_path / "vocab.json").write_text(content)
    with pytest.raises(ModelError, match=r"vocab\.json"):
        convert(tmp_path, tmp_path / "out.bin")


def test_every_cut_of_a_model_file_is_refused(model_path: Path) -> None:
    whole = model_path.read_bytes()
    header = 48 + 8 + 4 * 4 * 201
    lengths = {*range(60), header, header + 3, header + 9, len(whole) // 2, len(whole) - 1}
    for length in sorted(lengths):
        model_path.write_bytes(whole[:length])
        with pytest.raises(ModelError, match=str(model_path)):
            modelfile.read(model_path)


def test_a_model_file_with_noise_is_refused_or_read_but_never_crashes(model_path: Path) -> None:
    whole = bytearray(model_path.read_bytes())
    random = np.random.default_rng(1)
    for _ in range(200):
        noisy = whole.copy()
        for position in random.integers(0, len(noisy), 4):
            noisy[position] = random.integers(256)
        model_path.write_bytes(noisy)
        with contextlib.suppress(ModelError):
            modelfile.read(model_path)


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path, model_path: Path) -> None:
    model = modelfile.read(model_path)
    target = tmp_path / "target.bin"
    tensors = list(model.tensors.values())[1:]
    with pytest.raises(ModelError, match="missing"):
        modelfile.write(target, model.hparams, model.mel_filters, model.tokens, tensors)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.bin", "source"]
