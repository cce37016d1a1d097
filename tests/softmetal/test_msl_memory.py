"""Threadgroup memory, barriers and atomics."""

import threading

import numpy as np
import pytest
from kernel_library import KernelLibrary
from msl_build import build_kernels, build_source

from ggml_metal_py.softmetal.msl.errors import MslError


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    return build_kernels("memory", tmp_path_factory.mktemp("kernels"))


def test_variables_lie_apart_and_aligned(kernels: KernelLibrary):
    src = np.arange(1, 33, dtype=np.float32)
    dst, offsets = np.zeros((40, 4), np.float32), np.zeros(5, np.uint32)
    kernels("variables", [src, dst, offsets], threads=40)
    i = np.arange(40)
    np.testing.assert_array_equal(dst[:, 0], src[i % 5])
    np.testing.assert_array_equal(dst[:, 1], src[4 * (i % 3) + 1] + src[11])
    np.testing.assert_array_equal(dst[:, 2], src[12] + src[13] + src[14])
    np.testing.assert_array_equal(dst[:, 3], src[16 + 3 - i % 4])
    # 5 bytes; 3 vectors; 1 vector; 2 structs of 32 bytes; then two scopes that follow each other.
    assert offsets.tolist() == [16, 64, 144, 144, 80]


def test_the_size_of_a_kernels_own_variables_is_known(kernels: KernelLibrary):
    expected = {
        "variables": 160, "arguments": 4, "typed_float": 800, "typed_short": 28, "no_variable": 0,
        "histogram": 68, "rotate_values": 0,
    }  # fmt: skip
    assert {name: kernels.kernels[name].static_tg_bytes for name in expected} == expected


def test_a_function_cannot_have_variables_in_threadgroup_memory(tmp_path):
    source = "static void f(device float * p) {\n    threadgroup float x[4];\n    x[0] = p[0];\n}\n"
    with pytest.raises(MslError, match=r"source.metal:4: error: f: only kernels"):
        build_source(source + "kernel void k(device float * dst) { f(dst); }\n", tmp_path)


@pytest.mark.parametrize("threads", [1, 5, 33, 128])
def test_arguments_in_threadgroup_memory(kernels: KernelLibrary, threads: int):
    src = np.arange(1, threads + 1, dtype=np.float32)
    dst = np.zeros_like(src)
    kernels("arguments", [src, dst], threads=threads, threadgroup_bytes=[0, 4 * threads, 0, 0, 8 * threads])
    np.testing.assert_array_equal(dst, src.sum() - src[::-1] + 100)


@pytest.mark.parametrize(
    ("name", "dtype", "n"), [("typed_float", np.float32, 200), ("typed_short", np.int16, 14)]
)
def test_variables_of_a_template(kernels: KernelLibrary, name: str, dtype: type, n: int):
    dst = np.zeros(n, dtype)
    kernels(name, [dst], threads=32)
    np.testing.assert_array_equal(dst, np.arange(n)[::-1])


@pytest.mark.parametrize("name", ["rotate_values", "rotate_swapping"])
@pytest.mark.parametrize("threads", [1, 31, 33, 100, 1000])
@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_barriers_in_loops(kernels: KernelLibrary, name: str, threads: int, rounds: int):
    dst = np.zeros(threads, np.int32)
    kernels(name, [np.array([rounds], np.int32), dst], threads=threads, threadgroup_bytes=[8 * threads])
    np.testing.assert_array_equal(dst, (np.arange(threads) + rounds) % threads)


@pytest.mark.parametrize("threads", [1, 33, 64, 1000])
def test_barriers_do_not_wait_for_lanes_that_returned(kernels: KernelLibrary, threads: int):
    src = np.random.default_rng(15).integers(-5, 6, threads).astype(np.int32)
    src[:33] = -1  # the first simdgroup as a whole, and the first lane of the second
    dst = np.full(threads, -1, np.int32)
    kernels("barrier_without_all", [src, dst], threads=threads, threadgroup_bytes=[4 * threads])
    stay = src >= 0
    np.testing.assert_array_equal(dst[stay], src[stay].sum())
    np.testing.assert_array_equal(dst[~stay], -1)


@pytest.mark.parametrize("threads", [2, 32, 50, 1000])
def test_lanes_at_different_barriers_go_on_together(kernels: KernelLibrary, threads: int):
    dst = np.zeros(threads, np.int32)
    kernels("different_barriers", [dst], threads=threads, threadgroup_bytes=[4 * threads])
    i = np.arange(threads)
    third = i % 3 == 0
    others = np.add.reduceat(~third, np.arange(0, threads, 32))[i // 32]  # in the same simdgroup
    written = np.where(third, i, i + others)
    np.testing.assert_array_equal(dst, np.where(third, written[::-1], -written[::-1]))


def test_device_memory_within_a_threadgroup(kernels: KernelLibrary):
    scratch, dst = np.zeros((2, 3, 50), np.int32)
    kernels("device_memory", [scratch, dst], grid=3, threads=50)
    np.testing.assert_array_equal(dst, np.tile((np.arange(50) ** 2)[::-1], (3, 1)))


def on_threads(
    kernels: KernelLibrary, name: str, arguments: list, grid: int, threads: int, n: int = 4
) -> None:
    """The grid in chunks, on `n` threads with a worker each."""
    dispatch = kernels.prepare(name, arguments, grid=grid, threads=threads)
    chunks = iter(range(grid))
    lock = threading.Lock()
    failures = []

    def work() -> None:
        own = KernelLibrary.__new__(KernelLibrary)
        own.__dict__.update(kernels.__dict__, worker=kernels.table.worker_new())
        try:
            while True:
                with lock:
                    first = next(chunks, None)
                if first is None:
                    break
                own.run(dispatch, first, 1)
        except Exception as failure:
            failures.append(failure)
        own.close()

    workers = [threading.Thread(target=work) for _ in range(n)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


def test_atomics_lose_nothing_between_threads(kernels: KernelLibrary):
    grid, threads = 64, 1000
    n = grid * threads
    ints, uints = np.array([5, 5, 999, 0, 0], np.int32), np.array([0, 2**32 - 1, 0, 0], np.uint32)
    floats, longs = np.zeros(2, np.float32), np.array([0, 2**63], np.uint64)
    on_threads(kernels, "count_up", [ints, uints, floats, longs], grid, threads)
    i = np.arange(n)
    assert ints[:4].tolist() == [5 + n, 5 - 2 * n, 1000 - (n - 1), n - 1]
    assert ints[4] == (n * 0x70000000 + 2**31) % 2**32 - 2**31
    assert uints.tolist() == [2**32 - 1, 2**31, np.bitwise_xor.reduce(i), n * 0x10000000 % 2**32]
    assert floats.tolist() == [n / 2, -n]
    assert longs.tolist() == [(n - 1) << 33, 0]


def test_every_ticket_is_handed_out_once(kernels: KernelLibrary):
    counter, dst = np.zeros(1, np.uint32), np.zeros(64 * 1000, np.uint32)
    on_threads(kernels, "tickets", [counter, dst], 64, 1000)
    np.testing.assert_array_equal(np.sort(dst), np.arange(len(dst)))


def test_exchanges(kernels: KernelLibrary):
    a, dst = np.array([3], np.int32), np.zeros(6, np.int32)
    kernels("exchanges", [a, dst, a], threads=1)
    assert dst.tolist() == [3, 7, 9, 0, 11, 11]
    assert a[0] == 11


def test_atomics_in_threadgroup_memory(kernels: KernelLibrary):
    src = np.random.default_rng(16).integers(0, 250, 20000).astype(np.uint8)
    dst = np.zeros(17, np.uint32)
    on_threads(kernels, "histogram", [src, dst, np.array([len(src)], np.uint32)], 8, 100)
    np.testing.assert_array_equal(dst[:16], np.bincount(src % 16, minlength=16))
    assert dst[16] == src.max()


@pytest.mark.parametrize("byte", [0, 0x4B, 0xFF])
def test_threadgroup_memory_holds_the_byte_asked_for(kernels: KernelLibrary, byte: int):
    dst = np.full((3, 48 + 16 + 80), 7, np.uint8)
    kernels("beginning", [dst], grid=3, threads=1, threadgroup_bytes=[16, 0, 0, 80], fill=byte)
    np.testing.assert_array_equal(dst, byte)


def test_without_one_it_holds_what_is_left(kernels: KernelLibrary):
    dst = np.full((2, 48 + 16 + 80), 7, np.uint8)
    memory = [16, 0, 0, 80]
    kernels("beginning", [dst[:1]], threads=1, threadgroup_bytes=memory, fill=9)
    kernels("beginning", [dst[1:]], threads=1, threadgroup_bytes=memory)
    np.testing.assert_array_equal(dst[1], np.repeat([1, 2, 3], [48, 16, 80]))
