"""Checked mode: each of our broken kernels gives its one report, and nothing else does."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import ggml_metal_py as gm

KERNELS = Path(__file__).parent / "softmetal" / "kernels" / "checked"
_THREAD = r"(\d+)\.(\d+)\.(\d+)"


@dataclass(frozen=True)
class Expected:
    """What the comments of a kernel say. Threads are (threadgroup, simdgroup, lane)."""

    kind: str
    line: int
    thread: tuple[int, ...]
    other_line: int | None = None
    other_thread: tuple[int, ...] | None = None


def source_of(file: str) -> str:
    """With common.h in it, as the device has no folder to look for it."""
    text = (KERNELS / f"{file}.metal").read_text()
    return text.replace('#include "common.h"', (KERNELS / "common.h").read_text())


def expectations(file: str) -> dict[str, Expected | None]:
    """For each kernel of a file; None for one that is right."""
    found: dict[str, Expected | None] = {}
    name, fault, other = "", None, None
    for number, line in enumerate(source_of(file).splitlines(), 1):
        if started := re.match(r"kernel void (\w+)\(", line):
            name, fault, other = started[1], None, None
        if marked := re.search(rf"// ([a-z-]+) {_THREAD}", line):
            if marked[1] != "other":
                fault = (marked[1], number, tuple(map(int, marked.groups()[1:])))
        if marked := re.search(rf"\bother {_THREAD}( returned)?", line):
            other = (None if marked[4] else number, tuple(map(int, marked.groups()[:3])))
        if line == "}" and name:
            found[name] = Expected(*fault, *(other or (None, None))) if fault else None
    return found


FILES = sorted(path.stem for path in KERNELS.glob("*.metal"))
EXPECTED = {(file, name): what for file in FILES for name, what in expectations(file).items()}
BROKEN = [key for key, expected in EXPECTED.items() if expected is not None]
RIGHT = [key for key, expected in EXPECTED.items() if expected is None]


@dataclass
class Bench:
    """An open device in checked mode with the broken kernels."""

    device: gm.Device
    backend: gm.Backend
    libraries: dict[str, gm.Library] = field(default_factory=dict)

    def run(self, file: str, kernel: str, threadgroup_bytes: int = 256) -> list[gm.checked.Report]:
        if file not in self.libraries:
            self.libraries[file] = self.device.library_from_source(source_of(file))
        with self.device.context() as context:
            src = context.from_numpy(np.arange(128, dtype=np.float32), name="src")
            dst = context.new_tensor("f32", (128,), name="dst")
            counter = context.from_numpy(np.zeros(1, np.int32), name="counter")
            self.backend.alloc(context)
            with gm.checked.watching(self.device, [src, counter], [dst]) as found:
                with self.device.encoder() as encoder:
                    encoder.set_pipeline(self.libraries[file].compile_pipeline(kernel))
                    encoder.set_buffer(src, 0)
                    encoder.set_buffer(dst, 1)
                    encoder.set_bytes(np.uint32(128), 2)
                    encoder.set_buffer(counter, 3)
                    encoder.set_threadgroup_memory_size(threadgroup_bytes, 0)
                    encoder.dispatch_threadgroups(2, 64)
            return found


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with gm.open(checked=True) as device, device.backend() as backend:
        yield Bench(device, backend)


def seen(report: gm.checked.Report) -> Expected:
    def thread(party: gm.checked.Party) -> tuple[int, ...]:
        return party.threadgroup[0], party.simdgroup, party.lane

    second = report.second
    return Expected(
        report.kind,
        report.line,
        thread(report.first),
        (second.line or None) if second else None,
        thread(second) if second else None,
    )


@pytest.mark.parametrize(("file", "name"), BROKEN)
def test_a_broken_kernel_gives_its_one_report(bench: Bench, file: str, name: str):
    reports = bench.run(file, name)
    assert [seen(report) for report in reports] == [EXPECTED[file, name]], "\n".join(map(str, reports))
    assert {report.kernel for report in reports} == {name}


@pytest.mark.parametrize(("file", "name"), RIGHT)
def test_a_right_kernel_gives_none(bench: Bench, file: str, name: str):
    reports = bench.run(file, name)
    assert not reports, "\n".join(map(str, reports))
