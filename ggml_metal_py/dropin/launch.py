"""Runs an untouched script, module or command with the backend put into any ggml host that it imports."""

from __future__ import annotations

import importlib.machinery
import os
import runpy
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from . import hook

_SITE = Path(__file__).with_name("site")


class CommandNotFound(OSError):
    """The command is neither a script nor on the PATH."""


def run(command: Sequence[str]) -> None:
    """Run `SCRIPT [ARGS]`, `-m MODULE [ARGS]` or `COMMAND [ARGS]` as if Python or the shell had started it.

    A Python script (by its name or its first line, as pip's console commands have) runs in this process and
    raises what it raises, SystemExit included. Any other command replaces this process. Python processes
    that either of them starts get the backend too.

    Raises: CommandNotFound.
    """
    os.environ["PYTHONPATH"] = _python_path()
    if command[0] == "-m":
        hook.install()
        sys.argv = list(command[1:])
        runpy.run_module(command[1], run_name="__main__", alter_sys=True)
        return
    path = _find(command[0])
    if _is_python(path):
        hook.install()
        _run_script(path, command[1:])
    else:
        sys.stdout.flush()
        sys.stderr.flush()
        os.execv(path, [command[0], *command[1:]])


def _python_path() -> str:
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join([str(_SITE), *(entry for entry in entries if entry and entry != str(_SITE))])


def _find(command: str) -> Path:
    """A script's path, else what the shell would find, else a command installed beside this Python."""
    beside = Path(sys.executable).parent
    if (os.sep in command or command.endswith(".py")) and Path(command).is_file():
        return Path(command)
    if found := shutil.which(command) or shutil.which(command, path=str(beside)):
        return Path(found)
    if Path(command).is_file():
        return Path(command)
    raise CommandNotFound(f"{command}: neither a script nor a command on the PATH or in {beside}")


def _is_python(path: Path) -> bool:
    if path.suffix == ".py":
        return True
    with path.open("rb") as file:
        first_line = file.readline(1024)
    return first_line.startswith(b"#!") and b"python" in first_line


def _run_script(path: Path, arguments: Sequence[str]) -> None:
    # Not runpy.run_path: that takes __main__ away when the script's last line is done, but threads and exit
    # handlers may still need it.
    loader = importlib.machinery.SourceFileLoader("__main__", str(path))
    module = ModuleType("__main__")
    module.__dict__.update(
        __file__=str(path), __builtins__=__builtins__, __loader__=loader, __package__=None, __spec__=None
    )
    code = loader.source_to_code(loader.get_data(str(path)), str(path))
    sys.modules["__main__"] = module
    sys.argv = [str(path), *arguments]
    sys.path[0] = str(path.resolve().parent)
    exec(code, module.__dict__)
