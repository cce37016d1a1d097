"""The compiler service's command line: `python -m ggml_metal_py.softmetal.msl build SOURCE --out FOLDER`.

softmetal's device runs it when no kernel library is there for a source, and the build runs it beforehand.
Diagnostics go to stderr; status 0 is success, 1 is an error in the source or no compiler.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ..toolchain import ToolchainError, find_toolchain
from .build import build
from .errors import MslError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    options = _parser().parse_args(arguments)
    macros = dict(macro.partition("=")[::2] for macro in options.define)
    macros = {name: value or "1" for name, value in macros.items()}
    try:
        built = build(
            options.source,
            options.out,
            macros,
            find_toolchain(),
            functions_only=options.functions_only,
            function=options.function,
            jobs=options.jobs,
            progress=_show_progress if options.progress else lambda done, total: None,
            keep=options.keep,
        )
    except (MslError, ToolchainError) as error:
        sys.stderr.write(str(error).rstrip() + "\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"{error.filename or options.source}: {error.strerror}\n")
        return 1
    print(built)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="softmetal.msl", description=__doc__)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("build", help="compile an MSL source into a kernel library")
    verb.add_argument("source", type=Path, help="the .metal file")
    verb.add_argument(
        "--out", type=Path, required=True, help="folder of kernel libraries; KEY/ is made in it"
    )
    verb.add_argument("-D", dest="define", action="append", default=[], metavar="NAME=VALUE", help="a macro")
    what = verb.add_mutually_exclusive_group()
    what.add_argument("--functions-only", action="store_true", help="list the host names, compile nothing")
    what.add_argument("--function", metavar="NAME", help="compile the kernel of this host name only")
    verb.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="compiler processes at once")
    verb.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="keep compiled units there, for the next build of SOURCE"
    )
    verb.add_argument("--progress", action="store_true", help="say on stderr how far it is")
    return parser


def _show_progress(done: int, total: int) -> None:
    sys.stderr.write(f"[{done}/{total}] kernel units\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
