"""Every op of ops.py against numpy, on the device."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

import ggml_metal_py as gm
from ggml_metal_py import ops

Array = npt.NDArray[np.float32]


def random(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


@pytest.fixture
def run(context: gm.Context, backend: gm.Backend) -> Callable[[gm.Tensor], Array]:
    """Allocate everything, compute the tensor, give its values."""

    def compute(tensor: gm.Tensor) -> Array:
        backend.alloc(context)
        backend.compute(tensor)
        values: Array = tensor.numpy()
        return values

    return compute


Run = Callable[[gm.Tensor], Array]


# ---- element by element


@pytest.mark.parametrize(
    ("op", "reference"), [("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide)]
)
@pytest.mark.parametrize("other", [(3, 5, 33), (33,), (5, 33), (3, 1, 33), (1, 5, 1)])
def test_elementwise_ops_repeat_their_second_source(
    op: str, reference: Callable[..., Array], other: tuple[int, ...], context: gm.Context, run: Run
) -> None:
    a, b = random(3, 5, 33), random(*other, seed=1) + 4
    result = run(getattr(ops, op)(context.from_numpy(a), context.from_numpy(b)))
    np.testing.assert_allclose(result, reference(a, b), rtol=1e-5)


@pytest.mark.parametrize("bias", [0.0, 1.5])
def test_scale(bias: float, context: gm.Context, run: Run) -> None:
    a = random(4, 30)
    np.testing.assert_allclose(run(ops.scale(context.from_numpy(a), -2.5, bias)), a * -2.5 + bias, rtol=1e-5)


def test_gelu(context: gm.Context, run: Run) -> None:
    a = random(4, 64) * 3
    expected = 0.5 * a * (1 + np.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3)))
    np.testing.assert_allclose(run(ops.gelu(context.from_numpy(a))), expected, atol=2e-3)


def test_silu_and_relu(context: gm.Context, backend: gm.Backend) -> None:
    a = random(4, 64) * 3
    x = context.from_numpy(a)
    silu, relu = ops.silu(x), ops.relu(x)
    backend.alloc(context)
    backend.compute(silu, relu)
    np.testing.assert_allclose(silu.numpy(), a / (1 + np.exp(-a)), atol=1e-4)
    np.testing.assert_array_equal(relu.numpy(), np.maximum(a, 0))


# ---- along the last axis


@pytest.mark.parametrize("columns", [32, 100, 384])
def test_norms(columns: int, context: gm.Context, backend: gm.Backend) -> None:
    a = random(7, columns) * 2 + 1
    x = context.from_numpy(a)
    norm, rms = ops.norm(x, 1e-5), ops.rms_norm(x, 1e-6)
    backend.alloc(context)
    backend.compute(norm, rms)
    centred = a - a.mean(-1, keepdims=True)
    np.testing.assert_allclose(norm.numpy(), centred / np.sqrt(a.var(-1, keepdims=True) + 1e-5), atol=1e-4)
    np.testing.assert_allclose(rms.numpy(), a / np.sqrt((a * a).mean(-1, keepdims=True) + 1e-6), atol=1e-4)


def softmax(a: Array) -> Array:
    e = np.exp(a - a.max(-1, keepdims=True))
    total: Array = e / e.sum(-1, keepdims=True)
    return total


@pytest.mark.parametrize("masked", [False, True])
def test_soft_max(masked: bool, context: gm.Context, run: Run) -> None:
    a = random(2, 5, 70)
    mask = np.where(np.arange(70) > np.arange(5)[:, None] * 10 + 3, -np.inf, 0).astype(np.float32)
    m = context.from_numpy(mask) if masked else None
    result = run(ops.soft_max(context.from_numpy(a), m, 0.5))
    np.testing.assert_allclose(result, softmax(a * 0.5 + (mask if masked else 0)), atol=1e-5)


def test_sum_rows(context: gm.Context, run: Run) -> None:
    a = random(3, 4, 50)
    np.testing.assert_allclose(run(ops.sum_rows(context.from_numpy(a))), a.sum(-1, keepdims=True), atol=1e-4)


# ---- matrices


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16", "q4_0", "q5_0", "q8_0", "q4_k", "q6_k"])
@pytest.mark.parametrize("rows", [1, 3, 40])
def test_mul_mat(kind: str, rows: int, context: gm.Context, backend: gm.Backend) -> None:
    a, b = random(48, 256), random(rows, 256, seed=1)
    weights = context.from_numpy(a, kind)
    result = ops.mul_mat(weights, context.from_numpy(b))
    backend.alloc(context)
    backend.compute(result)
    assert result.shape == (rows, 48)
    # what the type stores is exact; the product itself may be computed in half precision
    expected = b @ weights.numpy().T
    np.testing.assert_allclose(result.numpy(), expected, atol=0.02 * np.abs(expected).max())


def test_mul_mat_repeats_leading_axes(context: gm.Context, run: Run) -> None:
    a, b = random(1, 2, 8, 64), random(3, 4, 5, 64, seed=1)
    result = run(ops.mul_mat(context.from_numpy(a), context.from_numpy(b)))
    expected = b @ np.repeat(a, 2, axis=1).swapaxes(-1, -2)
    np.testing.assert_allclose(result, expected, atol=0.05)


@pytest.mark.parametrize(("n", "n_kv"), [(1, 32), (7, 64), (33, 96)])
def test_flash_attn_ext(n: int, n_kv: int, context: gm.Context, run: Run) -> None:
    d, heads, scale = 64, 2, 0.125
    q, k, v = random(1, heads, n, d), random(1, heads, n_kv, d, seed=1), random(1, heads, n_kv, d, seed=2)
    mask = np.where(np.arange(n_kv) > np.arange(n)[:, None] + n_kv - n, -np.inf, 0)
    result = run(
        ops.flash_attn_ext(
            context.from_numpy(q),
            context.from_numpy(k, "f16"),
            context.from_numpy(v, "f16"),
            context.from_numpy(mask.reshape(1, 1, n, n_kv), "f16"),
            scale,
        )
    )
    expected = (softmax(q @ k.swapaxes(-1, -2) * scale + mask) @ v).swapaxes(1, 2)
    assert result.shape == (1, n, heads, d)
    np.testing.assert_allclose(result, expected, atol=0.01)


@pytest.mark.parametrize("kind", ["f32", "f16", "q4_0", "q8_0"])
def test_get_rows(kind: str, context: gm.Context, backend: gm.Backend) -> None:
    table = context.from_numpy(random(10, 64), kind)
    rows = np.array([3, 0, 9, 3], np.int32)
    result = ops.get_rows(table, context.from_numpy(rows))
    backend.alloc(context)
    backend.compute(result)
    np.testing.assert_allclose(result.numpy(), table.numpy()[rows], atol=1e-3)


# ---- convolution


def convolve(kernel: Array, data: Array, stride: int, padding: int) -> Array:
    data = np.pad(data, ((0, 0), (0, 0), (padding, padding)))
    windows = np.lib.stride_tricks.sliding_window_view(data, kernel.shape[-1], axis=-1)[:, :, ::stride]
    result: Array = np.einsum("oik,bitk->bot", kernel, windows)
    return result


@pytest.mark.parametrize(("stride", "padding"), [(1, 1), (2, 1), (1, 0)])
def test_conv_1d(stride: int, padding: int, context: gm.Context, run: Run) -> None:
    kernel, data = random(8, 4, 3), random(1, 4, 50, seed=1)
    result = run(ops.conv_1d(context.from_numpy(kernel, "f16"), context.from_numpy(data), stride, padding))
    np.testing.assert_allclose(result, convolve(kernel, data, stride, padding), atol=0.02)


def test_im2col(context: gm.Context, run: Run) -> None:
    kernel, data = random(8, 4, 3), random(2, 4, 20, seed=1)
    result = run(ops.im2col(context.from_numpy(kernel, "f16"), context.from_numpy(data), 1, 1, type="f32"))
    padded = np.pad(data, ((0, 0), (0, 0), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, 3, axis=-1)  # (batch, in, windows, width)
    np.testing.assert_array_equal(result, windows.swapaxes(1, 2).reshape(2, 20, 12))


# ---- copies


@pytest.mark.parametrize(
    ("source", "target"), [("f32", "f16"), ("f16", "f32"), ("f32", "f32"), ("f32", "q8_0"), ("f32", "q4_0")]
)
def test_cpy_and_cast_convert(source: str, target: str, context: gm.Context, backend: gm.Backend) -> None:
    a = random(4, 64)
    x = context.from_numpy(a, source)
    copied = ops.cpy(x, context.new_tensor(target, (4, 64)))
    cast = ops.cast(x, target)
    backend.alloc(context)
    backend.compute(copied, cast)
    tolerance = {"q8_0": 0.03, "q4_0": 0.4}.get(target, 2e-3)
    np.testing.assert_allclose(copied.numpy(), a, atol=tolerance)
    np.testing.assert_allclose(cast.numpy(), a, atol=tolerance)


def test_cont_of_a_permuted_tensor(context: gm.Context, run: Run) -> None:
    a = random(2, 3, 4, 5)
    result = ops.cont(ops.permute(context.from_numpy(a), (0, 2, 1, 3)))
    np.testing.assert_array_equal(run(result), a.transpose(0, 2, 1, 3))
    assert result.is_contiguous


def test_repeat(context: gm.Context, run: Run) -> None:
    a = random(1, 3, 1, 5)
    result = run(ops.repeat(context.from_numpy(a), context.new_tensor("f32", (2, 6, 4, 10))))
    np.testing.assert_array_equal(result, np.tile(a, (2, 2, 4, 2)))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_concat(axis: int, context: gm.Context, run: Run) -> None:
    a, b = random(2, 3, 4), random(2, 3, 4, seed=1)
    result = run(ops.concat(context.from_numpy(a), context.from_numpy(b), axis))
    np.testing.assert_array_equal(result, np.concatenate([a, b], axis))


# ---- views


def test_views_show_the_same_values(context: gm.Context, backend: gm.Backend) -> None:
    a = random(4, 6, 8)
    x = context.from_numpy(a)
    views = {
        "reshape": (ops.reshape(x, (24, 8)), a.reshape(24, 8)),
        "flat": (ops.reshape(x, (192,)), a.ravel()),
        "transpose": (ops.transpose(x), a.transpose(0, 2, 1)),
        "view": (ops.view(x, (2, 3, 4), (6 * 8 * 4, 8 * 4), 16), a[:2, :3, 4:]),
        "contiguous view": (ops.view(x, (10,), offset=40), a.ravel()[10:20]),
    }
    for axes in [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)]:
        views[f"permute {axes}"] = (ops.permute(x, axes), a.transpose(axes))
    backend.alloc(context)
    for name, (tensor, expected) in views.items():
        assert tensor.shape == expected.shape, name
        np.testing.assert_array_equal(tensor.numpy(), expected, err_msg=name)


# ---- refusals


def test_shapes_that_do_not_fit_are_refused_before_upstream_sees_them(context: gm.Context) -> None:
    a, b = context.new_tensor("f32", (3, 4)), context.new_tensor("f32", (3, 5))
    wrong: list[Callable[[], object]] = [
        lambda: ops.add(a, b),
        lambda: ops.mul_mat(a, b),
        lambda: ops.mul_mat(context.new_tensor("f32", (2, 3, 4)), context.new_tensor("f32", (3, 3, 4))),
        lambda: ops.reshape(a, (5, 2)),
        lambda: ops.reshape(a, ()),
        lambda: ops.reshape(ops.transpose(a), (12,)),
        lambda: ops.view(a, (13,)),
        lambda: ops.view(a, (2,), offset=-4),
        lambda: ops.view(a, (2, 2), (1, 2)),
        lambda: ops.permute(a, (0, 0)),
        lambda: ops.permute(a, (0,)),
        lambda: ops.concat(a, a, 2),
        lambda: ops.conv_1d(a, a),
        lambda: ops.apply("arange", 0.0, 1.0, 1.0),
    ]
    for call in wrong:
        with pytest.raises(ValueError):  # noqa: PT011 - each has words of its own
            call()


def test_what_only_upstream_can_tell_comes_as_an_abort(context: gm.Context) -> None:
    a, b = context.new_tensor("f32", (3, 4)), context.new_tensor("f32", (5, 4))
    with pytest.raises(gm.GgmlAbort) as caught:
        ops.concat(a, b, 1)
    assert caught.value.file is not None
    assert caught.value.file.endswith("ggml.c")
    assert caught.value.line
    assert "GGML_ASSERT" in caught.value.message
    assert ops.concat(a, b, 0).shape == (8, 4)


def test_any_op_of_the_header_can_be_applied(context: gm.Context, run: Run) -> None:
    a = random(3, 8)
    np.testing.assert_allclose(run(ops.apply("sqr", context.from_numpy(a))), a * a, rtol=1e-5)
    with pytest.raises(gm.NotInUpstream, match="ggml_teleport"):
        ops.apply("teleport", context.new_tensor("f32", (1,)))
    assert ops.apply("arange", 0.0, 5.0, 1.0, context=context).shape == (5,)


def test_the_result_goes_into_the_newest_context(device: gm.Device) -> None:
    with device.context() as weights, device.context() as graph:
        w, x = weights.new_tensor("f32", (4, 4)), graph.new_tensor("f32", (4, 4))
        assert ops.mul_mat(w, x).context is graph
        assert ops.add(x, w).context is graph
        assert ops.add(x, w, context=weights).context is weights


# ---- numpy to numpy


@pytest.mark.parametrize("kind", ["f32", "f16", "q4_0", "q8_0"])
def test_mul_mat_of_arrays_agrees_with_numpy(kind: str) -> None:
    a, b = random(64, 256), random(5, 256, seed=1)
    expected = b @ a.T
    tolerance = {"q4_0": 0.12, "q8_0": 0.02}.get(kind, 0.005)
    result = gm.mul_mat(a, b, type=kind)
    assert result.shape == (5, 64)
    np.testing.assert_allclose(result, expected, atol=tolerance * np.abs(expected).max())
    np.testing.assert_allclose(gm.mul_mat(a, b[0], type=kind), result[0], atol=1e-3 * np.abs(expected).max())


def test_mul_mat_of_arrays_refuses_vectors() -> None:
    with pytest.raises(ValueError, match=r"a is \(m, k\)"):
        gm.mul_mat(np.zeros(3), np.zeros(3))


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("mul_mat", (None,), "cannot be None"),
        ("rope_ext", (None, None), "cannot be None"),
        ("unary", (999,), "no value of enum ggml_unary_op"),
        ("unary", ("GELU",), "no value of enum ggml_unary_op"),
        ("cast", (4,), "no value of enum ggml_type"),
        ("free", (), "not an op"),
        ("n_dims", (), "not an op"),
    ],
)
def test_what_ggml_would_follow_into_nowhere_is_refused(
    name: str, arguments: tuple[object, ...], message: str, context: gm.Context
) -> None:
    with pytest.raises(ValueError, match=message):
        gm.ops.apply(name, context.new_tensor("f32", (4, 4)), *arguments)


def test_tensors_that_ggml_does_without_may_be_none(context: gm.Context) -> None:
    scores = context.new_tensor("f32", (4, 4))
    assert gm.ops.apply("soft_max_ext", scores, None, 1.0, 0.0).op == "SOFT_MAX"
