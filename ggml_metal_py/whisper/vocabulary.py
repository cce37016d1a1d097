"""Whisper's byte-level BPE vocabulary, from the files that converters leave beside a model.

A vocabulary file spells each token with one printable character per byte (OpenAI's GPT-2 encoder,
`bytes_to_unicode`). whisper.cpp stores the plain bytes and makes up the special tokens itself, so the
list ends before "<|endoftext|>".
"""

from __future__ import annotations

import json
from pathlib import Path

from .modelfile import ModelError

END_OF_TEXT = "<|endoftext|>"
FILES = ("vocabulary.txt", "vocabulary.json", "vocab.json", "tokenizer.json")


def load(folder: Path) -> list[bytes]:
    """The plain tokens in id order, from the first of FILES in `folder`. Raises: ModelError."""
    for name in FILES:
        if (folder / name).is_file():
            break
    else:
        raise ModelError(f"{folder}: no vocabulary, expected one of {', '.join(FILES)}")
    text = (folder / name).read_text(encoding="utf-8")
    try:
        spelled = text.split("\n") if name.endswith(".txt") else _from_json(json.loads(text))
        return [decode(token) for token in spelled[: spelled.index(END_OF_TEXT)]]
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{folder / name}: not a Whisper vocabulary ({error})") from error


def decode(token: str) -> bytes:
    """The bytes behind a token's spelling."""
    return bytes(_BYTE_OF[character] for character in token)


def _from_json(content: object) -> list[str]:
    """Tokens in id order from a plain list, a {token: id} table, or a tokenizer file that holds one."""
    if isinstance(content, dict) and isinstance(content.get("model"), dict):
        added = {token["content"]: token["id"] for token in content.get("added_tokens", [])}
        content = {**content["model"]["vocab"], **added}
    if isinstance(content, dict):
        content = sorted(content, key=content.__getitem__)
    if not isinstance(content, list):
        raise ValueError("neither a list of tokens nor a table of token ids")
    return content


def _byte_of_character() -> dict[str, int]:
    """Printable Latin-1 stands for itself; the other bytes follow, in order, from U+0100 on."""
    plain = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    shifted = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + n): byte for n, byte in enumerate(shifted)}


_BYTE_OF = _byte_of_character()
