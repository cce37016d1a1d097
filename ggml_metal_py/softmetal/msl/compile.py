"""Runs the compiler: translated kernels, in several processes at once, plus the executor, into one library.

A unit is compiled in two steps, C++ to LLVM's IR without optimisation and from there to machine code,
with ir.py in between. For checked mode the second step is two, with instrument.py in between.
"""

import concurrent.futures
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..toolchain import Toolchain
from . import instrument, ir
from .errors import MslError
from .objects import Objects
from .program import Kernel
from .shelf import Shelf
from .store import publish
from .translate import Translation

_HERE = Path(__file__).resolve().parent
_EXEC = _HERE.parent / "exec"
# Few enough that the last units to be finished do not run alone for long, many enough that parsing the whole
# source again for each unit does not count.
_KERNELS_PER_UNIT = 16
# A kernel's private memory. Half of a lane's stack (exec/worker.h) is for it, less what calls within it need.
_FRAME_BYTES = 28 * 1024
_CHECKED_FRAME_BYTES = 120 * 1024

# fmt: off
_LANGUAGE = (
    "-std=c++17", "-O2", "-g0", "-fPIC", "-fvisibility=hidden",
    # A kernel needs nothing of a C++ library.
    "-fno-exceptions", "-fno-rtti", "-fno-asynchronous-unwind-tables", "-fno-threadsafe-statics",
    "-fno-stack-protector", "-fno-sanitize=all", "-fomit-frame-pointer", "-fno-semantic-interposition",
    # As a compiler for GPUs would: a call costs each lane its registers, and few places call the same.
    "-mllvm", "-inline-threshold=1000",
    # MSL is not C++: char is signed, memory is read as any type, and each operation on halves is rounded.
    "-fsigned-char", "-fno-strict-aliasing", "-Xclang", "-ffloat16-excess-precision=none",
    # What Metal's default, fast math, allows and what does not change which values are possible: infinities
    # and NaNs stay, as kernels mask with them. `#pragma METAL fp math_mode(safe)` turns it off.
    "-ffp-contract=fast", "-fassociative-math", "-fno-signed-zeros", "-fno-math-errno", "-fno-trapping-math",
)
# Checked mode: of what a kernel says it reads little may be optimised away, and its lines must be known.
_CHECKED = {"-O2": "-O1", "-g0": "-g1"}
_CHECKED_ONLY = (
    "-DSM_CHECKED", "-fno-vectorize", "-fno-slp-vectorize",
    # An access that is made one of two would have no line.
    "-mllvm", "-hoist-common-insts=false", "-mllvm", "-sink-common-insts=false",
)
_DIAGNOSTICS = ("-Wno-everything", "-ferror-limit=20", "-ftemplate-backtrace-limit=4")
# fmt: on

Progress = Callable[[int, int], None]


def link_kernels(
    translation: Translation,
    kernels: Sequence[Kernel],
    source_hash: str,
    output: Path,
    toolchain: Toolchain,
    shelf: Shelf,
    jobs: int = 1,
    progress: Progress = lambda done, total: None,
    keep: Path | None = None,
    checked: Sequence[str] | None = None,
) -> None:
    """Compile these kernels, sorted by host name, into the kernel library `output`.

    `checked` makes one for checked mode, and gives the source's lines for its reports.

    The toolchain works on the file system of `output`. `keep` is a folder where compiled units stay for the
    next build of these kernels.
    Raises MslError with clang's diagnostics, in lines of the user's source.
    """
    units = list(_units(kernels))
    with tempfile.TemporaryDirectory(prefix="softmetal-", dir=toolchain.temporary) as scratch_name:
        scratch = Path(scratch_name)
        kept = Objects(keep or scratch / "units")
        static_bytes: dict[str, int] = {}

        def compile_table() -> Path:
            table = scratch / "table.cpp"
            table.write_text(translation.table(kernels, source_hash, toolchain.cpu, static_bytes))
            return _compile(table, scratch / "table.o", toolchain, checked is not None)

        def compile_executor(path: Path) -> Path:
            name = f"{'checked-' if checked is not None else ''}{path.stem}.o"
            return shelf.object(name, lambda target: _compile(path, target, toolchain, checked is not None))

        def compile_unit(number: int) -> Path:
            return _compile_unit(
                translation,
                units[number],
                scratch / f"unit{number}.ll",
                kept,
                toolchain,
                static_bytes,
                checked,
            )

        executor = [
            _EXEC / "executor.cpp",
            *(sorted(_EXEC.glob("checked/*.cpp")) if checked is not None else ()),
        ]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            work = [pool.submit(compile_executor, path) for path in executor]
            work += [pool.submit(compile_unit, i) for i in range(len(units))]
            # With threadgroup variables, the table has what is only known once the units are compiled.
            late = any(kernel.has_threadgroup_variables for kernel in kernels)
            if not late:
                work.append(pool.submit(compile_table))
            try:
                for done, future in enumerate(concurrent.futures.as_completed(work), 1):
                    future.result()
                    progress(done, len(work) + late)
                if late:
                    work.append(pool.submit(compile_table))
                    work[-1].result()
                    progress(len(work), len(work))
            except MslError:
                pool.shutdown(cancel_futures=True)
                raise
        linked = scratch / output.name
        # Nothing to strip; but zig compiles its own library once for each kind of link, and has this one.
        strip = "-Wl,--strip-debug"
        link = [*toolchain.cxx, "-shared", "-nostdlib++", "-Wl,-z,defs", strip, "-o", str(linked)]
        if toolchain.kernel_flags:
            link.append("-Wl,-z,undefs")
        objects = [str(future.result()) for future in work]
        _run([*link, *objects, "-lm"], toolchain)
        publish(linked, output)
        kept.forget_others()


def _units(kernels: Sequence[Kernel]) -> Iterator[Sequence[Kernel]]:
    """Which kernels are compiled together: those alike in how their lanes run."""
    for uses_sync in (True, False):
        alike = [kernel for kernel in kernels if kernel.uses_sync == uses_sync]
        for first in range(0, len(alike), _KERNELS_PER_UNIT):
            yield alike[first : first + _KERNELS_PER_UNIT]


def _flags(toolchain: Toolchain, checked: bool) -> list[str]:
    folders = [_HERE / "include", _EXEC, *([_EXEC.parent / "include"] if checked else [])]
    return [*_language(toolchain, checked), *_machine(toolchain), *(f"-I{folder}" for folder in folders)]


def _language(toolchain: Toolchain, checked: bool) -> list[str]:
    # A sanitizer that was asked for; zig lets -fno-sanitize win, wherever it stands.
    flags = [flag for flag in _LANGUAGE if flag != "-fno-sanitize=all" or not toolchain.kernel_flags]
    return [*(_CHECKED.get(flag, flag) for flag in flags), *_CHECKED_ONLY] if checked else flags


def _machine(toolchain: Toolchain) -> list[str]:
    # See exec/stack_switch.h.
    return [*(["-mno-red-zone"] if toolchain.arch == "x86_64" else []), *toolchain.kernel_flags]


def _compile(source: Path, target: Path, toolchain: Toolchain, checked: bool) -> Path:
    flags = ["-O2" if flag == "-O1" else flag for flag in _flags(toolchain, checked)]
    _run([*toolchain.cxx, *flags, "-c", str(source), "-o", str(target)], toolchain)
    return target


def _compile_unit(
    translation: Translation,
    kernels: Sequence[Kernel],
    module: Path,
    kept: Objects,
    toolchain: Toolchain,
    static_bytes: dict[str, int],
    checked: Sequence[str] | None,
) -> Path:
    compiler = [*toolchain.cxx, *_flags(toolchain, checked is not None)]
    to_ir = ["-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-x", "c++", "-", "-o", str(module)]
    frame = f"-Wframe-larger-than={_FRAME_BYTES if checked is None else _CHECKED_FRAME_BYTES}"
    _run([*compiler, *_DIAGNOSTICS, frame, *to_ir], toolchain, translation.unit(kernels))
    written = module.read_text()
    static_bytes.update(ir.static_threadgroup_bytes(written))
    if checked is None:
        rewritten = ir.rewrite(written, loops=not kernels[0].uses_sync)
    else:
        rewritten = _instrumented(written, module, toolchain, checked)
    module.write_text(rewritten)
    to_object = [*_language(toolchain, checked is not None), *_machine(toolchain)]
    to_object += [frame, "-Werror=frame-larger-than"]
    if checked is not None:
        to_object += ["-Xclang", "-disable-llvm-passes"]  # what they know of functions no longer holds
    target = kept.file([toolchain.describe(), *to_object], rewritten)
    if not target.exists():
        partial = target.with_name(f".{target.name}.{os.getpid()}")
        _run([*toolchain.cxx, *to_object, "-c", str(module), "-o", str(partial)], toolchain)
        partial.replace(target)
    module.unlink()
    return target


def _instrumented(written: str, module: Path, toolchain: Toolchain, source: Sequence[str]) -> str:
    """The unit after optimisation, with checked mode's calls."""
    module.write_text(ir.checkable(ir.rewrite(written, loops=False, align=False)))
    optimised = module.with_suffix(".optimised.ll")
    to_ir = [*_language(toolchain, checked=True), *_machine(toolchain), "-S", "-emit-llvm"]
    _run([*toolchain.cxx, *to_ir, str(module), "-o", str(optimised)], toolchain)
    return ir.claim_elements(instrument.instrument(optimised.read_text(), source))


def _run(command: Sequence[str], toolchain: Toolchain, text: str | None = None) -> None:
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, env=toolchain.environment()
    )
    if done.returncode != 0:
        raise MslError(done.stderr or f"{command[0]} failed with status {done.returncode}\n")
