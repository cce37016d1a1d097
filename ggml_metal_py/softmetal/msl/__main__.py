"""The compiler service's command line: `python -m ggml_metal_py.softmetal.msl VERB`.

softmetal's device runs it when no kernel library is there for a source (`build SOURCE --cache FOLDER`), and
the build runs it beforehand (`build SOURCE --out FOLDER`). Prints the path of the file that was asked for, or
the version; diagnostics go to stderr. Status 0 is success, 1 is an error in the source or no compiler.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ..toolchain import ToolchainError, find_toolchain
from .errors import MslError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    options = _parser().parse_args(arguments)
    try:
        answer: str | Path = options.run(options)
    except (MslError, ToolchainError) as error:
        sys.stderr.write(str(error).rstrip() + "\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"{error.filename or options.source}: {error.strerror}\n")
        return 1
    sys.stdout.buffer.write(os.fsencode(answer) + b"\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="softmetal.msl", description=__doc__)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("build", help="compile an MSL source into a kernel library")
    verb.set_defaults(run=_build)
    verb.add_argument("source", type=Path, help="the .metal file")
    where = verb.add_mutually_exclusive_group(required=True)
    where.add_argument("--out", type=Path, help="folder of kernel libraries; KEY/ is made in it")
    where.add_argument("--cache", type=Path, help="the cache; VERSION/KEY/ is made in it, unless it is there")
    verb.add_argument("-D", dest="define", action="append", default=[], metavar="NAME=VALUE", help="a macro")
    verb.add_argument("--name", help="what diagnostics call the source; default: its file's name")
    what = verb.add_mutually_exclusive_group()
    what.add_argument("--functions-only", action="store_true", help="list the host names, compile nothing")
    what.add_argument("--function", metavar="NAME", help="compile the kernel of this host name only")
    verb.add_argument("--checked", action="store_true", help="make kernels for checked mode")
    verb.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="compiler processes at once")
    verb.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="keep compiled units there, for the next build of SOURCE"
    )
    verb.add_argument("--progress", action="store_true", help="say on stderr how far it is")
    verb = verbs.add_parser("version", help="print what changes whenever kernels have to be compiled again")
    verb.set_defaults(run=_version)
    return parser


def _version(options: argparse.Namespace) -> str:
    from .version import version

    return version(find_toolchain())


def _build(options: argparse.Namespace) -> Path:
    from .build import Source, Wanted, build_source
    from .cache import build_in_cache
    from .scratch import scratch

    source = Source.read(options.source, _macros(options.define), options.name)
    wanted = Wanted(options.functions_only, options.function, options.checked)
    if options.cache is not None:
        return build_in_cache(options.cache, source, find_toolchain(), wanted, options.jobs)
    with scratch(options.out) as work:
        return build_source(
            source,
            options.out,
            find_toolchain(),
            work,
            wanted,
            jobs=options.jobs,
            progress=_show_progress if options.progress else lambda done, total: None,
            keep=options.keep,
        )


def _macros(definitions: Sequence[str]) -> dict[str, str]:
    """As a compiler takes them: `NAME` alone is 1."""
    parts = (definition.partition("=") for definition in definitions)
    return {name: value if equals else "1" for name, equals, value in parts}


def _show_progress(done: int, total: int) -> None:
    sys.stderr.write(f"[{done}/{total}] kernel units\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
