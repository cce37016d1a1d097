"""vendor/upstreams.toml: that ours is whole, and that a wrong one is refused by name."""

import pytest

from ggml_metal_py._build.manifest import ManifestError, read_manifest

TABLE = """
default = "a-1"
[upstreams."a-1"]
registry = "pypi"
package = "a"
version = "1"
file = "a-1.tar.gz"
size = 1
sha256 = "{sha256}"
include = "include"
src = "src"
"""
SHA256 = "0123456789abcdef" * 4


def read(tmp_path, text):
    path = tmp_path / "upstreams.toml"
    path.write_text(text)
    return read_manifest(path)


def test_the_manifest_pins_every_row():
    manifest = read_manifest()
    assert manifest.default == "pywhispercpp-1.5.1"
    assert manifest.row().ggml_version == "0.13.1"
    assert set(manifest.rows) == {
        "pywhispercpp-1.5.1",
        "pywhispercpp-1.5.0",
        "libggml-python-0.20.2",
        "ggml-python-0.0.45",
        "ggml-py-0.10.1",
        "llama-cpp-python-0.3.36",
        "whisper.rn-0.5.2",
        "whisper.rn-0.5.5",
    }
    prefixed = {name for name, row in manifest.rows.items() if row.prefix == "wsp_"}
    assert prefixed == {"whisper.rn-0.5.2", "whisper.rn-0.5.5"}


def test_a_row_name_becomes_an_identifier():
    assert read_manifest().row("whisper.rn-0.5.5").identifier == "whisper_rn_0_5_5"


def test_an_unknown_row_is_answered_with_the_known_ones(tmp_path):
    manifest = read(tmp_path, TABLE.format(sha256=SHA256))
    with pytest.raises(ManifestError, match=r"no upstream row 'b-2'.* a-1"):
        manifest.row("b-2")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('default = "a-1"', 'default = "b"', "no upstream row 'b'"),
        (SHA256, "0123", "64 lower-case"),
        ('registry = "pypi"', 'registry = "elsewhere"', "pypi, npm"),
        ('version = "1"', "", "version"),
        ('src = "src"', "", "src"),
        ('src = "src"', 'src = "src"\nsuffix = "x"', "unknown keys suffix"),
        ("[upstreams", "[[upstreams", "upstreams.toml"),
    ],
)
def test_a_wrong_manifest_is_refused(tmp_path, old, new, message):
    text = TABLE.format(sha256=SHA256)
    assert old in text
    with pytest.raises(ManifestError, match=message):
        read(tmp_path, text.replace(old, new))


def test_outside_a_checkout_the_message_says_so(tmp_path):
    with pytest.raises(ManifestError, match="checkout"):
        read_manifest(tmp_path / "upstreams.toml")
