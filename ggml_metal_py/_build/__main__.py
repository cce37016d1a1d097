"""`python -m ggml_metal_py._build VERB`: what build.sh calls once its virtual environment is there."""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from .. import cpus
from ..registry import FetchError
from ..softmetal.toolchain import Toolchain, ToolchainError, find_toolchain
from .artifacts import remove_stale_kernels, write_artifact_manifest
from .files import locked
from .graph import write_graph, write_softmetal_graph
from .layout import SOFTMETAL_LOCK, Layout
from .manifest import ManifestError, read_manifest
from .unpack import UnpackError, unpack
from .upstream_suite import run_suite, suite_row, write_suite_graph


class BuildError(RuntimeError):
    """A step of the build failed; its own messages were printed before."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a verb. Exit status 0 good, 1 when a step failed, 2 for usage or environment."""
    words = sys.argv[1:] if argv is None else list(argv)
    end = words.index("--") if "--" in words else len(words)
    arguments, passed_on = _parser().parse_args(words[:end]), words[end + 1 :]
    try:
        manifest = read_manifest()
        if arguments.verb == "check-upstream":
            return _check_upstream(Layout(suite_row(manifest, arguments.upstream)), arguments, passed_on)
        layout = Layout(manifest.row(arguments.upstream))
        if arguments.verb == "build":
            _build(layout, kernels=arguments.kernels, jobs=arguments.jobs)
            for row in manifest.rows.values() if arguments.all_rows else ():
                if row != layout.row:
                    _build(Layout(row), kernels=False, jobs=arguments.jobs)
        elif arguments.verb == "fetch":
            with _locked(layout):
                unpack(layout.row, layout.root / layout.upstream, _say)
        else:
            with _locked(layout):
                print(_sample(layout))
    except BuildError as error:
        _say(f"error: {error}")
        return 1
    except (ManifestError, FetchError, UnpackError, ToolchainError) as error:
        _say(f"error: {error}")
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m ggml_metal_py._build", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    fetch = verbs.add_parser("fetch", help="fetch and unpack the sources of a row")
    build = verbs.add_parser("build", help="build the library of a row, its extension and its kernels")
    sample = verbs.add_parser("sample", help="print the path of a recording that the row's package carries")
    suite = verbs.add_parser(
        "check-upstream", help="build, then run ggml's own test-backend-ops; what follows -- goes to it"
    )
    for verb in (fetch, build, sample, suite):
        verb.add_argument(
            "--upstream",
            metavar="ROW",
            default=os.environ.get("GGML_METAL_PY_UPSTREAM"),
            help="a row of vendor/upstreams.toml; default: GGML_METAL_PY_UPSTREAM, else the file's default",
        )
    for verb in (build, suite):
        verb.add_argument(
            "--no-kernels",
            dest="kernels",
            action="store_false",
            help="do not prebuild the kernels: each is compiled when it is first dispatched",
        )
        verb.add_argument(
            "--jobs", type=int, default=cpus.usable(), help="compilers at once; default: all cores"
        )
    build.add_argument(
        "--all-rows", action="store_true", help="build the other rows too, without prebuilding their kernels"
    )
    return parser


def _locked(layout: Layout) -> AbstractContextManager[None]:
    return locked(layout.root / layout.lock, lambda: _say(f"waiting for another build of {layout.row.name}"))


def _build(layout: Layout, *, kernels: bool, jobs: int) -> None:
    toolchain = find_toolchain()
    with _locked(layout):
        _say(f"{layout.row.name}: {toolchain.describe()}")
        unpack(layout.row, layout.root / layout.upstream, _say)
        if toolchain.kind != "apple":
            _build_softmetal(layout.root, toolchain, jobs)
        graph = write_graph(layout, toolchain, kernels=kernels, jobs=jobs)
        _run_ninja(layout.row.name, layout.root, graph, toolchain, jobs)
        remove_stale_kernels(layout)
        write_artifact_manifest(layout, toolchain)
    _say(f"built {layout.artifacts}")


def _build_softmetal(root: Path, toolchain: Toolchain, jobs: int) -> None:
    # Not held while a row is linked: should another row's build renew an object then, this row's next build
    # links it again.
    with locked(root / SOFTMETAL_LOCK, lambda: _say("waiting for another build of softmetal")):
        _run_ninja("softmetal", root, write_softmetal_graph(root, toolchain), toolchain, jobs)


def _check_upstream(layout: Layout, arguments: argparse.Namespace, passed_on: Sequence[str]) -> int:
    _build(layout, kernels=arguments.kernels, jobs=arguments.jobs)
    toolchain = find_toolchain()
    with _locked(layout):
        graph = write_suite_graph(layout, toolchain)
        _run_ninja(f"the test program of {layout.row.name}", layout.root, graph, toolchain, arguments.jobs)
    return run_suite(layout, toolchain, passed_on)


def _run_ninja(what: str, root: Path, graph: Path, toolchain: Toolchain, jobs: int) -> None:
    command = [sys.executable, "-m", "ninja", "-f", str(graph), "-j", str(jobs)]
    with tempfile.TemporaryDirectory(dir=root / "build") as work:
        # Absolute: ninja's steps run where it was started, their compilers perhaps not.
        environment = {"NINJA_STATUS": "[%f/%t %es] ", **toolchain.working_in(Path(work)).environment()}
        if subprocess.run(command, cwd=root, env=environment, check=False).returncode != 0:
            raise BuildError(f"{what} was not built, see the messages above")


def _sample(layout: Layout) -> Path:
    if layout.row.samples is None:
        raise ManifestError(f"row {layout.row.name} carries no recording; the default row does")
    return unpack(layout.row, layout.root / layout.upstream, _say) / "samples" / "jfk.wav"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
