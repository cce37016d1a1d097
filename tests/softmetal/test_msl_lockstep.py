"""Lanes of a simdgroup that exchange data through threadgroup memory without a barrier move in lockstep."""

import re

import numpy as np
import pytest
from kernel_library import KernelLibrary
from msl_build import KERNELS, build_kernels

from ggml_metal_py.softmetal.msl.lockstep import POINT
from ggml_metal_py.softmetal.msl.preprocess import preprocess
from ggml_metal_py.softmetal.msl.translate import translate
from ggml_metal_py.softmetal.toolchain import find_toolchain


@pytest.fixture(scope="module")
def lockstep(tmp_path_factory):
    return build_kernels("lockstep", tmp_path_factory.mktemp("kernels"))


@pytest.fixture
def src():
    return np.random.default_rng(3).integers(1, 9, 64).astype(np.int32)


def run(library: KernelLibrary, name: str, src: np.ndarray, threads: int = 32, size: int = 32) -> np.ndarray:
    dst = np.zeros(size, np.int32)
    library(name, [src, dst], threads=threads, threadgroup_bytes=[512])
    return dst


def test_lanes_see_what_their_neighbour_wrote(lockstep: KernelLibrary, src):
    dst = run(lockstep, "neighbour", src, threads=64, size=64)
    np.testing.assert_array_equal(dst.reshape(2, 32), np.roll(src.reshape(2, 32), -1, axis=1))


def test_all_lanes_see_what_a_later_lane_wrote(lockstep: KernelLibrary, src):
    np.testing.assert_array_equal(run(lockstep, "one_writes", src), src[3])


def test_a_lane_does_not_overwrite_what_others_have_yet_to_read(lockstep: KernelLibrary, src):
    np.testing.assert_array_equal(run(lockstep, "all_read", src), src[:4].sum())


def test_any_lane_may_be_the_one_that_overwrites(lockstep: KernelLibrary, src):
    digits = int("".join(map(str, src[:8])))
    np.testing.assert_array_equal(run(lockstep, "changing_writer", src), digits)


def test_a_shrinking_set_of_lanes(lockstep: KernelLibrary, src):
    assert run(lockstep, "tree", src)[0] == src[:32].sum()


def test_lanes_that_do_not_come_are_not_waited_for(lockstep: KernelLibrary, src):
    dst = run(lockstep, "some_lanes", src)
    odd = np.arange(1, 32, 2)
    np.testing.assert_array_equal(dst[odd], src[(odd + 2) % 32])
    np.testing.assert_array_equal(dst[odd - 1], -1)


def test_pointers_of_different_types_to_one_area(lockstep: KernelLibrary, src):
    np.testing.assert_array_equal(run(lockstep, "two_types", src, size=64), src)


def test_no_place_is_put_where_none_is_needed():
    source = KERNELS / "lockstep.metal"
    preprocessed = preprocess(source.read_text(), source.name, {}, source.parent, find_toolchain())
    text = translate(preprocessed).text
    bodies = re.split(r"static void (\w+)", text)
    places = {name: body.count(POINT) for name, body in zip(bodies[1::2], bodies[2::2], strict=True)}
    assert places["no_hazard"] == 0
    assert places["neighbour"] == 1
    assert all(count for name, count in places.items() if name != "no_hazard")
