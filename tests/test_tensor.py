"""Tensors: shapes, values from and to numpy, quantised types, lifetimes."""

import threading

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ggml_metal_py as gm

DTYPES = {
    "f32": np.float32, "f16": np.float16, "f64": np.float64,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
}  # fmt: skip
# Largest error allowed, in units of the largest value of a block.
QUANTISED = {
    "q4_0": 1 / 8, "q4_1": 1 / 8, "q5_0": 1 / 16, "q5_1": 1 / 16, "q8_0": 1 / 128,
    "q2_k": 1 / 2, "q3_k": 1 / 3, "q4_k": 1 / 8, "q5_k": 1 / 16, "q6_k": 1 / 32,
    "iq4_nl": 1 / 6, "iq4_xs": 1 / 6, "iq2_xxs": 1.0, "iq2_xs": 1.0, "iq3_xxs": 1.0,
    "bf16": 1 / 128, "mxfp4": 1 / 3,
}  # fmt: skip


def random(*shape: int, seed: int = 0) -> npt.NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def test_shape_is_ne_reversed(context: gm.Context) -> None:
    tensor = context.new_tensor("f32", (2, 3, 4, 5), "x")
    assert tensor.ne == (5, 4, 3, 2)
    assert tensor.nb == (4, 20, 80, 240)
    assert tensor.shape == (2, 3, 4, 5)
    assert tensor.nbytes == 480
    assert tensor.name == "x"
    assert tensor.op == "NONE"
    assert "F32 (2, 3, 4, 5)" in repr(tensor)


@pytest.mark.parametrize("shape", [(1,), (1, 1), (1, 5), (5, 1), (1, 2, 1), (1, 1, 1, 1)])
def test_axes_of_length_one_are_kept(shape: tuple[int, ...], context: gm.Context) -> None:
    assert context.new_tensor("f32", shape).shape == shape


@pytest.mark.parametrize("kind", DTYPES)
def test_plain_values_come_back_as_they_were(kind: str, context: gm.Context, backend: gm.Backend) -> None:
    values = (random(3, 4, 5) * 50).astype(DTYPES[kind])
    tensor = context.from_numpy(values)
    assert tensor.type.name.lower() == kind
    backend.alloc(context)
    assert tensor.numpy().dtype == values.dtype
    np.testing.assert_array_equal(tensor.numpy(), values)


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shape=st.lists(st.integers(1, 7), min_size=1, max_size=4), seed=st.integers(0, 2**32 - 1))
def test_any_shape_comes_back(shape: list[int], seed: int, device: gm.Device, backend: gm.Backend) -> None:
    values = random(*shape, seed=seed)
    with device.context(4) as context:
        tensor = context.from_numpy(values)
        backend.alloc(context)
        np.testing.assert_array_equal(tensor.numpy(), values)


@pytest.mark.parametrize("kind", sorted(QUANTISED))
def test_quantised_values_come_back_within_the_types_error(
    kind: str, context: gm.Context, backend: gm.Backend
) -> None:
    values = random(4, 512)
    tensor = context.from_numpy(values, kind)
    backend.alloc(context)
    back = tensor.numpy()
    assert back.dtype == np.float32
    assert back.shape == values.shape
    assert np.abs(back - values).max() <= QUANTISED[kind] * np.abs(values).max()
    assert np.corrcoef(back.ravel(), values.ravel())[0, 1] > 0.7


def test_quantised_rows_are_independent(context: gm.Context, backend: gm.Backend) -> None:
    values = random(6, 64)
    whole = context.from_numpy(values, "q4_0")
    rows = [context.from_numpy(row[None], "q4_0") for row in values]
    backend.alloc(context)
    np.testing.assert_array_equal(whole.numpy(), np.concatenate([row.numpy() for row in rows]))


@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_memory_order_of_the_array_does_not_matter(
    order: str, context: gm.Context, backend: gm.Backend
) -> None:
    values = random(4, 64)
    array = {"C": values, "F": np.asfortranarray(values), "strided": np.repeat(values, 2, axis=1)[:, ::2]}[
        order
    ]
    plain, quantised = context.from_numpy(array), context.from_numpy(array, "q8_0")
    backend.alloc(context)
    np.testing.assert_array_equal(plain.numpy(), values)
    np.testing.assert_allclose(quantised.numpy(), values, atol=0.03)


def test_values_are_copied_when_they_are_given(context: gm.Context, backend: gm.Backend) -> None:
    values = random(8)
    tensor = context.from_numpy(values)
    before = values.copy()
    values[:] = 0
    backend.alloc(context)
    np.testing.assert_array_equal(tensor.numpy(), before)


def test_set_replaces_values_and_checks_the_shape(context: gm.Context, backend: gm.Backend) -> None:
    tensor = context.new_tensor("f16", (2, 3))
    with pytest.raises(ValueError, match="has no memory yet"):
        tensor.set(np.zeros((2, 3)))
    backend.alloc(context)
    tensor.set([[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(tensor.numpy(), [[1, 2, 3], [4, 5, 6]])
    with pytest.raises(ValueError, match=r"shape is \(2, 3\), the array's is \(3, 2\)"):
        tensor.set(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="not contiguous"):
        gm.ops.transpose(tensor).set(np.zeros((3, 2)))


@pytest.mark.parametrize(
    ("kind", "shape", "match"),
    [
        ("f32", (), "1 to 4 axes"),
        ("f32", (1, 2, 3, 4, 5), "1 to 4 axes"),
        ("f32", (2, 0), "at least one value"),
        ("f32", (-1,), "at least one value"),
        ("q4_0", (3, 33), "multiple of 32"),
        ("q4_k", (3, 32), "multiple of 256"),
        ("f32", (2**40, 2**40), "too big"),
        ("f12", (1,), "no tensor type 'f12'"),
        (5, (1,), "no tensor type 5"),
    ],
)
def test_impossible_tensors_are_refused(
    kind: str, shape: tuple[int, ...], match: str, context: gm.Context
) -> None:
    with pytest.raises(ValueError, match=match):
        context.new_tensor(kind, shape)


def test_arrays_that_no_type_stores_are_refused(context: gm.Context) -> None:
    for array in (np.zeros(3, complex), np.array(["a"]), np.array([None]), np.zeros(3, np.uint64)):
        with pytest.raises(TypeError):
            context.from_numpy(array)
    with pytest.raises(TypeError, match="stores integers"):
        context.from_numpy(np.zeros(3), "i32")
    with pytest.raises(ValueError, match="cannot store"):
        context.from_numpy(np.array([300]), "i8")
    with pytest.raises(ValueError, match="not finite"):
        context.from_numpy(np.full(32, np.nan), "q4_0")


def test_a_full_context_says_how_to_make_room(device: gm.Device) -> None:
    with device.context(tensors=2) as context:
        context.new_tensor("f32", (1,))
        context.new_tensor("f32", (1,))
        with pytest.raises(ValueError, match="made for 2 tensors"):
            context.new_tensor("f32", (1,))
    with pytest.raises(ValueError, match="at least one tensor"):
        device.context(tensors=0)


def test_names_are_limited_in_bytes(context: gm.Context) -> None:
    tensor = context.new_tensor("f32", (1,), "ä" * 31)
    assert tensor.name == "ä" * 31
    with pytest.raises(ValueError, match="63 bytes"):
        tensor.name = "ä" * 32


def test_a_closed_context_takes_its_tensors_along(device: gm.Device, backend: gm.Backend) -> None:
    context = device.context()
    tensor = context.from_numpy(random(4))
    buffer = backend.alloc(context)
    context.close()
    assert buffer.closed
    for use in (
        tensor.numpy,
        lambda: tensor.name,
        lambda: gm.ops.gelu(tensor),
        lambda: backend.compute(tensor),
    ):
        with pytest.raises(gm.ClosedError):
            use()
    assert repr(tensor) == "<Tensor, closed>"


def test_a_closed_buffer_takes_the_values_along_but_not_the_tensors(
    context: gm.Context, backend: gm.Backend
) -> None:
    tensor = context.from_numpy(random(4))
    view = gm.ops.reshape(tensor, (2, 2))
    backend.alloc(context).close()
    assert not tensor.allocated
    assert not view.allocated
    for one in (tensor, view):
        with pytest.raises(ValueError, match="has no memory yet"):
            one.numpy()
    backend.alloc(context)
    tensor.set(np.arange(4))
    np.testing.assert_array_equal(view.numpy(), [[0, 1], [2, 3]])


def test_a_dropped_buffer_stays_with_its_context(context: gm.Context, backend: gm.Backend) -> None:
    values = random(1000)
    tensor = context.from_numpy(values)
    backend.alloc(context)  # nobody keeps the Buffer
    np.testing.assert_array_equal(tensor.numpy(), values)


def test_many_threads_build_in_one_context(device: gm.Device) -> None:
    with device.context(tensors=801) as context:
        first = context.new_tensor("f32", (4,))

        def build() -> None:
            for _ in range(100):
                gm.ops.add(first, first)

        threads = [threading.Thread(target=build) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert context._count == 801
