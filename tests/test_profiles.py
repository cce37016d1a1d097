"""Profiles: what upstream sees of each, and what it does then. A process has one, so each gets its own."""

import json
import os
from dataclasses import dataclass

import pytest
from fresh_python import run_python

import ggml_metal_py as gm

GIB = 1024**3


@dataclass(frozen=True)
class Seen:
    """What upstream concludes (ggml_metal_device_init), and the kernels it chooses."""

    desc: str
    has_simdgroup_reduction: bool = True
    has_simdgroup_mm: bool = True
    has_bfloat: bool = True
    has_unified_memory: bool = True
    working_set_mb: float = 11453.25  # as upstream logs it, in millions of bytes
    max_buffer_size: int = 8 * GIB
    supports_gpu_family_apple7: bool = True
    kernel: str | None = "kernel_mul_mm_f32_f32"  # of a product with 16 columns


SEEN = {
    "M1": Seen("Apple M1"),
    "M2": Seen("Apple M2"),
    "M2-Ultra": Seen("Apple M2 Ultra", working_set_mb=154618.82, max_buffer_size=108 * GIB),
    "M3": Seen("Apple M3"),
    "M4": Seen("Apple M4"),
    "A13": Seen(
        "Apple A13 GPU",
        has_simdgroup_mm=False,
        working_set_mb=2863.32,
        max_buffer_size=GIB,
        supports_gpu_family_apple7=False,
        kernel="kernel_mul_mv_f32_f32_4",
    ),
    "A14": Seen("Apple A14 GPU", working_set_mb=2863.32, max_buffer_size=GIB),
    "paravirtual": Seen(
        "Apple Paravirtual device",
        has_simdgroup_reduction=False,
        has_simdgroup_mm=False,
        has_bfloat=False,
        working_set_mb=5010.80,
        max_buffer_size=3584 * 1024**2,
        supports_gpu_family_apple7=False,
        kernel=None,
    ),
    "AMD": Seen(
        "AMD Radeon RX 6950 XT",
        has_simdgroup_mm=False,
        has_unified_memory=False,
        working_set_mb=17163.09,
        max_buffer_size=3584 * 1024**2,
        supports_gpu_family_apple7=False,
        kernel="kernel_mul_mv_f32_f32_4",
    ),
}

LOOK = """
    import dataclasses, json, sys
    import numpy as np
    import ggml_metal_py as gm

    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((48, 128), dtype=np.float32), rng.standard_normal((16, 128), dtype=np.float32)
    with gm.open({how}) as device:
        found = dataclasses.asdict(device.props)
        found["profile"] = device.profile
        found["kernels"] = device.kernel_counts()
        with device.backend() as backend, device.context() as context:
            x, y = context.from_numpy(a), context.from_numpy(b)
            product, total = gm.ops.mul_mat(x, y), gm.ops.add(x, x)
            found["supported"] = device.supports_op(product)
            found["base"] = gm.select.chosen(product).base if found["supported"] else None
            backend.alloc(context)
            backend.compute(total, *([product] if found["supported"] else []))
            found["sum_is_right"] = bool((total.numpy() == a + a).all())
            found["worst"] = float(abs(product.numpy() - b @ a.T).max()) if found["supported"] else 0
    print(json.dumps(found))
"""


def look(how: str = "", **environment: str) -> dict[str, object]:
    clean = {name: "" for name in ("SOFTMETAL_PROFILE",) if name in os.environ}
    done = run_python(LOOK.format(how=how), env={**clean, **environment})
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_the_profiles_are_those_that_are_listed() -> None:
    assert [profile.name for profile in gm.profiles()] == list(SEEN)
    assert [profile.device_name for profile in gm.profiles()] == [seen.desc for seen in SEEN.values()]
    assert gm.info()["profiles"] == list(SEEN)


# Without bfloat the kernels are compiled from a source of its own, which is not built beforehand.
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "paravirtual" else ()) for name in SEEN]
)
def test_upstream_sees_the_profile_and_computes_right(name: str) -> None:
    found, seen = look(f"profile={name!r}"), SEEN[name]
    assert found["profile"] == name
    fields = ("desc", "has_simdgroup_reduction", "has_simdgroup_mm", "has_bfloat", "has_unified_memory")
    for field in (*fields, "max_buffer_size", "supports_gpu_family_apple7"):
        assert found[field] == getattr(seen, field), field
    assert round(float(str(found["max_working_set_size"])) / 1e6, 2) == seen.working_set_mb
    assert found["max_theadgroup_memory_size"] == 32768
    assert found["use_shared_buffers"] == seen.has_unified_memory
    assert found["base"] == seen.kernel
    assert found["sum_is_right"]
    assert float(str(found["worst"])) < (0.1 if seen.has_simdgroup_mm else 1e-4)  # mul_mm rounds to halves


def test_the_environment_chooses_and_an_argument_overrides_it() -> None:
    assert look(SOFTMETAL_PROFILE="M1")["desc"] == "Apple M1"
    assert look("profile='M3'", SOFTMETAL_PROFILE="M1")["desc"] == "Apple M3"
    assert look()["desc"] == "Apple M2"


@pytest.mark.parametrize(("how", "environment"), [("profile='Z80'", {}), ("", {"SOFTMETAL_PROFILE": "Z80"})])
def test_an_unknown_profile_is_refused_with_those_there_are(how: str, environment: dict[str, str]) -> None:
    done = run_python(f"import ggml_metal_py as gm\ngm.open({how})", env=environment)
    assert "ValueError: profile 'Z80': no device profile is called" in done.stderr
    assert " ".join(SEEN) in done.stderr


def test_a_second_profile_in_one_process_is_refused(device: gm.Device) -> None:
    with gm.open(profile=device.profile) as again:
        assert again.profile == device.profile
    with pytest.raises(ValueError, match="the device exists already"):
        gm.open(profile="M4")
