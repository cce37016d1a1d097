"""`./build.sh bench [--json]`: measure, and print a table or one JSON object."""

from __future__ import annotations

import argparse
from pathlib import Path

from ggml_metal_py._build.layout import Layout
from ggml_metal_py._build.manifest import read_manifest
from ggml_metal_py._build.unpack import unpack

from . import graph, startup, transcription
from .result import Result, as_json, print_table


def main() -> None:
    """Run every benchmark, one after the other."""
    parser = argparse.ArgumentParser(prog="./build.sh bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    results: list[Result] = [*startup.measure(), *graph.measure(), *transcription.measure(_sample())]
    if arguments.json:
        print(as_json(results))
    else:
        print_table(results)


def _sample() -> Path:
    layout = Layout(read_manifest().row())
    return unpack(layout.row, layout.root / layout.upstream) / "samples" / "jfk.wav"


if __name__ == "__main__":
    main()
