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
        if (marked := re.search(rf"// ([a-z-]+) {_THREAD}", line)) and marked[1] != "other":
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
            watched = gm.checked.watching(self.device, [src, counter], [dst])
            with watched as found, self.device.encoder() as encoder:
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


def test_a_report_reads_well(bench: Bench):
    (report,) = bench.run("outside", "store_one_beyond")
    assert str(report) == (
        "out-of-bounds in store_one_beyond at byte 512 of dst, which is outside (512 bytes)\n"
        "  lane 31 of simdgroup 1 in threadgroup (1, 0, 0) writes 4 bytes in line "
        f"{report.line}: dst[i + 1] = src[i]; // out-of-bounds 1.1.31"
    )


def test_a_length_of_threadgroup_memory_is_a_multiple_of_16(bench: Bench):
    with bench.device.context() as context:
        rows = context.from_numpy(np.ones((1, 1), np.float32))
        total = gm.ops.apply("sum", rows, context=context, ndim=1)  # upstream asks for 4 bytes
        bench.backend.alloc(context)
        (report,) = gm.checked.compute(bench.backend, total)
    assert (report.kind, report.kernel) == (gm.checked.THREADGROUP_LENGTH, "kernel_op_sum_f32")
    assert report.region is not None
    assert report.region.bytes == 4


def test_a_graph_of_right_kernels_gives_no_report(bench: Bench):
    rng = np.random.default_rng(1)
    with bench.device.context() as context:
        a = context.from_numpy(rng.standard_normal((3, 5, 64), dtype=np.float32))
        b = context.from_numpy(rng.standard_normal((1, 5, 64), dtype=np.float32))
        result = gm.ops.mul(gm.ops.rms_norm(gm.ops.add(a, b), 1e-5), b)
        bench.backend.alloc(context)
        assert gm.checked.compute(bench.backend, result) == []
        x = a.numpy() + b.numpy()
        expected = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * b.numpy()
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_the_tail_of_an_odd_number_of_rows_is_read_out_of_bounds(bench: Bench):
    """Upstream's kernel_mul_mv_q4_0_f32 takes rows by four, and reads those that are not there."""
    with bench.device.context() as context:
        weights = context.from_numpy(np.ones((33, 256), np.float32), "q4_0", name="weights")
        product = gm.ops.mul_mat(weights, context.from_numpy(np.ones((1, 256), np.float32)))
        bench.backend.alloc(context)
        reports = gm.checked.compute(bench.backend, product)
        np.testing.assert_allclose(product.numpy(), np.full((1, 33), 256.0), rtol=1e-3)
    assert {report.kind for report in reports} == {gm.checked.OUT_OF_BOUNDS}
    assert {report.region.name for report in reports if report.region} == {"weights"}
    assert {report.first.access for report in reports} == {"reads"}


def test_checked_mode_ends_with_its_device(bench: Bench):
    native = bench.device._native
    with gm.open(checked=True):
        assert native.softmetal_checked() == 1
    assert native.softmetal_checked() == 1  # the bench's own device is still open


def test_one_watch_at_a_time(bench: Bench):
    with bench.device.context() as context:
        a = context.from_numpy(np.ones(4, np.float32))
        bench.backend.alloc(context)
        with (
            gm.checked.watching(bench.device, [a]),
            pytest.raises(ValueError, match="one at a time"),
            gm.checked.watching(bench.device, [a]),
        ):
            pass


def test_compute_needs_a_device_in_checked_mode():
    with gm.open() as device, device.backend() as backend, device.context() as context:
        result = gm.ops.gelu(context.from_numpy(np.ones(4, np.float32)))
        backend.alloc(context)
        with pytest.raises(ValueError, match=r"gm.open\(checked=True\)"):
            gm.checked.compute(backend, result)
