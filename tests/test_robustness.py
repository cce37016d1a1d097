"""The interpreter never dies: exits, forks, half-made objects, log callbacks, leaks."""

import gc
import logging
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from fresh_python import run_python

import ggml_metal_py as gm
from ggml_metal_py import ops

PREPARE = """
    import os, sys, threading, time
    import numpy as np
    import ggml_metal_py as gm
    from ggml_metal_py import ops

    device = gm.open()
    backend = device.backend()
    context = device.context()
    x = context.from_numpy(np.ones((256, 256), np.float32))
    result = ops.mul_mat(x, ops.scale(x, 2))
    buffer = backend.alloc(context)
    backend.compute(result)
"""


def silent_success(done: subprocess.CompletedProcess[str]) -> bool:
    return (done.returncode, done.stdout, done.stderr) == (0, "", "")


# ---- R1: the end of a process


@pytest.mark.parametrize(
    "end",
    [
        "",
        "sys.exit(0)",
        "buffer.close()",
        "del context, buffer, x, result",
        "import atexit; atexit.register(backend.close)",
        "backend.close(); device.close(); buffer.close(); context.close()",
        "sys.modules['keeper'] = type(sys)('keeper'); sys.modules['keeper'].backend = backend",
        # the script's names outlive those of all other modules
        "import codecs; codecs.register(lambda name, main=sys.modules['__main__']: None)",
    ],
)
def test_exit_with_open_objects_is_clean(end: str) -> None:
    done = run_python(PREPARE + f"\n    {end}\n")
    assert silent_success(done), done


def test_exit_while_another_thread_computes_is_clean() -> None:
    done = run_python(
        PREPARE
        + """
    def work():
        while True:
            backend.compute(result)
    threading.Thread(target=work, daemon=True).start()
    time.sleep(0.3)
    """
    )
    assert silent_success(done), done


def test_exit_of_a_forked_child_is_clean() -> None:
    done = run_python(
        PREPARE
        + """
    pid = os.fork()
    if pid:
        _, status = os.waitpid(pid, 0)
        backend.compute(result)
        sys.exit(os.waitstatus_to_exitcode(status))
    """
    )
    assert silent_success(done), done


def test_exit_after_an_abort_is_clean() -> None:
    done = run_python(
        PREPARE
        + """
    bad = ops.apply("diag_mask_inf", context.new_tensor("f32", (8, 8)), 0)
    second = backend.alloc(context)
    try:
        backend._compute_unchecked(gm.Graph(bad))
    except gm.GgmlAbort:
        pass
    else:
        sys.exit("no abort")
    """
    )
    assert silent_success(done), done


# ---- R6: fork and spawn


def test_use_in_a_forked_child_is_refused() -> None:
    done = run_python(
        PREPARE
        + """
    def attempts():
        yield lambda: backend.compute(result)
        yield lambda: result.numpy()
        yield lambda: device.backend()
        yield lambda: gm.open()
        yield lambda: gm.mul_mat(np.ones((2, 32)), np.ones((2, 32)))
        yield lambda: ops.gelu(x)
        yield lambda: device.name
    pid = os.fork()
    if not pid:
        for attempt in attempts():
            try:
                attempt()
            except gm.ForkedError as error:
                assert "spawn" in str(error)
            else:
                os._exit(7)
        for one in (buffer, context, backend, device):
            one.close()
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    backend.compute(result)
    sys.exit(os.waitstatus_to_exitcode(status))
    """
    )
    assert silent_success(done), done


def test_a_child_forked_before_opening_may_open() -> None:
    done = run_python(
        """
        import os, sys
        import numpy as np
        import ggml_metal_py as gm
        pid = os.fork()
        assert np.allclose(gm.mul_mat(np.ones((2, 32)), np.ones((2, 32))), 32)
        if pid:
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """
    )
    assert silent_success(done), done


def test_spawned_processes_work(tmp_path: Path) -> None:
    (tmp_path / "spawning.py").write_text(
        "import multiprocessing\n"
        "import numpy as np\n"
        "import ggml_metal_py as gm\n"
        "def work(n):\n"
        "    return float(gm.mul_mat(np.ones((2, 32)), np.full((2, 32), n))[0, 0])\n"
        "if __name__ == '__main__':\n"
        "    work(1)\n"
        "    with multiprocessing.get_context('spawn').Pool(2) as pool:\n"
        "        print(pool.map(work, range(4)))\n"
    )
    script = f"import runpy; runpy.run_path({str(tmp_path / 'spawning.py')!r}, run_name='__main__')"
    done = run_python(script, cwd=tmp_path)
    assert done.stdout == "[0.0, 32.0, 64.0, 96.0]\n", done


# ---- R2: objects half made, closed twice, closed in any order


@pytest.mark.parametrize("kind", [gm.Backend, gm.Context, gm.Library, gm.Device, gm.Buffer, gm.Graph])
def test_an_object_that_was_never_made_can_be_closed_and_deleted(kind: type) -> None:
    made = kind.__new__(kind)
    assert made.closed
    made.close()
    with pytest.raises(gm.ClosedError, match=f"this {kind.__name__} is closed"):
        made.__enter__()
    del made


def test_a_constructor_that_fails_leaves_nothing_behind(device: gm.Device) -> None:
    done = run_python(
        """
        import ggml_metal_py as gm
        device = gm.open()
        for make in (
            lambda: gm.Context(device, -1),
            lambda: gm.Graph(),
            lambda: gm.Backend.on_cpu(device, 0),
            lambda: gm.open(name="none"),
            lambda: gm.Library.from_source(device, ""),
        ):
            try:
                make()
            except ValueError:
                pass
        """
    )
    assert silent_success(done), done


@pytest.mark.parametrize("order", ["dbcug", "gucbd", "ucdbg", "bdugc"])
def test_close_in_any_order_and_twice(order: str) -> None:
    device = gm.open()
    backend, context = device.backend(), device.context()
    x = context.from_numpy(np.ones((4, 4), np.float32))
    result = ops.scale(x, 2)
    buffer = backend.alloc(context)
    graph = gm.Graph(result)
    backend.compute(graph)
    objects = {"d": device, "b": backend, "c": context, "u": buffer, "g": graph}
    for letter in order * 2:
        objects[letter].close()
    for one in objects.values():
        assert one.closed
        assert "closed" in repr(one) or type(one) in (gm.Graph, gm.Buffer)
    with pytest.raises(gm.ClosedError):
        backend.compute(graph)


def test_garbage_collection_in_any_order_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    for kept in range(4):
        device = gm.open()
        backend, context = device.backend(), device.context()
        context.from_numpy(np.ones(4, np.float32))
        parts: list[object] = [device, backend, context, backend.alloc(context)]
        del device, backend, context
        last = parts.pop(kept)
        parts.clear()
        gc.collect()
        del last
        gc.collect()
    assert capfd.readouterr() == ("", "")


# ---- R5: logs


@pytest.fixture
def restored_callback() -> Iterator[None]:
    yield
    gm.set_log_callback(None)


def make_log_lines(device: gm.Device) -> None:
    with pytest.raises(gm.KernelNotFound):
        device.library.compile_pipeline("kernel_nobody_has")


@pytest.mark.parametrize("garbage", [1, "print", object()])
def test_a_log_callback_that_cannot_be_called_is_refused(garbage: object) -> None:
    with pytest.raises(TypeError, match="a log callback is a function"):
        gm.set_log_callback(garbage)  # type: ignore[arg-type]


@pytest.mark.usefixtures("restored_callback")
def test_log_lines_go_to_the_callback_and_back_to_the_logger(
    device: gm.Device, caplog: pytest.LogCaptureFixture
) -> None:
    lines: list[tuple[int, str]] = []
    gm.set_log_callback(lambda level, line: lines.append((level, line)))
    make_log_lines(device)
    assert any(level == logging.ERROR and "kernel_nobody_has" in line for level, line in lines)
    assert not any(line.endswith("\n") for _, line in lines)
    before = len(lines)
    gm.set_log_callback(None)
    with caplog.at_level(logging.DEBUG, "ggml_metal_py"):
        make_log_lines(device)
    assert len(lines) == before
    assert "kernel_nobody_has" in caplog.text


@pytest.mark.usefixtures("restored_callback")
def test_a_log_callback_that_raises_is_reported_and_kept(
    device: gm.Device, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[str] = []

    def bad(level: int, line: str) -> None:
        calls.append(line)
        raise RuntimeError("the callback broke")

    gm.set_log_callback(bad)
    make_log_lines(device)
    first = len(calls)
    assert first
    make_log_lines(device)
    assert len(calls) > first
    assert "the callback broke" in caplog.text
    assert "kernel_nobody_has" in caplog.text


@pytest.mark.usefixtures("restored_callback")
def test_a_log_callback_may_call_the_library(device: gm.Device) -> None:
    seen: list[str] = []

    def curious(level: int, line: str) -> None:
        with device.context() as context:
            context.new_tensor("f32", (4,))
        seen.append(line)

    gm.set_log_callback(curious)
    make_log_lines(device)
    assert seen


def test_nothing_is_printed_by_default() -> None:
    done = run_python(
        PREPARE
        + """
    try:
        device.library.compile_pipeline("kernel_nobody_has")
    except gm.KernelNotFound:
        pass
    """
    )
    assert silent_success(done), done


# ---- an abort inside a getter


def test_an_abort_inside_a_getter_is_an_exception_and_the_next_call_works(
    device: gm.Device, context: gm.Context
) -> None:  # R10
    native = device._native
    library = device.library._use()
    bad = ops.mul_mat(context.new_tensor("i8", (4, 32)), context.new_tensor("f32", (2, 32)))
    good = ops.mul_mat(context.new_tensor("f16", (4, 32)), context.new_tensor("f32", (2, 32)))
    for _ in range(1000):
        with pytest.raises(gm.GgmlAbort) as caught:
            native.ggml_metal_library_get_pipeline_mul_mv(library, bad._use())
        assert caught.value.file is not None
        assert caught.value.file.endswith("ggml-metal-device.cpp")
        assert caught.value.line
    pipeline = native.ggml_metal_library_get_pipeline_mul_mv(library, good._use())
    assert pipeline.pipeline != native.ffi.NULL
    assert pipeline.nsg > 0


# ---- R16: leaks


def measure() -> tuple[int, int]:
    """Resident kilobytes and threads of this process."""
    status = Path("/proc/self/status").read_text()
    found = re.findall(r"^(?:VmRSS|Threads):\s+(\d+)", status, re.MULTILINE)
    return int(found[0]), int(found[1])


def use_and_close() -> None:
    with gm.open() as device, device.backend() as backend, device.context(64) as context:
        x = context.from_numpy(np.ones((256, 256), np.float32))
        result = ops.mul_mat(x, ops.scale(x, 2))
        backend.alloc(context)
        backend.compute(result)
        assert result.numpy()[0, 0] == 512


def use_and_abort() -> None:
    with gm.open() as device, device.context(64) as context:
        bad = ops.mul_mat(context.new_tensor("i8", (4, 32)), context.new_tensor("f32", (2, 32)))
        with pytest.raises(gm.GgmlAbort):
            device._native.ggml_metal_library_get_pipeline_mul_mv(device.library._use(), bad._use())


@pytest.mark.parametrize("cycle", [use_and_close, use_and_abort])
def test_opening_and_closing_again_and_again_does_not_grow(cycle: Callable[[], None]) -> None:
    for _ in range(10):
        cycle()
    gc.collect()
    memory, threads = measure()
    for _ in range(50):
        cycle()
    gc.collect()
    memory_after, threads_after = measure()
    assert threads_after == threads
    assert memory_after - memory < 1024  # kilobytes; one 256 x 256 tensor alone has 256
