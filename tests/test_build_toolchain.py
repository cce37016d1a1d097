"""Finding a compiler, with scripts that stand for clangs of several kinds."""

import platform
import sys

import pytest

from ggml_metal_py.softmetal import toolchain
from ggml_metal_py.softmetal.toolchain import ToolchainError, find_toolchain

pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="on macOS Xcode's clang is the only choice")


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    """An x86_64 machine with an empty PATH and no ziglang wheel; nothing is remembered."""
    find_toolchain.cache_clear()
    monkeypatch.delenv("SOFTMETAL_CC", raising=False)
    monkeypatch.delenv("ZIG_GLOBAL_CACHE_DIR", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(toolchain, "_find_zig", lambda: None)
    yield
    find_toolchain.cache_clear()


@pytest.fixture
def install(tmp_path):
    """Puts a script on PATH that answers --version, and compiles or does not."""

    def make(name: str, version: str, compiles: bool = True) -> str:
        path = tmp_path / name
        answer = f'echo "Debian clang version {version}"; exit 0'
        status = 0 if compiles else 1
        path.write_text(
            f'#!/bin/sh\ncase "$*" in *--version*) {answer} ;; esac\n/bin/cat > /dev/null\nexit {status}\n'
        )
        path.chmod(0o755)
        return str(path)

    return make


def test_the_default_clang_is_preferred(install):
    clang = install("clang", "17.0.6")
    install("clang-19", "19.1.7")
    found = find_toolchain()
    assert (found.kind, found.version, found.arch, found.cpu) == ("clang", "17.0.6", "x86_64", "x86_64_v3")
    assert found.cc == (clang, "-march=x86-64-v3")
    assert found.cxx == (clang, "--driver-mode=g++", "-march=x86-64-v3")


@pytest.mark.parametrize(
    ("version", "compiles"), [("14.0.6", True), ("19.1.7", False)], ids=["old", "no headers"]
)
def test_a_clang_that_cannot_serve_is_passed_over(install, version, compiles):
    install("clang", version, compiles)
    install("clang-19", "19.1.7")
    assert find_toolchain().cc[0].endswith("clang-19")


def test_the_command_of_the_environment_comes_first(install, monkeypatch):
    install("clang", "19.1.7")
    own = install("my-clang", "16.0.0")
    monkeypatch.setenv("SOFTMETAL_CC", own)
    assert find_toolchain().cc[0] == own


@pytest.mark.parametrize("command", ["clang-14", "missing"])
def test_a_wrong_command_of_the_environment_is_an_error(install, monkeypatch, command):
    install("clang", "19.1.7")
    install("clang-14", "14.0.6")
    monkeypatch.setenv("SOFTMETAL_CC", command)
    with pytest.raises(ToolchainError, match=f"SOFTMETAL_CC is '{command}'"):
        find_toolchain()


def test_without_a_clang_the_wheel_is_used(install, monkeypatch, tmp_path):
    zig = install("zig", "22.1.8")
    monkeypatch.setattr(toolchain, "_find_zig", lambda: zig)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = find_toolchain()
    assert found.kind == "zig"
    assert found.cxx == (zig, "c++", "-target", "x86_64-linux-gnu.2.28", "-mcpu=x86_64_v3")
    assert found.environment()["ZIG_GLOBAL_CACHE_DIR"] == str(tmp_path / "cache" / "softmetal" / "zig")
    assert found.describe() == "zig clang 22.1.8, x86_64 (x86_64_v3)"


def test_without_any_compiler_the_message_says_what_to_install():
    with pytest.raises(ToolchainError, match="pip install ziglang"):
        find_toolchain()


@pytest.mark.parametrize(
    ("machine_name", "arch"), [("arm64", "aarch64"), ("aarch64", "aarch64"), ("AMD64", "x86_64")]
)
def test_machines_have_several_names(monkeypatch, machine_name, arch):
    monkeypatch.setattr(platform, "machine", lambda: machine_name)
    assert toolchain.host_arch() == arch


def test_another_machine_is_refused_by_name(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(ToolchainError, match="riscv64"):
        find_toolchain()
