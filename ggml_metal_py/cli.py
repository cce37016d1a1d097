"""The command line. Options and printing only: what a verb does is elsewhere."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

FOUND_SOMETHING, WRONG_USE = 1, 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """ggml's Metal backend: on a Mac's GPU, or anywhere on a software Metal."""


@main.command()
@click.option("--upstream", metavar="ROW", help="Upstream row; default: GGML_METAL_PY_UPSTREAM.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def info(upstream: str | None, as_json: bool) -> None:
    """Show the upstream, the device's properties, and how many kernels and getters there are."""
    with _errors_as_lines():
        from . import info as device_info

        values = device_info(upstream)
    if as_json:
        _print_json(values)
    else:
        _print_table(values)


@main.command()
@click.argument("audio", type=click.Path())
@click.option("--model", default="tiny.en", show_default=True, help="A model file, or a known name.")
@click.option("--threads", type=click.IntRange(min=1), help="Default: all that may be used.")
@click.option("--compare-cpu", is_flag=True, help="Do it on ggml's CPU backend too, and compare.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
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
        _say(f"error: {error}: pip install 'ggml_metal_py[cli,whisper]'")
        sys.exit(WRONG_USE)


if __name__ == "__main__":
    main(prog_name="ggml-metal-py")
