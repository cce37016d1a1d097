"""Devices: found by type, whatever they are called; what they tell about themselves."""

import pytest

import ggml_metal_py as gm


@pytest.mark.parametrize("name", [None, "Metal", "MTL0", "metal", "MTL", "Metal0"])
def test_the_device_answers_to_every_upstreams_name(name: str | None) -> None:  # R4
    with gm.open(name=name) as device:
        assert device.name in ("MTL0", "Metal")


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"no Metal device 'CUDA0'; devices: MTL0"):
        gm.open(name="CUDA0")


def test_props_are_those_of_an_apple_gpu(device: gm.Device) -> None:
    props = device.props
    assert props.name == device.name
    assert props.desc == device.description
    assert props.desc is not None
    assert props.desc.startswith("Apple")
    assert props.has_simdgroup_mm is True
    assert props.max_theadgroup_memory_size == 32768
    assert isinstance(props.max_buffer_size, int)


def test_memory_is_free_within_total(device: gm.Device) -> None:
    free, total = device.memory
    assert 0 < free <= total


def test_info_has_the_keys_that_programs_rely_on() -> None:
    info = gm.info()
    assert info["upstream"] == "pywhispercpp-1.5.1"
    assert info["ggml_version"] == "0.13.1"
    assert info["device"]["name"] == "MTL0"
    assert "profile" in info["device"]
    assert info["kernels"] == {"declared": 611, "prebuilt": 611}
    assert info["getters"]["declared"] == 59
    assert 0 <= info["getters"]["mirrored"] <= 59


def test_supports_op_tells_by_op_and_type(device: gm.Device, context: gm.Context) -> None:
    a = context.new_tensor("f32", (8, 32))
    assert device.supports_op(gm.ops.mul_mat(a, a))
    assert not device.supports_op(gm.ops.apply("diag_mask_inf", a, 0))


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(ValueError, match="profile 'Z80'"):
        gm.open(profile="Z80")


def test_a_closed_device_says_so() -> None:
    device = gm.open()
    device.close()
    assert "closed" in repr(device)
    with pytest.raises(gm.ClosedError, match="this Device is closed"):
        _ = device.name
    with pytest.raises(gm.ClosedError):
        device.context()
    with pytest.raises(gm.ClosedError), device:
        pass
