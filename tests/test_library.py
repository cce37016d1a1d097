"""Libraries and pipelines: look up, compile, from source."""

import numpy as np
import pytest

import ggml_metal_py as gm

DOUBLE = """
#include <metal_stdlib>
using namespace metal;
constant int factor [[function_constant(3)]];
kernel void times(device const float * src, device float * dst, uint i [[thread_position_in_grid]]) {
    dst[i] = factor * src[i];
}
kernel void plain(device float * dst, uint i [[thread_position_in_grid]]) { dst[i] = 1; }
"""


def test_a_kernel_compiles_to_a_pipeline_that_is_found_again(device: gm.Device) -> None:
    library = device.library
    made = library.compile_pipeline("kernel_repeat_f32")
    assert made.base == made.name == "kernel_repeat_f32"
    assert made.max_threads_per_threadgroup == 1024
    found = library.get_pipeline("kernel_repeat_f32")
    assert found.max_threads_per_threadgroup == made.max_threads_per_threadgroup
    assert found.base == made.base


def test_a_missing_kernel_is_named(device: gm.Device) -> None:
    with pytest.raises(gm.KernelNotFound, match="kernel_of_dreams") as caught:
        device.library.compile_pipeline("kernel_of_dreams")
    assert caught.value.name == "kernel_of_dreams"


def test_a_pipeline_that_nobody_compiled_is_not_found(device: gm.Device) -> None:
    with pytest.raises(gm.KernelNotFound, match="never_compiled"):
        device.library.get_pipeline("never_compiled")


def test_source_compiles_with_function_constants(device: gm.Device) -> None:
    with gm.Library.from_source(device, DOUBLE) as library:
        constants = gm.ConstantValues().set_int32(3, 2)
        pipeline = library.compile_pipeline("times", "times_factor=2", constants)
        assert pipeline.name == "times_factor=2"
        assert pipeline.constants == (gm.FunctionConstant(3, "int32", 2),)
        assert library.compile_pipeline("plain").constants == ()
        with pytest.raises(gm.KernelNotFound):
            library.compile_pipeline("kernel_repeat_f32")  # that one is in the device's library


def test_source_that_does_not_compile_raises_the_compilers_words(device: gm.Device) -> None:
    with pytest.raises(gm.CompileError, match=r"undeclared_thing"):
        gm.Library.from_source(device, "kernel void f(device float * x) { x[0] = undeclared_thing; }")


@pytest.mark.parametrize("source", ["", "  \n", "kernel void f() {}\0"])
def test_source_that_cannot_be_text_is_refused(source: str, device: gm.Device) -> None:
    with pytest.raises(ValueError, match="Metal source"):
        gm.Library.from_source(device, source)


@pytest.mark.parametrize(
    ("kind", "index", "value"),
    [("int16", 0, 2**15), ("int32", 0, -(2**31) - 1), ("int16", -1, 0), ("bool", 2**16, 1)],
)
def test_constants_out_of_range_are_refused(kind: str, index: int, value: int) -> None:
    with pytest.raises(ValueError, match="function constant"):
        getattr(gm.ConstantValues(), f"set_{kind}")(index, value)


def test_closing_the_devices_library_leaves_the_device_working(device: gm.Device) -> None:
    library = device.library
    library.close()
    library.close()
    with pytest.raises(gm.ClosedError):
        library.get_pipeline("kernel_repeat_f32")
    assert device.library.compile_pipeline("kernel_repeat_f32").name == "kernel_repeat_f32"


def test_a_library_lives_on_without_its_device_object() -> None:
    library = gm.open().library
    assert library.compile_pipeline("kernel_repeat_f32").nsg == 0


def test_closing_the_device_closes_its_libraries() -> None:
    device = gm.open()
    library = gm.Library.from_source(device, DOUBLE)
    device.close()
    assert library.closed
    library.close()


def test_integers_of_numpy_are_accepted_as_constants() -> None:
    assert list(gm.ConstantValues().set_int16(1, np.int64(5))) == [(1, "int16", 5)]
