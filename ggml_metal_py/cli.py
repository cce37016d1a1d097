"""The command line. Options and printing only: what a verb does is elsewhere."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

import click

FOUND_SOMETHING, WRONG_USE = 1, 2
_EXTRAS = {"matplotlib": "plot", "hypothesis": "fuzz", "distributed": "dask"}
"""What to install for a module that is missing."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """ggml's Metal backend: on a Mac's GPU, or anywhere on a software Metal."""


_upstream = click.option("--upstream", metavar="ROW", help="Upstream row; default: GGML_METAL_PY_UPSTREAM.")
_profile = click.option(
    "--profile", metavar="NAME", help="The GPU to present, `info` lists them; default: SOFTMETAL_PROFILE."
)
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@main.command()
@_upstream
@_profile
@_json
def info(upstream: str | None, profile: str | None, as_json: bool) -> None:
    """Show the upstream, the device's properties, the profiles, how many kernels and getters there are."""
    with _errors_as_lines():
        from . import info as device_info

        values = device_info(upstream, profile)
    if as_json:
        _print_json(values)
    else:
        _print_table(values)


@main.command()
@_json
def upstreams(as_json: bool) -> None:
    """List the upstream rows: what is pinned, fetched and built, and which is the default."""
    from dataclasses import asdict

    from .upstreams import upstreams as all_rows

    rows = [asdict(row) for row in all_rows()]
    if as_json:
        _print_json({"rows": rows})
        return
    for row in rows:
        state = [word for word in ("fetched", "built", "default") if row[word]]
        source = f"{row['package']} {row['version']}, ggml {row['ggml_version'] or 'of unknown version'}"
        click.echo(f"{row['name']}: {source}: {', '.join(state) or 'not fetched'}")


@main.command()
@click.argument("name", required=False)
@_upstream
@_json
def getters(name: str | None, upstream: str | None, as_json: bool) -> None:
    """List upstream's pipeline getters and their mirrors; with NAME (mul_mm), tell the rule of one."""
    from dataclasses import asdict

    with _errors_as_lines():
        from . import open as open_device
        from .getters import listing

        with open_device(upstream) as device:
            found = listing.getters(device, name)
    if as_json:
        _print_json({"getters": [asdict(getter) for getter in found]})
        return
    for getter in found:
        lacking = "" if getter.in_upstream else f"  (since {getter.first_row})"
        click.echo(f"{getter.mirror}({', '.join(getter.arguments)}){lacking}")
        if name is not None:
            click.echo(f"\n{getter.doc}")


_sources = click.option(
    "--src",
    "sources",
    multiple=True,
    metavar="TYPE:NE0xNE1..",
    help="Type and ne of a source, src0 first: q4_0:4096x4096.",
)
_arguments = click.option(
    "--arg", "arguments", multiple=True, help="An argument of the op that is no tensor, in ggml.h's order."
)


@main.command()
@click.argument("op")
@_sources
@_arguments
@_upstream
@_profile
@_json
def pipeline(
    op: str,
    sources: Sequence[str],
    arguments: Sequence[str],
    upstream: str | None,
    profile: str | None,
    as_json: bool,
) -> None:
    """Show the kernel and parameters that upstream chooses for OP, a name of ggml.h such as mul_mat."""
    with _errors_as_lines():
        from . import open as open_device
        from .described import DescribedOp
        from .select import describe

        described = DescribedOp.parse(op, sources, arguments)
        with open_device(upstream, profile=profile) as device, device.context() as context:
            values = describe(described.make(context))
    if as_json:
        _print_json(values)
        return
    for dispatch in values["dispatches"]:
        constants = {constant["name"]: constant["value"] for constant in dispatch.pop("constants")}
        name = dispatch.pop("name")
        _print_table({name: {**dispatch, "constants": constants}})


@main.command("map")
@click.argument("op")
@_sources
@_arguments
@click.option(
    "--axis",
    "axes",
    multiple=True,
    metavar="NAME=VALUES",
    help="N=1..64, K=64..4096/64, K=32..8192*2, N=1,2,9.",
)
@click.option("--picture", type=click.Path(dir_okay=False), help="Draw it: a .png, .svg or .pdf file.")
@click.option(
    "--csv", "csv_file", type=click.File("w", lazy=True), help="Write a table; - is standard output."
)
@_upstream
@_profile
@_json
def kernel_map(
    op: str,
    sources: Sequence[str],
    arguments: Sequence[str],
    axes: Sequence[str],
    picture: str | None,
    csv_file: TextIO | None,
    upstream: str | None,
    profile: str | None,
    as_json: bool,
) -> None:
    """Show which kernel upstream chooses for OP over a grid of shapes.

    Axes of the sources are names in capitals: map mul_mat --src f16:Kx4096 --src f32:KxN
    --axis K=64..4096/64 --axis N=1..64
    """
    with _errors_as_lines():
        from . import kernel_map as maps
        from . import open as open_device
        from .described import DescribedOp, parse_axes

        described = DescribedOp.parse(op, sources, arguments)
        grid = parse_axes(axes)
        if picture is not None:
            from .picture import draw
        with open_device(upstream, profile=profile) as device, _progress(f"map {op}") as progress:
            found = maps.kernel_map(device, described, grid, progress)
        if picture is not None:
            draw(found, picture)
        if csv_file is not None:
            found.write_csv(csv_file)
    if as_json:
        _print_json({**found.as_json(), "picture": picture})
    elif csv_file is None or csv_file.name != "-":
        for base, count in found.counts().items():
            click.echo(f"{base or 'not supported'}: {count} of {len(found.cells)} shapes")


@main.command()
@click.argument("ops", nargs=-1)
@click.option("--case", "cases", multiple=True, help="A graph instead: 'add(f32(8, 2), f32(8))'.")
@click.option("--coverage", is_flag=True, help="List every kernel with its cases, and what did not run.")
@click.option("--checked", is_flag=True, help="Watch every access of the kernels: much slower.")
@_upstream
@_json
def check(
    ops: Sequence[str],
    cases: Sequence[str],
    coverage: bool,
    checked: bool,
    upstream: str | None,
    as_json: bool,
) -> None:
    """Run small cases of every op, or of OPS, on the device and on ggml's CPU backend, and compare.

    Exit status 1 when a case failed that is no known finding in upstream. A case that was shown can be run
    again by --case.
    """
    with _errors_as_lines():
        from . import check as plain

        if ops and cases:
            raise ValueError("name ops or give cases, not both")
        run_cases: Callable[..., Any] = plain.run
        if checked:
            from .fuzz import checks

            run_cases = checks.run
        with _progress("check") as progress:
            report = run_cases(ops, cases=cases, upstream=upstream, progress=progress)
    if as_json:
        _print_json(report.as_json(kernels=coverage))
    else:
        for line in report.lines(kernels=coverage):
            click.echo(line)
    if report.failures:
        sys.exit(FOUND_SOMETHING)


@main.command()
@click.argument("ops", nargs=-1)
@click.option("--seconds", type=click.FloatRange(min=0), default=60.0, show_default=True)
@click.option(
    "--shrink-seconds",
    type=click.FloatRange(min=0),
    help="What shrinking may take behind that; default: 60, with --blocks as long as it takes.",
)
@click.option("--blocks", type=click.IntRange(min=1), help="So many blocks of 30 cases, whatever it takes.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same one draws the same cases.")
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Processes.")
@click.option("--isolate", is_flag=True, help="Examine in processes that may die.")
@click.option("--checked", is_flag=True, help="Watch every access of the kernels: much slower.")
@click.option("--scheduler", metavar="ADDRESS", help="Run on a Dask cluster: tcp://host:8786.")
@click.option("--oracle", "oracles", multiple=True, help="Ask only this one; can be given again.")
@click.option("--case", "cases", multiple=True, help="Examine this graph instead: 'add(f32(8, 2), f32(8))'.")
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    default="fuzz-findings",
    show_default=True,
    help="Folder for reproducers, findings.json and report.html.",
)
@_upstream
@_profile
@_json
def fuzz(
    ops: Sequence[str],
    seconds: float,
    shrink_seconds: float | None,
    blocks: int | None,
    seed: int,
    workers: int,
    isolate: bool,
    checked: bool,
    scheduler: str | None,
    oracles: Sequence[str],
    cases: Sequence[str],
    out: str,
    upstream: str | None,
    profile: str | None,
    as_json: bool,
) -> None:
    """Draw graphs of every op, or of OPS, and look for what does not hold: see ggml_metal_py/fuzz/README.md.

    Exit status 1 when something was found that is not listed as upstream's mistake. Each finding is shrunk to
    the smallest case and written as a script that shows it.
    """
    with _errors_as_lines():
        from pathlib import Path

        from . import fuzz as fuzzing

        plan = fuzzing.Plan(upstream, profile, tuple(oracles), checked, isolate)
        if cases:
            status = 0
            for examined in fuzzing.examine(cases, plan):
                status |= examined.status == "failed"
                for line in [json.dumps(examined.as_json())] if as_json else examined.lines():
                    click.echo(line)
            sys.exit(status)
        with _progress_lines("fuzz") as progress:
            report = fuzzing.run(
                ops,
                seconds=seconds,
                shrink_seconds=shrink_seconds,
                blocks=blocks,
                seed=seed,
                workers=workers,
                scheduler=scheduler,
                plan=plan,
                progress=progress,
            )
        report.write(Path(out))
    if as_json:
        _print_json(report.as_json(Path(out)))
    else:
        for line in report.lines():
            click.echo(line)
        click.echo(f"written to {out}: report.html, findings.json, reproducers")
    if report.findings:
        sys.exit(FOUND_SOMETHING)


@main.command()
@click.argument("audio", type=click.Path())
@click.option("--model", default="tiny.en", show_default=True, help="A model file, or a known name.")
@click.option("--threads", type=click.IntRange(min=1), help="Default: all that may be used.")
@click.option("--compare-cpu", is_flag=True, help="Do it on ggml's CPU backend too, and compare.")
@_json
def transcribe(audio: str, model: str, threads: int | None, compare_cpu: bool, as_json: bool) -> None:
    """Print what is said in AUDIO (wav, mp3, flac...), by Whisper on the Metal backend.

    Exit status 1 when --compare-cpu gave another text.
    """
    with _errors_as_lines():
        from .whisper import report

        done = report.transcribe(audio, model, threads=threads, compare_cpu=compare_cpu, say=_say)
    if as_json:
        _print_json(done.as_json())
    else:
        click.echo(done.device.text)
        for line in done.lines():
            _say(line)
    if not done.same_text:
        sys.exit(FOUND_SOMETHING)


@main.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--json", "as_json", is_flag=True, help="The line at the end is a JSON object.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(command: Sequence[str], as_json: bool) -> None:
    """Run COMMAND (a script or a console command) with the backend in any ggml that it loads.

    Its exit status is the command's. At the end a line on standard error says what ran where.
    """
    from .dropin import summary

    os.environ[summary.WANTED] = "json" if as_json else "text"
    # In an interpreter of its own, as fresh as the command's would be.
    os.execv(sys.executable, [sys.executable, "-m", "ggml_metal_py.dropin", *command])


def _say(line: str) -> None:
    click.echo(line, err=True)


def _print_json(values: dict[str, Any]) -> None:
    click.echo(json.dumps(values, ensure_ascii=False))


def _print_table(values: dict[str, Any], indent: str = "") -> None:
    for name, value in values.items():
        if isinstance(value, dict):
            click.echo(f"{indent}{name}:")
            _print_table(value, indent + "  ")
        else:
            click.echo(f"{indent}{name}: {value}")


@contextmanager
def _progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error, while it is a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(label)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def _progress_lines(label: str) -> Iterator[Callable[[float, str], None]]:
    """A bar on standard error with a line that changes, while it is a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(label, total=1.0)
        yield lambda part, line: bar.update(task, completed=part, description=f"{label}: {line}")


@contextmanager
def _errors_as_lines() -> Iterator[None]:
    """What the user can mend is said without a traceback, with status 2."""
    from .errors import GgmlMetalError
    from .registry import FetchError
    from .whisper import WhisperError

    try:
        yield
    except (GgmlMetalError, FetchError, WhisperError, ValueError, OSError) as error:
        _say(f"error: {error}")
        sys.exit(WRONG_USE)
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0], "cli,whisper")
        _say(f"error: {error}: pip install 'ggml_metal_py[{extra}]'")
        sys.exit(WRONG_USE)


if __name__ == "__main__":
    main(prog_name="ggml-metal-py")
