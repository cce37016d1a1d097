"""The backend gets into an untouched host, or a message says why not."""

import json
import os
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from subprocess import CompletedProcess, run

import pytest
import speech
from fresh_python import ROOT, run_python

from ggml_metal_py.dropin import HostMismatch, process
from ggml_metal_py.whisper import models

Launch = Callable[..., "CompletedProcess[str]"]


@pytest.fixture
def launch(tmp_path: Path) -> Launch:
    """`python -m ggml_metal_py.dropin COMMAND...` in an empty folder, with a summary in JSON at its end."""

    def start(*command: object, env: Mapping[str, str] | None = None) -> "CompletedProcess[str]":
        return run(
            [sys.executable, "-m", "ggml_metal_py.dropin", *map(str, command)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "GGML_METAL_PY_SUMMARY": "json", **(env or {})},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return start


@pytest.fixture
def write_script(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str, name: str = "script.py") -> Path:
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return path

    return write


WriteScript = Callable[..., Path]


def summary(done: "CompletedProcess[str]") -> dict[str, int]:
    """Nodes by place, from the line at the end of standard error."""
    values = json.loads(done.stderr.splitlines()[-1])
    return {"device": values["nodes"]["device"], "cpu": values["nodes"]["cpu"]}


# ---- attach()


def test_attach_puts_a_gpu_into_the_hosts_registry_and_again_does_nothing() -> None:
    done = run_python("""
        import ctypes
        import _pywhispercpp
        from ggml_metal_py.dropin import attach, process
        first = attach()
        assert attach() == first
        (attachment,) = first
        host = process.open_loaded(attachment.host_library)
        host.ggml_backend_dev_get.restype = ctypes.c_void_p
        host.ggml_backend_dev_get.argtypes = [ctypes.c_size_t]
        host.ggml_backend_dev_type.argtypes = [ctypes.c_void_p]
        devices = [host.ggml_backend_dev_get(i) for i in range(host.ggml_backend_dev_count())]
        print([host.ggml_backend_dev_type(device) for device in devices])
        print(attachment.ggml_version, attachment.row)
    """)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[0, 1]", "0.13.1 pywhispercpp-1.5.1"]


def test_without_a_host_attach_says_what_to_do() -> None:
    done = run_python("from ggml_metal_py.dropin import attach; attach()")
    assert done.returncode == 1
    assert "HostNotFound" in done.stderr
    assert "pywhispercpp" in done.stderr.splitlines()[-1]
    assert "ggml-metal-py run" in done.stderr.splitlines()[-1]


def test_another_ggml_version_is_refused_with_the_build_that_matches() -> None:
    done = run_python(
        """
        import _pywhispercpp
        from ggml_metal_py.dropin import HostMismatch, attach
        try:
            attach()
        except HostMismatch as error:
            print(error)
        """,
        env={"GGML_METAL_PY_UPSTREAM": "pywhispercpp-1.5.0"},
    )
    assert done.returncode == 0, done.stderr
    for part in ("0.13.1", "0.9.8", "./build.sh build --upstream pywhispercpp-1.5.1"):
        assert part in done.stdout


def test_an_upstream_without_a_stated_version_is_refused() -> None:
    done = run_python(
        "import _pywhispercpp; from ggml_metal_py.dropin import attach; attach()",
        env={"GGML_METAL_PY_UPSTREAM": "whisper.rn-0.5.2"},
    )
    assert done.returncode == 1
    assert "HostMismatch" in done.stderr


def test_this_process_knows_its_libraries() -> None:
    libraries = process.loaded_libraries()
    assert len(libraries) == len(set(libraries))
    assert any("libc" in path.name or "libSystem" in path.name for path in libraries)
    with pytest.raises(OSError, match="nothing"):
        process.open_loaded(Path("/nothing/libggml.so"))


def test_mismatch_is_an_error_of_this_package() -> None:
    import ggml_metal_py

    assert issubclass(HostMismatch, ggml_metal_py.GgmlMetalError)


# ---- the launcher, with scripts that have nothing to do with ggml


def test_a_script_runs_as_python_runs_it(launch: Launch, write_script: WriteScript, tmp_path: Path) -> None:
    write_script("value = 42", "beside.py")
    script = write_script("""
        import sys, pickle, atexit, threading, time, beside
        class Thing: pass
        assert __name__ == "__main__" and __file__ == sys.argv[0]
        assert isinstance(pickle.loads(pickle.dumps(Thing())), Thing)
        atexit.register(lambda: print("at exit", Thing.__name__))
        def late():
            time.sleep(0.2)
            print("late", Thing.__name__, sys.modules["__main__"].Thing is Thing)
        threading.Thread(target=late).start()
        print(sys.argv[1:], beside.value)
    """)
    done = launch(script, "a", "--b", "c d")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["['a', '--b', 'c d'] 42", "late Thing True", "at exit Thing"]
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ("pass", 0),
        ("sys.exit(0)", 0),
        ("sys.exit(7)", 7),
        ("sys.exit('words')", 1),
        ("raise KeyError('x')", 1),
        ("os._exit(5)", 5),
        ("os.kill(os.getpid(), 9)", -9),
    ],
)
def test_the_exit_status_is_the_scripts(
    ending: str, status: int, launch: Launch, write_script: WriteScript
) -> None:
    assert launch(write_script(f"import os, sys\n{ending}")).returncode == status


def test_a_module_a_console_command_and_any_command_run(
    launch: Launch, write_script: WriteScript, tmp_path: Path
) -> None:
    assert launch("-m", "json.tool", "--help").stdout.startswith("usage")
    assert "pip" in launch("pip", "--version").stdout
    assert launch("sh", "-c", "echo $0 $1; exit 3", "x", "y").returncode == 3
    script = write_script(f"#!{sys.executable}\nprint('console')", "tool")
    script.chmod(0o755)
    assert launch("./tool").stdout == "console\n"


@pytest.mark.parametrize("command", [(), ("-m",), ("no-such-command",), ("no/such/script.py",)])
def test_a_wrong_call_is_status_2_with_one_line(command: tuple[str, ...], launch: Launch) -> None:
    done = launch(*command)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_the_users_own_sitecustomize_still_runs(
    launch: Launch, write_script: WriteScript, tmp_path: Path
) -> None:
    write_script("print('mine')", "sitecustomize.py")
    script = write_script("import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1)'])")
    done = launch(script, env={"PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])})
    # The script's own output may wait in its buffer until it ends.
    assert sorted(done.stdout.splitlines()) == ["1", "mine", "mine"], done.stderr


def test_a_mismatch_ends_the_import_of_the_host(launch: Launch, write_script: WriteScript) -> None:
    script = write_script("import pywhispercpp.model")
    done = launch(script, env={"GGML_METAL_PY_UPSTREAM": "pywhispercpp-1.5.0"})
    assert done.returncode == 1
    assert "HostMismatch" in done.stderr
    assert "--upstream pywhispercpp-1.5.1" in done.stderr


# ---- the launcher, with an untouched host


def test_an_untouched_script_computes_on_the_device(
    launch: Launch, write_script: WriteScript, tmp_path: Path
) -> None:
    sound = speech.write_16_khz(speech.THANKS, tmp_path / "thanks.wav")
    done = launch(write_script(speech.PLAIN_SCRIPT), models.find("tiny.en"), sound)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == speech.THANKS_TEXT
    assert summary(done)["device"] > 1000
    assert summary(done)["cpu"] == 0


def test_a_refused_op_is_seen_on_the_hosts_cpu_backend(
    launch: Launch, write_script: WriteScript, tmp_path: Path
) -> None:
    sound = speech.write_16_khz(speech.THANKS, tmp_path / "thanks.wav")
    script = write_script(speech.PLAIN_SCRIPT)
    done = launch(script, models.find("tiny.en"), sound, env={"GGML_METAL_PY_REFUSE": "NORM,GELU"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == speech.THANKS_TEXT
    assert summary(done)["cpu"] > 0
    assert summary(done)["device"] > summary(done)["cpu"]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_child_processes_get_the_device_too(
    method: str, launch: Launch, write_script: WriteScript, tmp_path: Path
) -> None:
    sound = speech.write_16_khz(speech.THANKS, tmp_path / "thanks.wav")
    script = write_script(f"""
        import multiprocessing, sys
        def work(model, sound):
            from pywhispercpp.model import Model
            print(Model(model, n_threads=1, print_progress=False).transcribe(sound)[0].text, flush=True)
        if __name__ == "__main__":
            child = multiprocessing.get_context("{method}").Process(target=work, args=sys.argv[1:])
            child.start()
            child.join()
            sys.exit(child.exitcode)
    """)
    done = launch(script, models.find("tiny.en"), sound)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == speech.THANKS_TEXT
    assert "loaded MTL backend" in done.stderr


# ---- the end of the process, seen from a plain script


@pytest.mark.parametrize(
    "ending",
    [
        "sys.exit(0)",
        "globals().update(kept=[model])",
        "threading.Thread(target=model.transcribe, args=(silence,), daemon=True).start(); time.sleep(0.3)",
        "child = os.fork(); sys.exit(child and os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))",
        "child = os.fork(); child or model.transcribe(silence); sys.exit(child and os.waitpid(child, 0)[1])",
    ],
    ids=["open", "kept", "computing", "forked", "computing in a fork"],
)
def test_exit_with_an_open_model_is_silent_and_good(
    ending: str, launch: Launch, write_script: WriteScript
) -> None:
    script = write_script(
        "import os, sys, threading, time\n"
        "import numpy\n"
        "from pywhispercpp.model import Model\n"
        "model = Model(sys.argv[1], n_threads=2, redirect_whispercpp_logs_to=None, print_progress=False)\n"
        "silence = numpy.zeros(160000, numpy.float32)\n"
        f"{ending}\n"
    )
    done = launch(script, models.find("tiny.en"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


def test_an_untouched_host_shows_why_the_device_failed(launch: Launch, write_script: WriteScript) -> None:
    script = write_script("""
        import os, sys
        import numpy
        from pywhispercpp.model import Model
        model = Model(sys.argv[1], redirect_whispercpp_logs_to=None, print_progress=False)
        if child := os.fork():
            os.waitpid(child, 0)
        else:
            model.transcribe(numpy.zeros(16000, numpy.float32))
    """)
    done = launch(script, models.find("tiny.en"))
    assert "the device was opened before this process was forked" in done.stderr
