"""Fetching by name, version and sha256, without a network: the registries' clients are replaced."""

import hashlib
import subprocess
from pathlib import Path

import pytest

from ggml_metal_py import registry
from ggml_metal_py.registry import Artifact, FetchError, fetch

CONTENT = b"an archive"


def artifact(**changes: object) -> Artifact:
    values = {
        "registry": "pypi",
        "package": "some-package",
        "version": "1.2.3",
        "file": "some_package-1.2.3.tar.gz",
        "size": len(CONTENT),
        "sha256": hashlib.sha256(CONTENT).hexdigest(),
    }
    return Artifact(**{**values, **changes})


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GGML_METAL_PY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("GGML_METAL_PY_ARCHIVES", raising=False)
    return tmp_path / "cache" / "archives"


@pytest.fixture
def client(monkeypatch):
    """Stands for a registry's client: writes `content` and remembers its calls."""

    class Client:
        content = CONTENT
        file = "some_package-1.2.3.tar.gz"
        calls = 0

        def __call__(self, wanted: Artifact, folder: Path) -> None:
            self.calls += 1
            (folder / self.file).write_bytes(self.content)

    made = Client()
    monkeypatch.setattr(registry, "_DOWNLOADERS", {"pypi": made, "npm": made})
    return made


def test_a_file_is_fetched_once(cache, client):
    said = []
    path = fetch(artifact(), said.append)
    assert path == cache / "some_package-1.2.3.tar.gz"
    assert path.read_bytes() == CONTENT
    assert fetch(artifact(), said.append) == path
    assert client.calls == 1
    assert said == ["fetching some_package-1.2.3.tar.gz (0.0 MB) from PyPI"]


def test_a_damaged_cached_file_is_fetched_again(cache, client):
    path = fetch(artifact())
    path.write_bytes(b"an arch")
    assert fetch(artifact()).read_bytes() == CONTENT
    assert client.calls == 2


def test_another_content_is_refused_and_leaves_nothing(cache, client):
    client.content = b"something else"
    with pytest.raises(FetchError) as caught:
        fetch(artifact())
    message = str(caught.value)
    assert artifact().sha256 in message
    assert hashlib.sha256(b"something else").hexdigest() in message
    assert list(cache.iterdir()) == []


def test_an_interrupted_download_leaves_nothing(cache, client, monkeypatch):
    def interrupted(wanted: Artifact, folder: Path) -> None:
        (folder / wanted.file).write_bytes(CONTENT[:3])
        raise KeyboardInterrupt

    monkeypatch.setattr(registry, "_DOWNLOADERS", {"pypi": interrupted})
    with pytest.raises(KeyboardInterrupt):
        fetch(artifact())
    assert list(cache.iterdir()) == []


def test_a_file_of_another_name_is_named(cache, client):
    client.file = "some_package-1.2.3-py3-none-any.whl"
    with pytest.raises(FetchError, match=r"the registry gave some_package-1\.2\.3-py3-none-any\.whl"):
        fetch(artifact())


def test_the_offline_folder_is_used_instead_of_the_registry(cache, client, tmp_path, monkeypatch):
    monkeypatch.setenv("GGML_METAL_PY_ARCHIVES", str(tmp_path))
    (tmp_path / "some_package-1.2.3.tar.gz").write_bytes(CONTENT)
    assert fetch(artifact()) == tmp_path / "some_package-1.2.3.tar.gz"
    assert client.calls == 0


@pytest.mark.parametrize("content", [None, b"something else"], ids=["missing", "another content"])
def test_the_offline_folder_says_which_file_it_lacks(content, cache, client, tmp_path, monkeypatch):
    monkeypatch.setenv("GGML_METAL_PY_ARCHIVES", str(tmp_path))
    if content is not None:
        (tmp_path / "some_package-1.2.3.tar.gz").write_bytes(content)
    with pytest.raises(FetchError) as caught:
        fetch(artifact())
    message = str(caught.value)
    for part in ("some_package-1.2.3.tar.gz", "some-package 1.2.3 from PyPI", artifact().sha256):
        assert part in message
    assert client.calls == 0


def test_a_missing_client_is_named(cache, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(FetchError, match="npm is not installed"):
        fetch(artifact(registry="npm", file="some-package-1.2.3.tgz"))


def test_a_failing_client_is_quoted(cache, monkeypatch):
    def run(command, **options):
        return subprocess.CompletedProcess(command, 1, "", "looking\nNo matches are found.\n")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(FetchError, match="No matches are found"):
        fetch(artifact())
