"""Backends: what may run, what is refused before, and what remains after a failure inside."""

import threading

import numpy as np
import pytest

import ggml_metal_py as gm
from ggml_metal_py import ops


def unsupported(context: gm.Context, name: str = "bad") -> gm.Tensor:
    """A node that the device does not support and whose encoder aborts."""
    tensor = ops.apply("diag_mask_inf", context.new_tensor("f32", (8, 8), "src"), 0)
    tensor.name = name
    return tensor


# ---- refused before anything runs


def test_a_leaf_without_memory_is_named(context: gm.Context, backend: gm.Backend) -> None:  # R7
    x = context.from_numpy(np.ones(4, np.float32), name="the input")
    with pytest.raises(ValueError, match=r"tensor 'the input' .*has no memory"):
        backend.compute(ops.gelu(x))


def test_a_result_without_memory_is_named(context: gm.Context, backend: gm.Backend) -> None:  # R7
    x = context.from_numpy(np.ones(4, np.float32))
    backend.alloc(context)
    late = ops.gelu(x)
    late.name = "made later"
    with pytest.raises(
        ValueError, match=r"tensor 'made later' \(GELU f32 \[4\] of f32 \[4\]\) has no memory"
    ):
        backend.compute(late)
    backend.alloc(context)
    backend.compute(late)


def test_a_leaf_in_another_backends_buffer_is_named(device: gm.Device, backend: gm.Backend) -> None:  # R7
    with device.context() as far, device.context() as near, device.cpu_backend() as cpu:
        x = far.from_numpy(np.ones(4, np.float32), name="far away")
        cpu.alloc(far)
        result = ops.gelu(x, context=near)
        backend.alloc(near)
        with pytest.raises(ValueError, match=r"tensor 'far away' .*is in CPU memory, which MTL0 cannot use"):
            backend.compute(result)


@pytest.mark.parametrize("op", ["diag_mask_inf", "im2col_3d"])
def test_an_unsupported_op_is_named_with_types_and_shapes(
    op: str, context: gm.Context, backend: gm.Backend
) -> None:  # R8
    x = context.from_numpy(np.full((8, 8), 3, np.float32))
    kept = ops.cpy(ops.gelu(x), x)
    if op == "diag_mask_inf":
        bad = ops.apply(op, kept, 0)
        words = r"MTL0 does not support tensor .*DIAG_MASK_INF f32 \[8, 8\] of f32 \[8, 8\]"
    else:
        kernel, data = context.new_tensor("f16", (1, 2, 3, 3)), context.new_tensor("f32", (2, 8, 8, 8))
        bad = ops.apply(op, kernel, data, 2, 1, 1, 1, 0, 0, 0, 1, 1, 1, int(gm.Type.F16))
        words = r"MTL0 does not support tensor .*IM2COL_3D f16 .* of f16 \[3, 3, 2\] and f32 \[8, 8, 8, 2\]"
    backend.alloc(context)
    assert not backend.supports_op(bad)
    with pytest.raises(gm.UnsupportedOp, match=words):
        backend.compute(kept, bad)
    np.testing.assert_array_equal(x.numpy(), 3)  # nothing was run
    backend.compute(kept)


def test_a_graph_of_nothing_is_refused(backend: gm.Backend) -> None:
    with pytest.raises(ValueError, match="at least one tensor"):
        backend.compute()
    with pytest.raises(TypeError):
        backend.compute("x")  # type: ignore[arg-type]


def test_nothing_to_allocate_is_told(context: gm.Context, backend: gm.Backend) -> None:
    with pytest.raises(ValueError, match="has memory already"):
        backend.alloc(context)
    context.new_tensor("f32", (4,))
    backend.alloc(context)
    with pytest.raises(ValueError, match="has memory already"):
        backend.alloc(context)


def test_a_view_into_a_context_without_memory_is_told(device: gm.Device, backend: gm.Backend) -> None:
    with device.context() as first, device.context() as second:
        x = first.from_numpy(np.arange(4, dtype=np.float32), name="whole")
        part = ops.view(x, (2,), offset=8, context=second)
        with pytest.raises(ValueError, match="view of 'whole', which is in another context"):
            backend.alloc(second)
        backend.alloc(first)
        backend.alloc(second)
        np.testing.assert_array_equal(part.numpy(), [2, 3])


def test_too_much_memory_is_a_memory_error(context: gm.Context, backend: gm.Backend) -> None:
    context.new_tensor("f32", (2**20, 2**30))
    with pytest.raises((MemoryError, gm.GgmlMetalError)):
        backend.alloc(context)
    with gm.open() as device, device.context() as small, device.backend() as other:
        x = small.from_numpy(np.ones(4, np.float32))
        other.alloc(small)
        np.testing.assert_array_equal(x.numpy(), 1)


# ---- running


def test_a_graph_computes_again_with_new_values(context: gm.Context, backend: gm.Backend) -> None:
    x = context.from_numpy(np.ones(8, np.float32))
    result = ops.scale(x, 3)
    backend.alloc(context)
    with gm.Graph(result) as graph:
        assert graph.n_nodes == 1
        for value in range(5):
            x.set(np.full(8, value))
            backend.compute(graph)
            np.testing.assert_array_equal(result.numpy(), 3.0 * value)


@pytest.mark.parametrize("nodes", [1, 63, 64, 65, 200, 1000])
def test_graphs_of_any_length_run_in_order(nodes: int, device: gm.Device, backend: gm.Backend) -> None:
    with device.context(tensors=nodes + 2) as context:
        x = context.from_numpy(np.zeros(4, np.float32))
        one = context.from_numpy(np.ones(4, np.float32))
        for _ in range(nodes):
            x = ops.add(x, one)
        backend.alloc(context)
        backend.compute(x)
        np.testing.assert_array_equal(x.numpy(), nodes)


def test_the_cpu_backend_agrees(device: gm.Device, backend: gm.Backend) -> None:
    values = np.random.default_rng(0).standard_normal((8, 64), np.float32)
    results = []
    for one in (backend, device.cpu_backend(threads=2)):
        with device.context() as context:
            x = context.from_numpy(values)
            result = ops.norm(ops.gelu(x))
            one.alloc(context)
            one.compute(result)
            results.append(result.numpy())
    np.testing.assert_allclose(*results, atol=0.01)  # the CPU looks GELU up in an f16 table


def test_two_threads_share_a_backend(device: gm.Device, backend: gm.Backend) -> None:  # R14
    failures: list[str] = []

    def work(seed: int) -> None:
        values = np.random.default_rng(seed).standard_normal((16, 64), np.float32)
        with device.context() as context:
            x = context.from_numpy(values)
            result = ops.mul_mat(x, ops.scale(x, 2))
            backend.alloc(context)
            for _ in range(20):
                backend.compute(result)
                if not np.allclose(result.numpy(), 2 * values @ values.T, atol=0.2):
                    failures.append(f"thread {seed}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_closing_while_another_thread_computes_waits_for_it(device: gm.Device) -> None:
    backend = device.backend()
    context = device.context()
    x = context.from_numpy(np.random.default_rng(0).standard_normal((256, 256), np.float32))
    for _ in range(20):
        x = ops.mul_mat(x, ops.scale(x, 0.01))
    buffer = backend.alloc(context)
    started = threading.Event()
    ended: list[BaseException] = []

    def work() -> None:
        try:
            while True:
                backend.compute(x)
                started.set()
        except BaseException as error:
            ended.append(error)
            started.set()

    thread = threading.Thread(target=work)
    thread.start()
    started.wait(60)
    for one in (buffer, context, backend):
        one.close()
    thread.join(60)
    assert not thread.is_alive()
    assert isinstance(ended[0], gm.ClosedError | ValueError)  # closed, or its memory is gone


# ---- failure inside a graph


@pytest.mark.parametrize("before", [0, 10, 100])
def test_an_abort_inside_a_graph_is_an_exception_and_poisons_the_backend(
    before: int, device: gm.Device
) -> None:
    # Upstream encodes the first 64 nodes on the calling thread and the others on a worker.
    with device.context() as context, device.backend() as backend:
        graph = gm.Graph(*_chain(context, before), unsupported(context))
        backend.alloc(context)
        with pytest.raises(gm.GgmlAbort, match="unsupported op") as caught:
            backend._compute_unchecked(graph)
        assert caught.value.line
        with pytest.raises(gm.BackendPoisoned, match="unsupported op"):
            backend.compute(graph)
    _works(device)


def _chain(context: gm.Context, length: int) -> list[gm.Tensor]:
    x = context.new_tensor("f32", (8, 8))
    nodes = []
    for _ in range(length):
        x = ops.scale(x, 1)
        nodes.append(x)
    return nodes


def _works(device: gm.Device) -> None:
    with device.context() as context, device.backend() as backend:
        x = context.from_numpy(np.ones((8, 8), np.float32))
        result = ops.scale(x, 2)
        backend.alloc(context)
        backend.compute(result)
        np.testing.assert_array_equal(result.numpy(), 2)


def test_another_backend_goes_on_while_one_is_poisoned(device: gm.Device, backend: gm.Backend) -> None:
    with device.context() as context, device.backend() as victim:
        bad = unsupported(context)
        victim.alloc(context)
        with gm.Graph(bad) as graph, pytest.raises(gm.GgmlAbort):
            victim._compute_unchecked(graph)
        for _ in range(5):
            _works(device)


def test_hundred_aborts_leave_nothing_behind(device: gm.Device) -> None:
    for _ in range(100):
        with device.context(8) as context, device.backend() as backend:
            bad = unsupported(context)
            backend.alloc(context)
            with gm.Graph(bad) as graph, pytest.raises(gm.GgmlAbort):
                backend._compute_unchecked(graph)
    _works(device)


def test_aborts_in_one_thread_do_not_disturb_another(device: gm.Device, backend: gm.Backend) -> None:
    aborts = 0

    def fail() -> None:
        nonlocal aborts
        for _ in range(50):
            with device.context(256) as context, device.backend() as victim:
                graph = gm.Graph(*_chain(context, 100), unsupported(context))
                victim.alloc(context)
                try:
                    victim._compute_unchecked(graph)
                except gm.GgmlAbort:
                    aborts += 1

    thread = threading.Thread(target=fail)
    thread.start()
    with device.context(256) as context:
        x = context.from_numpy(np.ones((8, 8), np.float32))
        result = x
        for _ in range(150):
            result = ops.add(result, x)
        backend.alloc(context)
        while thread.is_alive():
            backend.compute(result)
            np.testing.assert_array_equal(result.numpy(), 151)
    assert aborts == 50


def test_an_abort_on_the_cpu_backend_is_an_exception(device: gm.Device) -> None:
    with device.context() as context, device.cpu_backend() as cpu:
        table = context.from_numpy(np.ones((4, 32), np.float32))
        result = ops.get_rows(table, context.from_numpy(np.array([99], np.int32)))
        cpu.alloc(context)
        with pytest.raises(gm.GgmlAbort, match="GGML_ASSERT"):
            cpu.compute(result)
        with pytest.raises(gm.BackendPoisoned):
            cpu.compute(result)


def test_a_graph_whose_kernel_does_not_exist_names_it(device: gm.Device) -> None:
    # Upstream says that it supports this product, then chooses a kernel that it does not have.
    with device.context() as context, device.backend() as backend:
        product = gm.ops.mul_mat(context.new_tensor("q8_0", (32, 64)), context.new_tensor("f16", (1, 64)))
        backend.alloc(context)
        with pytest.raises(gm.KernelNotFound) as caught:
            backend.compute(product)
        assert caught.value.name == "kernel_mul_mv_q8_0_f16"
        with pytest.raises(gm.BackendPoisoned, match="kernel_mul_mv_q8_0_f16"):
            backend.compute(product)
    with device.context() as context, device.backend() as backend:
        ones = context.from_numpy(np.ones((4, 4), np.float32))
        total = gm.ops.add(ones, ones)
        backend.alloc(context)
        backend.compute(total)
        assert (total.numpy() == 2).all()
