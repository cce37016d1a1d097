"""ggml's own test program, test-backend-ops, as a host that loads the row's library as its Metal backend.

The program is the row's, unchanged. It is linked with the objects of ggml-base and ggml-cpu that the library is
made of; only the registry of backends is compiled once more, so that it knows no Metal backend before it loads
ours.
"""

import dataclasses
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ..softmetal.toolchain import Toolchain
from .graph import STRIP
from .groups import PACKAGE, Group, row_groups
from .layout import Layout
from .manifest import Manifest, ManifestError, Row
from .ninja_file import NinjaFile, join, object_file
from .suite_counts import SuiteCounts

PROGRAM = "test-backend-ops"
REGISTRY = "ggml-backend-reg.cpp"


def suite_row(manifest: Manifest, name: str | None) -> Row:
    """The row of that name, which must carry ggml's tests; without a name, the first row that does.

    Raises ManifestError, naming the rows that carry them.
    """
    having = [row for row in manifest.rows.values() if row.tests is not None]
    row = manifest.row(name) if name or not having else having[0]
    if row not in having:
        names = ", ".join(row.name for row in having) or "none"
        raise ManifestError(f"row {row.name} comes without ggml's tests; with them: {names}")
    return row


def write_suite_graph(layout: Layout, toolchain: Toolchain) -> Path:
    """Write the build.ninja of the program, for a row that is built; its path relative to `layout.root`."""
    ninja = NinjaFile(f"{PROGRAM} of {layout.row.name}", layout.suite, toolchain)
    ninja.rule("link", "$cxx $in -o $out $flags", "link $out")
    groups = {group.name: group for group in row_groups(layout, toolchain)}
    base, cpu = groups["ggml-base"], groups["ggml-cpu"]
    objects = [
        object_file(layout.objects, source, group)
        for group in (base, cpu)
        for source in group.sources
        if source.name != REGISTRY
    ]
    objects += [ninja.compile(source, group) for group in _own(layout, base) for source in group.sources]
    flags = [] if toolchain.kind == "apple" else [STRIP, "-pthread", "-ldl", "-lm"]
    ninja.build(program(layout), "link", objects, flags=join(flags))
    return ninja.write(layout.root)


def _own(layout: Layout, base: Group) -> list[Group]:
    registry = tuple(source for source in base.sources if source.name == REGISTRY)
    without_metal = tuple(flag for flag in base.flags if flag != "-DGGML_USE_METAL")
    return [
        dataclasses.replace(base, name="registry", sources=registry, flags=without_metal),
        # With assertions: they belong to the tests.
        Group("tests", (layout.upstream / "tests" / f"{PROGRAM}.cpp",), (*base.flags, "-UNDEBUG")),
    ]


def program(layout: Layout) -> Path:
    """The program, relative to `layout.root`."""
    return layout.suite / PROGRAM


def run_suite(layout: Layout, toolchain: Toolchain, arguments: Sequence[str]) -> int:
    """Run the built program on the row's library, its output passed through and summed up in a last line.

    Returns its exit status: as a shell has it for one that a signal ended, and 2 when no case ran at all.
    """
    environment = dict(os.environ)
    environment["GGML_BACKEND_PATH"] = str(layout.root / layout.artifacts / layout.library_name(toolchain))
    # For kernels that are not prebuilt. The prebuilt ones the library finds beside itself.
    compiler = shlex.join([sys.executable, "-m", f"{PACKAGE.name}.softmetal.msl"])
    environment.setdefault("SOFTMETAL_COMPILER", compiler)
    command = [str(layout.root / program(layout)), *arguments]
    counts = SuiteCounts()
    with subprocess.Popen(command, cwd=layout.root, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        # In whatever pieces it comes: a case's name is there before its result.
        while piece := os.read(process.stdout.fileno(), 1 << 16):
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
            counts.feed(piece)
    status = process.returncode
    if status < 0:
        print(f"\n{layout.row.name}: {counts}; ended by {signal.Signals(-status).name}")
        return 128 - status
    if counts.finished and not counts.ran:
        print(f"{layout.row.name}: no case ran; -o takes the names that `-- --list-ops` shows")
        return status or 2
    if counts.tested:
        print(f"{layout.row.name}: {counts}")
    return status
