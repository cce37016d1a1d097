"""Killed at any moment while compiling and running kernels: the next run works, and nothing is left."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from native_programs import NATIVE, real_service

from ggml_metal_py.softmetal.msl.store import is_whole

KILLS = 50

SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void sums(device int * out, uint i [[thread_position_in_grid]]) {
    out[i] = simd_sum(int(i)) + FACTOR * int(i);
}
"""
# So many that each is compiled by itself, at its first dispatch.
LARGE_SOURCE = SOURCE + "\n".join(
    f"kernel void unused_{i}(device int * out) {{ out[0] = {i}; }}" for i in range(70)
)


@pytest.mark.slow
def test_the_run_after_a_killed_one_works_and_leaves_a_clean_cache(compiled, tmp_path: Path) -> None:
    chance = random.Random(4)
    folders = {name: tmp_path / name for name in ("cache", "temporary", "home")}
    for folder in folders.values():
        folder.mkdir()
    env = {
        **os.environ,
        **real_service(),
        "XDG_CACHE_HOME": str(folders["cache"]),
        "TMPDIR": str(folders["temporary"]),
        "HOME": str(folders["home"]),
    }
    program = compiled("plain")(NATIVE / "open_library.m")
    sources = [tmp_path / "small.metal", tmp_path / "large.metal"]
    sources[0].write_text(SOURCE)
    sources[1].write_text(LARGE_SOURCE)

    def start(number: int) -> subprocess.Popen[str]:
        # Another macro is another source: nothing of it is in the cache yet.
        command = [str(program), str(sources[number % 2]), "sums", "2", f"FACTOR={number}"]
        # A group of its own, so that a kill takes the compilers along.
        return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True, start_new_session=True)

    def finish(number: int) -> float:
        began = time.monotonic()
        said, _ = start(number).communicate(timeout=120)
        expected = [[sum(range(32)), sum(range(32, 64))][i // 32] + number * i for i in range(64)]
        assert said.splitlines()[-1] == "result: " + " ".join(map(str, expected)), (number, said)
        return time.monotonic() - began

    killed = 0
    duration = finish(0)
    for number in range(1, 4 * KILLS):
        process = start(number)
        time.sleep(chance.uniform(0, duration))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            killed += 1
        process.communicate()
        duration = finish(number)
        if killed == KILLS:
            break
    assert killed == KILLS

    cache = folders["cache"] / "softmetal"
    files = [path for path in cache.rglob("*") if path.is_file()]
    assert len([path for path in files if path.suffix == ".so"]) == number + 1
    assert [path for path in files if path.name != "lock" and not is_whole(path)] == []
    assert [path.name for path in (cache / ".work").iterdir()] == ["lock"]
    assert len(list(cache.iterdir())) == 2
    for name in ("temporary", "home"):
        assert list(folders[name].iterdir()) == []
