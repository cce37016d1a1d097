"""Dispatching by hand: kernels of our own and of upstream against numpy, misuse, threads, lifetimes."""

import gc
import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from fresh_python import ROOT, run_python

import ggml_metal_py as gm
from ggml_metal_py import kargs, ops
from ggml_metal_py.getters.rows import ROWS

SOURCE = """
#include <metal_stdlib>
using namespace metal;

struct scaling { float factor; int offset; };

kernel void scale(
        constant scaling & args [[buffer(0)]],
        device const float * src [[buffer(1)]],
        device float * dst [[buffer(2)]],
        uint i [[thread_position_in_grid]]) {
    dst[i] = args.factor * src[i] + args.offset;
}

// The sum of each threadgroup's values.
kernel void sums(
        device const float * src [[buffer(0)]],
        device float * dst [[buffer(1)]],
        threadgroup float * partial [[threadgroup(0)]],
        uint group [[threadgroup_position_in_grid]],
        uint i [[thread_position_in_threadgroup]],
        uint threads [[threads_per_threadgroup]]) {
    partial[i] = src[group * threads + i];
    for (uint n = threads / 2; n > 0; n /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (i < n) {
            partial[i] += partial[i + n];
        }
    }
    if (i == 0) {
        dst[group] = partial[0];
    }
}

kernel void where(
        device int * dst [[buffer(30)]],
        uint3 at [[thread_position_in_grid]],
        uint3 size [[threads_per_grid]]) {
    dst[at.x + size.x * (at.y + size.y * at.z)] = at.x + 100 * at.y + 10000 * at.z;
}

kernel void count(device int * dst [[buffer(0)]]) { dst[0] += 1; }

kernel void wide(threadgroup float * a [[threadgroup(0)]], threadgroup float * b [[threadgroup(1)]]) {
    a[0] = b[0];
}
"""
VALUES = np.arange(64, dtype=np.float32)

Make = Callable[..., tuple[gm.Tensor, ...]]


@pytest.fixture(scope="module")
def library(device: gm.Device) -> Iterator[gm.Library]:
    with gm.Library.from_source(device, SOURCE) as made:
        yield made


@pytest.fixture
def tensors(backend: gm.Backend, context: gm.Context) -> Make:
    """Tensors with these values and memory."""

    def make(*arrays: npt.ArrayLike) -> tuple[gm.Tensor, ...]:
        made = tuple(context.from_numpy(array) for array in arrays)
        backend.alloc(context)
        return made

    return make


def scaling(factor: float, offset: int) -> npt.NDArray[Any]:
    return np.array([(factor, offset)], dtype=[("factor", "f4"), ("offset", "i4")])


def encode_scale(
    encoder: gm.Encoder,
    library: gm.Library,
    src: gm.Tensor | None,
    dst: gm.Tensor,
    factor: float,
    offset: int,
) -> None:
    """dst = factor * src + offset, of 64 values."""
    encoder.set_pipeline(library.compile_pipeline("scale"))
    encoder.set_bytes(scaling(factor, offset), 0)
    if src is not None:
        encoder.set_buffer(src, 1)
    encoder.set_buffer(dst, 2)
    encoder.dispatch_threadgroups(2, 32)


def encode_one(encoder: gm.Encoder, pipeline: gm.Pipeline) -> None:
    encoder.set_pipeline(pipeline)
    encoder.dispatch_threadgroups(1, 1)


def encode_count(encoder: gm.Encoder, library: gm.Library, dst: gm.Tensor) -> None:
    """dst[0] += 1"""
    encoder.set_pipeline(library.compile_pipeline("count"))
    encoder.set_buffer(dst, 0)
    encoder.dispatch_threadgroups(1, 1)


# ---- what it computes


def test_bytes_and_buffers_reach_the_kernel(device: gm.Device, library: gm.Library, tensors: Make) -> None:
    src, dst = tensors(VALUES, np.zeros_like(VALUES))
    with device.encoder() as encoder:
        encode_scale(encoder, library, src, dst, 0.5, 3)
        assert not dst.numpy().any()  # it runs when the block ends
    np.testing.assert_array_equal(dst.numpy(), 0.5 * VALUES + 3)


@pytest.mark.parametrize("concurrent", [False, True])
def test_a_dispatch_sees_what_one_before_the_barrier_wrote(
    concurrent: bool, device: gm.Device, library: gm.Library, tensors: Make
) -> None:
    src, scaled, dst = tensors(VALUES, np.zeros_like(VALUES), np.zeros(4, np.float32))
    with device.encoder(concurrent=concurrent) as encoder:
        encoder.debug_group_push("scale and sum")
        encode_scale(encoder, library, src, scaled, 2, 0)
        encoder.memory_barrier()
        encoder.set_pipeline(library.compile_pipeline("sums"))
        encoder.set_buffer(scaled, 0)
        encoder.set_buffer(dst, 1)
        encoder.set_threadgroup_memory_size(16 * 4, 0)
        encoder.dispatch_threadgroups((4, 1, 1), (16, 1, 1))
        encoder.debug_group_pop()
    np.testing.assert_array_equal(dst.numpy(), (2 * VALUES).reshape(4, 16).sum(1))


def test_grid_and_threads_have_three_axes(device: gm.Device, library: gm.Library, tensors: Make) -> None:
    (dst,) = tensors(np.full((3 * 2, 2 * 3, 5 * 4), -1, np.int32))
    with device.encoder() as encoder:
        encoder.set_pipeline(library.compile_pipeline("where"))
        encoder.set_buffer(dst, 30)
        encoder.dispatch_threadgroups([5, 2, np.int64(3)], (4, 3, 2))
    z, y, x = np.indices((6, 6, 20))
    np.testing.assert_array_equal(dst.numpy(), x + 100 * y + 10000 * z)


def test_a_buffer_is_bound_from_an_offset_and_a_view_from_its_own(
    device: gm.Device, library: gm.Library, backend: gm.Backend, context: gm.Context
) -> None:
    src, dst = context.from_numpy(VALUES.reshape(2, 32)), context.from_numpy(np.zeros(64, np.float32))
    second_half = ops.view(dst, (32,), offset=32 * 4)
    backend.alloc(context)
    with device.encoder() as encoder:
        encoder.set_pipeline(library.compile_pipeline("scale"))
        encoder.set_bytes(scaling(1, 1), 0)
        encoder.set_buffer(src, 1, offset=32 * 4)
        encoder.set_buffer(second_half, 2)
        encoder.dispatch_threadgroups(1, 32)
    np.testing.assert_array_equal(dst.numpy(), np.concatenate([np.zeros(32), VALUES[32:] + 1]))


def test_what_is_dispatched_once_runs_once(device: gm.Device, library: gm.Library, tensors: Make) -> None:
    (dst,) = tensors(np.zeros(1, np.int32))
    for times in (1, 3):
        with device.encoder() as encoder:
            for _ in range(times):
                encode_count(encoder, library, dst)
                encoder.memory_barrier()
            encoder.end_encoding()
    assert dst.numpy() == 4


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (b"\x01\x02\x03\x04", "u1"),
        (bytearray(b"\x01\x02"), "u1"),
        (memoryview(b"\x01\x02"), "u1"),
        (np.int32(-7), "i4"),
        (np.float16(0.5), "f2"),
        (np.bool_(True), "?"),
        (np.arange(6, dtype=np.int16).reshape(2, 3), "i2"),
        (np.array(3.5), "f8"),
    ],
)
def test_bytes_come_from_whatever_has_them(data: Any, dtype: str, device: gm.Device) -> None:
    with device.encoder() as encoder:
        encoder.set_bytes(data, 0)
        ((_, (kept, size, _)),) = encoder._calls
        given = np.frombuffer(bytes(device._native.ffi.buffer(kept, size)), dtype)
    np.testing.assert_array_equal(given, np.frombuffer(np.asarray(data).tobytes(), dtype))


def test_bytes_are_those_of_the_call(device: gm.Device, library: gm.Library, tensors: Make) -> None:
    src, dst = tensors(VALUES, np.zeros_like(VALUES))
    arguments = scaling(1, 5)
    with device.encoder() as encoder:
        encoder.set_pipeline(library.compile_pipeline("scale"))
        encoder.set_bytes(arguments, 0)
        arguments[:] = 0
        encoder.set_buffer(src, 1)
        encoder.set_buffer(dst, 2)
        encoder.dispatch_threadgroups(2, 32)
    np.testing.assert_array_equal(dst.numpy(), VALUES + 5)


# ---- upstream's kernels, dispatched as upstream does it


def bin_kargs(device: gm.Device, op: gm.Tensor, a: gm.Tensor, b: gm.Tensor, c4: bool) -> bytes:
    sizes = {}
    for prefix, tensor in (("0", a), ("1", b), ("", op)):
        for axis in range(4):
            sizes[f"ne{prefix}{axis}"] = tensor.ne[axis] // (4 if c4 and axis == 0 else 1)
            sizes[f"nb{prefix}{axis}"] = tensor.nb[axis]
    return device.kargs("bin", **sizes, o1=[0])


@pytest.mark.parametrize(
    ("left", "right"),
    [((3, 5, 8), (3, 5, 8)), ((3, 5, 8), (8,)), ((3, 5, 7), (5, 1)), ((2, 2, 5, 512), (2, 1, 5, 512))],
)
def test_upstreams_addition_by_hand(
    left: tuple[int, ...],
    right: tuple[int, ...],
    device: gm.Device,
    backend: gm.Backend,
    context: gm.Context,
) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=left).astype(np.float32), rng.normal(size=right).astype(np.float32)
    a, b = context.from_numpy(x), context.from_numpy(y)
    op = ops.add(a, b)
    backend.alloc(context)
    pipeline = device.library.get_pipeline_bin(op, 1)
    rows = x.size // left[-1]
    with device.encoder() as encoder:
        encoder.set_pipeline(pipeline)
        encoder.set_bytes(bin_kargs(device, op, a, b, bool(pipeline.c4)), 0)
        encoder.set_buffer(a, 1)
        encoder.set_buffer(b, 2)
        encoder.set_buffer(op, 3)
        if pipeline.cnt:
            encoder.dispatch_threadgroups((left[-1] // (4 if pipeline.c4 else 1), rows, 1), 1)
        else:
            encoder.dispatch_threadgroups(a.ne[1:], 4)
    np.testing.assert_array_equal(op.numpy(), x + y)


def test_upstreams_matrix_vector_product_by_hand(
    device: gm.Device, backend: gm.Backend, context: gm.Context
) -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(20, 128)).astype(np.float32), rng.normal(size=(3, 128)).astype(np.float32)
    a, b = context.from_numpy(x, "q8_0"), context.from_numpy(y)
    op = ops.mul_mat(a, b)
    backend.alloc(context)
    pipeline = device.library.get_pipeline_mul_mv(op)
    sizes = {
        f"{kind}{prefix}{axis}": value
        for prefix, tensor in (("0", a), ("1", b))
        for kind, values in (("ne", tensor.ne), ("nb", tensor.nb))
        for axis, value in enumerate(values)
        if (kind, prefix, axis) not in {("ne", "0", 3), ("ne", "1", 3)}  # the kernel does not need them
    }
    arguments = device.kargs("mul_mv", **sizes, ne0=op.ne[0], ne1=op.ne[1], nr0=pipeline.nr0, r2=1, r3=1)
    with device.encoder() as encoder:
        encoder.set_pipeline(pipeline)
        encoder.set_bytes(arguments, 0)
        for i, tensor in enumerate((a, b, op), start=1):
            encoder.set_buffer(tensor, i)
        encoder.set_threadgroup_memory_size(pipeline.smem, 0)
        encoder.dispatch_threadgroups((-(-20 // pipeline.nr0), 3, 1), (32, pipeline.nsg, 1))
    np.testing.assert_allclose(op.numpy(), y @ a.numpy().T, rtol=1e-4, atol=1e-4)


# ---- argument structs


def test_kargs_have_the_fields_where_the_compiler_puts_them(device: gm.Device) -> None:
    values = {"ne00": -5, "nb03": 2**40, "ne3": 2**31 - 1, "o1": np.arange(1, 9)}
    packed = device.kargs("bin", **values)
    ffi = device._native.ffi
    assert len(packed) == ffi.sizeof("ggml_metal_kargs_bin")
    read = ffi.from_buffer("ggml_metal_kargs_bin *", packed)
    assert (read.ne00, read.nb03, read.ne3, list(read.o1)) == (-5, 2**40, 2**31 - 1, list(range(1, 9)))
    assert (read.ne01, read.offs) == (0, 0)
    assert device.kargs("bin", o1=(7,))[-64:] == np.array([7, 0, 0, 0, 0, 0, 0, 0], "<u8").tobytes()
    assert device.kargs("bin") == bytes(len(packed))


@pytest.mark.parametrize("row", ROWS)
def test_every_argument_struct_of_the_rows_header_is_known(row: str) -> None:
    with gm.open(upstream=row) as device:
        header = ROOT / "build" / "upstream" / row / "src" / "ggml-metal" / "ggml-metal-impl.h"
        declared = re.findall(r"^} ggml_metal_kargs_(\w+);", header.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(declared) > 40
        for name in declared:
            assert device.kargs(name)
        assert len(kargs._structs(device._native)) == len(set(declared))


def test_kargs_have_floats_and_bools(device: gm.Device) -> None:
    ffi = device._native.ffi
    read = ffi.from_buffer("ggml_metal_kargs_soft_max *", device.kargs("soft_max", scale=np.float32(0.5)))
    assert read.scale == 0.5
    fields = dict(ffi.typeof("ggml_metal_kargs_rope").fields)
    assert fields["src2"].type.cname == "_Bool"
    assert ffi.from_buffer("ggml_metal_kargs_rope *", device.kargs("rope", src2=True)).src2 is True


@pytest.mark.parametrize(
    ("name", "fields", "kind", "text"),
    [
        ("addition", {}, ValueError, r"no ggml_metal_kargs_addition; there are: .*bin, .*soft_max"),
        ("bin *", {}, ValueError, "there are"),
        ("bin", {"ne0": 1, "neo": 1}, ValueError, r"no field neo; there are: ne00, .*o1"),
        ("bin", {"ne00": 2**31}, ValueError, "ggml_metal_kargs_bin.*2147483648"),
        ("bin", {"nb00": -1}, ValueError, "ggml_metal_kargs_bin"),
        ("bin", {"ne00": 1.5}, TypeError, "ne00 takes a value of type int32_t, not 1.5"),
        ("bin", {"ne00": np.float32(1)}, TypeError, "ne00 takes a value of type int32_t"),
        ("bin", {"o1": 1}, ValueError, "o1 takes a sequence of at most 8"),
        ("bin", {"o1": range(9)}, ValueError, "o1 takes a sequence of at most 8"),
        ("soft_max", {"scale": "much"}, TypeError, "scale takes a value of type float"),
    ],
)
def test_kargs_that_no_kernel_takes_are_refused(
    name: str, fields: dict[str, Any], kind: type[Exception], text: str, device: gm.Device
) -> None:
    with pytest.raises(kind, match=text):
        device.kargs(name, **fields)


# ---- misuse


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda e: e.dispatch_threadgroups(1, 1), "needs a pipeline"),
        (lambda e: e.set_bytes(b"", 0), "1 to 4096 bytes, not 0"),
        (lambda e: e.set_bytes(bytes(4097), 0), "1 to 4096 bytes, not 4097"),
        (lambda e: e.set_bytes(b"1234", 31), "0 to 30, not 31"),
        (lambda e: e.set_bytes(b"1234", -1), "0 to 30, not -1"),
        (lambda e: e.set_bytes(np.arange(8)[::2], 0), "contiguous"),
        (lambda e: e.set_bytes(memoryview(b"12345678")[::2], 0), "contiguous"),
        (lambda e: e.set_threadgroup_memory_size(16, 31), "0 to 30, not 31"),
        (lambda e: e.set_threadgroup_memory_size(-1, 0), "0 to 32768 bytes on this device, not -1"),
        (lambda e: e.set_threadgroup_memory_size(32769, 0), "not 32769"),
        (lambda e: e.debug_group_pop(), "no debug group is open"),
        (lambda e: e.debug_group_push("a\0b"), "NUL"),
    ],
)
def test_what_cannot_be_encoded_is_refused(
    call: Callable[[gm.Encoder], None], text: str, device: gm.Device
) -> None:
    with device.encoder() as encoder, pytest.raises(ValueError, match=text):
        call(encoder)


@pytest.mark.parametrize(
    ("grid", "threads", "text"),
    [
        (0, 1, "threadgroups: three numbers"),
        ((1, 1), 1, r"threadgroups: three numbers .* not \(1, 1\)"),
        ((1, -1, 1), 1, "threadgroups: three numbers"),
        (2**31, 1, "threadgroups: three numbers"),
        (1, 0, "threads_per_threadgroup: three numbers"),
        (1, (32, 32, 2), r"has at most 1024 threads, not 2048: \(32, 32, 2\)"),
    ],
)
def test_a_grid_that_no_device_has_is_refused(
    grid: Any, threads: Any, text: str, device: gm.Device, library: gm.Library, tensors: Make
) -> None:
    (dst,) = tensors(np.zeros(1, np.int32))
    with device.encoder() as encoder:
        encoder.set_pipeline(library.compile_pipeline("count"))
        encoder.set_buffer(dst, 0)
        with pytest.raises(ValueError, match=text):
            encoder.dispatch_threadgroups(grid, threads)
    assert dst.numpy() == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda e: e.set_bytes(4, 0),
        lambda e: e.set_bytes("text", 0),
        lambda e: e.set_bytes(np.array([None]), 0),
        lambda e: e.set_bytes(b"1234", 0.5),
        lambda e: e.set_buffer(np.zeros(4), 0),
        lambda e: e.set_pipeline("kernel_add"),
        lambda e: e.set_threadgroup_memory_size(1.5, 0),
        lambda e: e.dispatch_threadgroups(1.5, 1),
        lambda e: e.dispatch_threadgroups("abc", 1),
    ],
)
def test_arguments_of_other_types_are_refused(call: Callable[[Any], None], device: gm.Device) -> None:
    with device.encoder() as encoder, pytest.raises(TypeError):
        call(encoder)


def test_threadgroup_memory_is_rounded_to_what_metal_takes(device: gm.Device) -> None:
    with device.encoder() as encoder:
        encoder.set_threadgroup_memory_size(136, 0)
        encoder.set_threadgroup_memory_size(0, 1)
        assert encoder._calls == [
            ("set_threadgroup_memory_size", (144, 0)),
            ("set_threadgroup_memory_size", (0, 1)),
        ]


def test_threadgroup_memory_is_limited_in_total(device: gm.Device, library: gm.Library) -> None:
    with device.encoder() as encoder:
        encoder.set_pipeline(library.compile_pipeline("wide"))
        encoder.set_threadgroup_memory_size(20000, 0)
        encoder.set_threadgroup_memory_size(20000, 1)
        with pytest.raises(ValueError, match=r"has 32768 bytes of threadgroup memory, set are 40000"):
            encoder.dispatch_threadgroups(1, 1)
        encoder.set_threadgroup_memory_size(16, 1)
        encoder.dispatch_threadgroups(1, 1)


def test_tensors_without_memory_of_the_device_are_refused(device: gm.Device) -> None:
    with device.context() as context, device.cpu_backend() as cpu, device.encoder() as encoder:
        tensor = context.from_numpy(VALUES)
        with pytest.raises(ValueError, match="has no memory yet"):
            encoder.set_buffer(tensor, 0)
        cpu.alloc(context)
        with pytest.raises(ValueError, match="is in CPU memory, which the encoder's device cannot use"):
            encoder.set_buffer(tensor, 0)
        encoder.end_encoding()


@pytest.mark.parametrize("offset", [-1, 256, 10**30])
def test_an_offset_outside_of_the_tensor_is_refused(offset: int, device: gm.Device, tensors: Make) -> None:
    (tensor,) = tensors(VALUES)
    with device.encoder() as encoder, pytest.raises(ValueError, match=f"has 256 bytes.*not {offset}"):
        encoder.set_buffer(tensor, 0, offset)


def test_an_encoder_is_used_once_and_in_its_block(device: gm.Device) -> None:
    encoder = device.encoder()
    with pytest.raises(ValueError, match="inside its block"):
        encoder.memory_barrier()
    with encoder:
        encoder.end_encoding()
        encoder.end_encoding()
        with pytest.raises(ValueError, match="the encoding has ended"):
            encoder.memory_barrier()
    for call in (encoder.memory_barrier, encoder.end_encoding):
        with pytest.raises(ValueError, match="the encoding has ended"):
            call()
    with pytest.raises(ValueError, match="encodes once"), encoder:
        pass


def test_what_is_closed_is_refused(device: gm.Device, tensors: Make) -> None:
    (tensor,) = tensors(VALUES)
    with gm.Library.from_source(device, SOURCE) as library:
        pipeline = library.compile_pipeline("count")
    with device.encoder() as encoder:
        with pytest.raises(gm.ClosedError):
            encoder.set_pipeline(pipeline)
        tensor.context.close()
        with pytest.raises(gm.ClosedError):
            encoder.set_buffer(tensor, 0)
    with gm.open() as other:
        encoder = other.encoder()
    with pytest.raises(gm.ClosedError), encoder:
        pass
    with pytest.raises(gm.ClosedError):
        other.encoder()


def test_another_thread_cannot_use_the_encoder(device: gm.Device) -> None:
    failures = []

    def work() -> None:
        try:
            encoder.memory_barrier()
        except ValueError as error:
            failures.append(str(error))

    with device.encoder() as encoder:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert failures == ["an Encoder is used by the thread that entered its block; make one for each"]


def test_a_pipeline_that_is_only_a_description_is_refused(device: gm.Device) -> None:
    described = gm.Pipeline("a", "a", 1, 1, 1, 0, None, None, 1024)
    with device.encoder() as encoder, pytest.raises(ValueError, match="only a description"):
        encoder.set_pipeline(described)


def test_things_of_another_row_are_refused(device: gm.Device) -> None:
    row = "whisper.rn-0.5.5"
    with gm.open(upstream=row) as other, other.context() as context, device.encoder() as encoder:
        with pytest.raises(ValueError, match=row):
            encoder.set_pipeline(other.library.compile_pipeline("kernel_repeat_f32"))
        with pytest.raises(ValueError, match=row):
            encoder.set_buffer(context.new_tensor("f32", (4,)), 0)


def test_another_device_object_of_the_same_device_will_do(
    device: gm.Device, library: gm.Library, tensors: Make
) -> None:
    (dst,) = tensors(np.zeros(1, np.int32))
    with gm.open() as other, other.encoder() as encoder:
        encode_count(encoder, library, dst)
    assert dst.numpy() == 1


# ---- what the device tells


def test_an_argument_to_which_nothing_is_bound_is_an_error(
    device: gm.Device, library: gm.Library, tensors: Make
) -> None:
    src, dst = tensors(VALUES, np.zeros_like(VALUES))
    encoder = device.encoder()
    text = "kernel scale: nothing is bound to its buffer argument src at index 1"
    with pytest.raises(gm.ComputeError, match=text), encoder:
        encode_scale(encoder, library, None, dst, 1, 0)
    assert not dst.numpy().any()
    with device.encoder() as encoder:  # the device goes on
        encode_scale(encoder, library, src, dst, 1, 0)
    np.testing.assert_array_equal(dst.numpy(), VALUES)


def test_a_kernel_without_source_cannot_run() -> None:
    with gm.open(upstream="whisper.rn-0.5.2") as device:
        encoder = device.encoder()
        with pytest.raises(gm.ComputeError, match=r"kernel_repeat_f32.* no source to compile"), encoder:
            encode_one(encoder, device.library.compile_pipeline("kernel_repeat_f32"))


@pytest.mark.parametrize("row", ROWS[1:])
def test_every_row_with_kernels_dispatches(row: str) -> None:
    with (
        gm.open(upstream=row) as device,
        gm.Library.from_source(device, SOURCE) as library,
        device.backend() as backend,
        device.context() as context,
    ):
        src, dst = context.from_numpy(VALUES), context.from_numpy(np.zeros_like(VALUES))
        backend.alloc(context)
        with device.encoder() as encoder:
            encode_scale(encoder, library, src, dst, 2, 1)
        np.testing.assert_array_equal(dst.numpy(), 2 * VALUES + 1)
        assert len(device.kargs("repeat", ne00=64)) > 64


# ---- lifetimes


def test_an_exception_abandons_what_was_encoded(
    device: gm.Device, library: gm.Library, backend: gm.Backend, context: gm.Context
) -> None:
    dst = context.from_numpy(np.zeros(1, np.int32))
    buffer = backend.alloc(context)

    def interrupted(encoder: gm.Encoder) -> None:
        encode_count(encoder, library, dst)
        raise KeyboardInterrupt

    encoder = device.encoder()
    with pytest.raises(KeyboardInterrupt), encoder:
        interrupted(encoder)
    with pytest.raises(ValueError, match="the encoding has ended"):
        encoder.dispatch_threadgroups(1, 1)
    assert dst.numpy() == 0
    buffer.close()


def test_closing_what_the_block_uses_is_refused() -> None:
    with gm.open() as own, own.backend() as backend, own.context() as context:
        dst = context.from_numpy(np.zeros(1, np.int32))
        buffer = backend.alloc(context)
        library = gm.Library.from_source(own, SOURCE)
        with own.encoder() as encoder:
            encode_count(encoder, library, dst)
            for used in (buffer, context, library, own):
                with pytest.raises(RuntimeError, match="cannot be closed"):
                    used.close()
                assert not used.closed
        assert dst.numpy() == 1
        buffer.close()
        library.close()


def test_closing_in_another_thread_waits_for_the_block() -> None:
    with gm.open() as own, own.backend() as backend, own.context() as context:
        dst = context.from_numpy(np.zeros(1, np.int32))
        buffer = backend.alloc(context)
        library = gm.Library.from_source(own, SOURCE)
        pipeline = library.compile_pipeline("count")
        threads = [threading.Thread(target=used.close) for used in (buffer, library, own)]
        with own.encoder() as encoder:
            encoder.set_pipeline(pipeline)
            encoder.set_buffer(dst, 0)
            for thread in threads:
                thread.start()
            threads[0].join(0.05)
            assert all(thread.is_alive() for thread in threads)
            encoder.dispatch_threadgroups(1, 1)
        for thread in threads:
            thread.join(10)
        assert buffer.closed
        assert library.closed
        assert own.closed


def test_an_encoder_that_nobody_leaves_lets_go_when_it_is_collected(
    device: gm.Device, backend: gm.Backend, context: gm.Context
) -> None:
    tensor = context.from_numpy(VALUES)
    buffer = backend.alloc(context)
    encoder = device.encoder()
    encoder.__enter__()
    encoder.set_buffer(tensor, 0)
    with pytest.raises(RuntimeError, match="cannot be closed"):
        buffer.close()
    del encoder
    gc.collect()
    buffer.close()


def test_two_encoders_at_once_do_not_meet(device: gm.Device, library: gm.Library) -> None:
    failures: list[BaseException] = []
    barrier = threading.Barrier(4)

    def work(seed: int) -> None:
        try:
            rng = np.random.default_rng(seed)
            with device.backend() as backend:
                for _ in range(20):
                    values = rng.integers(-99, 99, 64).astype(np.float32)
                    with device.context() as context:
                        src = context.from_numpy(values)
                        dst = context.from_numpy(np.zeros_like(values))
                        backend.alloc(context)
                        with device.encoder(concurrent=True) as encoder:
                            barrier.wait(60)  # everybody is inside a block
                            encode_scale(encoder, library, src, dst, seed, seed)
                        np.testing.assert_array_equal(dst.numpy(), seed * values + seed)
        except BaseException as error:
            barrier.abort()
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


OPEN = """
    import os
    import numpy as np
    import ggml_metal_py as gm
    device = gm.open()
    library = gm.Library.from_source(
        device, "kernel void count(device int * dst [[buffer(0)]]) { dst[0] += 1; }"
    )
    backend = device.backend()
    context = device.context()
    dst = context.from_numpy(np.zeros(1, np.int32))
    backend.alloc(context)
    encoder = device.encoder()
    encoder.__enter__()
    encoder.set_pipeline(library.compile_pipeline("count"))
    encoder.set_buffer(dst, 0)
    encoder.dispatch_threadgroups(1, 1)
"""


def test_exit_with_an_open_encoder_is_clean() -> None:
    done = run_python(OPEN)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_forked_child_does_not_run_the_parents_encoder() -> None:
    done = run_python(
        OPEN
        + """
    pid = os.fork()
    try:
        encoder.__exit__(None, None, None)
    except gm.ForkedError:
        os._exit(0 if pid == 0 else 1)
    assert pid != 0
    assert os.waitpid(pid, 0)[1] == 0
    assert dst.numpy() == 1
    """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def resident_kilobytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


def test_encoders_leave_nothing_behind(device: gm.Device, library: gm.Library, tensors: Make) -> None:
    (dst,) = tensors(np.zeros(1, np.int32))
    pipeline = library.compile_pipeline("count")

    def dispatch(fails: bool) -> None:
        with device.encoder() as encoder:
            encoder.set_pipeline(pipeline)
            if not fails:
                encoder.set_buffer(dst, 0)
            encoder.dispatch_threadgroups(1, 1)

    def use(times: int) -> None:
        for _ in range(times):
            dispatch(fails=False)
            with pytest.raises(gm.ComputeError):
                dispatch(fails=True)

    use(50)
    gc.collect()
    before = resident_kilobytes()
    use(200)
    gc.collect()
    assert dst.numpy() == 250
    assert resident_kilobytes() - before < 1024  # a command buffer records into 32 KB, 400 would be 13 MB
