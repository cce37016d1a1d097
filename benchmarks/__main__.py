"""`./build.sh bench [--json]`: measure, and print a table or one JSON object."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import checked, getter, graph, kernels, startup, transcription
from .result import Result, as_json, print_table


def main() -> None:
    """Run every benchmark, one after the other."""
    parser = argparse.ArgumentParser(prog="./build.sh bench", description=__doc__)
    parser.add_argument("recording", type=Path, help="what is transcribed; build.sh names the row's own")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--kernels", nargs="?", const="", metavar="NAME", help="kernels only, those whose names hold NAME"
    )
    parser.add_argument(
        "--checked", nargs="?", const="", metavar="NAME", help="what checked mode costs these kernels only"
    )
    arguments = parser.parse_args()
    results: list[Result]
    if arguments.checked is not None:
        results = list(checked.measure(arguments.checked))
    elif arguments.kernels is not None:
        results = list(kernels.measure(arguments.kernels))
    else:
        results = [
            *startup.measure(),
            *getter.measure(),
            *graph.measure(),
            *kernels.measure(),
            *transcription.measure(arguments.recording),
        ]
    if arguments.json:
        print(as_json(results))
    else:
        print_table(results)


if __name__ == "__main__":
    main()
