"""The mirrors of upstream's getters against the headers that declare them, and against illegal arguments."""

import inspect
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fresh_python import ROOT, run_python
from mirror_calls import legal_calls

import ggml_metal_py as gm
from ggml_metal_py.getters.rows import FIRST_ROW, ROWS

COUNTS = dict(zip(ROWS, (42, 52, 57, 59, 59, 60, 67, 76), strict=True))
NEWEST = ROWS[-1]

_PROTOTYPE = re.compile(r"\bggml_metal_library_get_pipeline_(\w+)\s*\(([^)]*)\)\s*;")
_LAST_LINE = "Upstream: ggml-metal-device.cpp, ggml_metal_library_get_pipeline_{}."

# What Python takes for C's types; what older rows lack may be left out.
_PYTHON = {
    "struct ggml_tensor": ("Tensor",),
    "enum ggml_op": ("Op | str",),
    "enum ggml_op_pool": ("OpPool | str",),
    "enum ggml_type": ("Type | str",),
    "bool": ("bool",),
    "int": ("int", "int | None"),
}


def fetched(row: str, file: str) -> str:
    """A file of the row's sources. Fails with the command that fetches them."""
    path = ROOT / "build" / "upstream" / row / file
    if not path.is_file():
        pytest.fail(f"{path} is missing; ./build.sh build --no-kernels --upstream {row} fetches it")
    return path.read_text(encoding="utf-8")


@cache
def declared(row: str) -> dict[str, list[tuple[str, str]]]:
    """Getters of the row's header: type and name of every argument after the library."""
    text = fetched(row, "src/ggml-metal/ggml-metal-device.h").replace("wsp_ggml_", "ggml_")
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    return {
        name: [_argument(text) for text in arguments.split(",")[1:]]
        for name, arguments in _PROTOTYPE.findall(text)
    }


def _argument(text: str) -> tuple[str, str]:
    *words, name = text.replace("*", " ").split()
    kind = " ".join(word for word in words if word != "const")
    return ("int" if kind == "int32_t" else kind), name


def mirror_of(getter: str) -> Callable[..., Any]:
    mirror: Callable[..., Any] = getattr(gm.Library, f"get_pipeline_{getter}")
    return mirror


@pytest.mark.parametrize("row", ROWS)
def test_every_getter_of_the_header_has_a_mirror(row: str) -> None:
    getters = declared(row)
    assert [getter for getter in getters if not hasattr(gm.Library, f"get_pipeline_{getter}")] == []
    assert len(getters) == COUNTS[row]


def test_nothing_is_mirrored_that_no_header_declares() -> None:
    mirrored = {name for name in dir(gm.Library) if name.startswith("get_pipeline_")}
    assert mirrored == {f"get_pipeline_{getter}" for getter in declared(NEWEST)}


@pytest.mark.parametrize("getter", FIRST_ROW)
def test_a_mirror_takes_the_newest_headers_arguments_in_order(getter: str) -> None:
    arguments = declared(NEWEST)[getter]
    _, *parameters = inspect.signature(mirror_of(getter)).parameters.values()
    assert [parameter.name for parameter in parameters] == [name for _, name in arguments]
    for (kind, name), parameter in zip(arguments, parameters, strict=True):
        annotation = parameter.annotation
        text = annotation.__name__ if inspect.isclass(annotation) else str(annotation)
        assert re.sub(r"[\w.]+\.", "", text) in _PYTHON[kind], f"{name}: {kind}"


@pytest.mark.parametrize("getter", FIRST_ROW)
def test_what_every_row_has_must_be_given_and_the_rest_may_be_left_out(getter: str) -> None:
    rows = [declared(row)[getter] for row in ROWS if getter in declared(row)]
    common = set.intersection(*({name for _, name in arguments} for arguments in rows))
    _, *parameters = inspect.signature(mirror_of(getter)).parameters.values()
    optional = {p.name for p in parameters if p.default is not inspect.Parameter.empty}
    if len({tuple(arguments) for arguments in rows}) == 1:
        assert optional == set()
    else:
        # Python wants defaults for all that follow one: nsg and nwg of flash_attn_ext_vec.
        follows = {"nsg", "nwg"} if getter == "flash_attn_ext_vec" else set()
        assert {name for name in optional if name in common} == follows


@pytest.mark.parametrize("getter", FIRST_ROW)
def test_a_mirror_says_what_the_rule_is_and_where_it_stands(getter: str) -> None:
    first, *_, last = inspect.getdoc(mirror_of(getter)).splitlines()  # type: ignore[union-attr]
    assert first.startswith(("`kernel_", "The kernel of"))
    assert last == _LAST_LINE.format(getter)


def test_the_first_row_of_every_getter_is_the_oldest_header_with_it() -> None:
    oldest = {getter: next(row for row in ROWS if getter in declared(row)) for getter in declared(NEWEST)}
    assert oldest == FIRST_ROW


def test_ops_and_pools_are_those_of_all_rows() -> None:
    for enum, kind in ((gm.Op, "op"), (gm.OpPool, "op_pool")):
        known = {member.name for member in enum}
        found: set[str] = set()
        for row in ROWS:
            header = "src/ggml.h" if row.startswith("whisper.rn") else "include/ggml.h"
            body = re.search(rf"enum (?:wsp_)?ggml_{kind} \{{(.*?)\}}", fetched(row, header), re.DOTALL)
            assert body
            found |= set(re.findall(rf"^\s*(?:WSP_)?GGML_{kind.upper()}_(\w+)", body[1], re.MULTILINE))
        assert known == found - {"COUNT"}


def test_an_op_is_named_in_any_case_or_by_its_member() -> None:
    assert gm.Op.of("mul_mat") is gm.Op.of("MUL_MAT") is gm.Op.of(gm.Op.MUL_MAT) is gm.Op.MUL_MAT
    with pytest.raises(ValueError, match=r"'matmul'.*mul_mat"):
        gm.Op.of("matmul")
    with pytest.raises(TypeError, match="OpPool"):
        gm.OpPool.of(gm.Op.ADD)  # type: ignore[arg-type]


@pytest.mark.parametrize("row", ROWS)
def test_every_getter_of_a_row_answers(row: str) -> None:
    with gm.open(upstream=row) as device, device.context() as context:
        calls = legal_calls(context)
        assert len(calls) == COUNTS[row]
        for getter, arguments in calls.items():
            mirror = getattr(device.library, f"get_pipeline_{getter}")
            pipeline = mirror(*arguments)
            assert pipeline.name.startswith(pipeline.base), getter
            assert mirror(*arguments) == pipeline


@pytest.mark.parametrize("row", ROWS)
def test_a_getter_that_the_row_lacks_names_the_first_row_with_it(row: str) -> None:
    values = {"Tensor": None, "OpPool": "max", "Op": "add", "Type": "f32", "bool": True, "int": 1}
    with gm.open(upstream=row) as device:
        for getter in FIRST_ROW.keys() - declared(row).keys():
            mirror = getattr(device.library, f"get_pipeline_{getter}")
            kinds = [str(parameter.annotation) for parameter in inspect.signature(mirror).parameters.values()]
            arguments = [next(value for name, value in values.items() if name in kind) for kind in kinds]
            with pytest.raises(gm.NotInUpstream, match=re.escape(FIRST_ROW[getter])):
                mirror(*arguments)


@pytest.mark.parametrize("row", ROWS)
def test_illegal_arguments_raise_and_the_process_lives(row: str) -> None:
    done = run_python(
        f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        import mirror_abuse
        print(mirror_abuse.abuse({row!r}))
        """
    )
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr}"
    assert int(done.stdout) > 4000
