"""Reads an upstream row's headers: preprocess, parse, and look up what they declare.

Knows C, not which names we want (names.py) and not what is made of them (generate.py).
"""

import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pycparser import c_ast, c_parser

from ggml_metal_py.softmetal.toolchain import Toolchain

LIBC = Path(__file__).parent / "libc"

# Spellings that pycparser does not know, or that mean nothing to a prototype.
_HIDE = (
    "-D__attribute__(x)=",
    "-D__extension__=",
    "-D__restrict=",
    "-D__restrict__=",
    "-D__inline=inline",
    "-D__inline__=inline",
    "-D_Noreturn=",
)


class HeaderError(RuntimeError):
    """A header is missing or cannot be parsed."""


@dataclass
class Declarations:
    """Everything that a set of headers declares, by name, in source order."""

    functions: dict[str, c_ast.Decl] = field(default_factory=dict)
    typedefs: dict[str, c_ast.Typedef] = field(default_factory=dict)
    structs: dict[str, c_ast.Struct] = field(default_factory=dict)
    enums: dict[str, c_ast.Enum] = field(default_factory=dict)
    macros: set[str] = field(default_factory=set)

    def functions_of(self, header: str) -> Iterator[str]:
        """Names of the functions that `header` (a file name without folder) declares itself."""
        for name, decl in self.functions.items():
            if Path(decl.coord.file).name == header:
                yield name


def read_headers(names: Iterable[str], folders: Sequence[Path], toolchain: Toolchain) -> Declarations:
    """Parse the headers `names`, found in `folders`. Raises HeaderError."""
    names = list(names)
    for name in names:
        if not any((folder / name).is_file() for folder in folders):
            searched = ", ".join(str(folder) for folder in folders)
            raise HeaderError(f"{name} is in none of the include folders: {searched}")
    with tempfile.TemporaryDirectory() as work:
        source = Path(work) / "headers.c"
        source.write_text("".join(f'#include "{name}"\n' for name in names))
        text = _preprocess(source, folders, toolchain)
        macros = _preprocess(source, folders, toolchain, "-dM")
    declarations = _collect(c_parser.CParser().parse(_strip_bodies(text)))
    declarations.macros = set(re.findall(r"^#define (\w+) ", macros, re.MULTILINE))
    return declarations


def _preprocess(source: Path, folders: Sequence[Path], toolchain: Toolchain, *flags: str) -> str:
    includes = [f"-I{folder}" for folder in folders]
    done = subprocess.run(
        [*toolchain.cc, "-E", *flags, "-nostdinc", f"-I{LIBC}", *_HIDE, *includes, str(source)],
        capture_output=True,
        text=True,
        env=toolchain.environment(),
        check=False,
    )
    if done.returncode != 0:
        raise HeaderError(f"cannot preprocess the upstream headers:\n{done.stderr}")
    return done.stdout


def _strip_bodies(text: str) -> str:
    """Blank inline functions (their bodies use builtins that pycparser rejects) and #pragma lines."""
    text = re.sub(r"^#pragma.*$", "", text, flags=re.MULTILINE)
    kept = []
    for chunk in _top_level(text):
        is_inline = re.search(r"^\s*(static|inline)\b", _without_markers(chunk)) and "{" in chunk
        kept.append("\n".join(_markers(chunk)) + "\n" if is_inline else chunk)
    return "".join(kept)


def _top_level(text: str) -> Iterator[str]:
    """Split at the `;` or `}` that ends each top-level declaration."""
    start = depth = 0
    in_function = False
    for match in re.finditer(r'"(?:\\.|[^"\\])*"|[{};]', text):
        token = match[0]
        if token == "{":
            if depth == 0:
                in_function = text[start : match.start()].rstrip().endswith(")")
            depth += 1
        elif token == "}":
            depth -= 1
        # The `}` of a struct is followed by a `;` that ends the declaration; that of a function is not.
        if depth == 0 and (token == ";" or (token == "}" and in_function)):
            yield text[start : match.end()]
            start = match.end()
    yield text[start:]


def _markers(chunk: str) -> list[str]:
    return [line for line in chunk.splitlines() if line.startswith("# ")]


def _without_markers(chunk: str) -> str:
    return "\n".join(line for line in chunk.splitlines() if not line.startswith("# "))


def _collect(ast: c_ast.FileAST) -> Declarations:
    found = Declarations()
    for node in ast.ext:
        if isinstance(node, c_ast.Typedef):
            found.typedefs[node.name] = node
        elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
            found.functions.setdefault(node.name, node)
        _TagCollector(found).visit(node)
    return found


class _TagCollector(c_ast.NodeVisitor):  # type: ignore[misc]
    """Finds the definitions of tagged structs and enums, wherever they stand."""

    def __init__(self, found: Declarations) -> None:
        self._found = found

    def visit_Struct(self, node: c_ast.Struct) -> None:  # noqa: N802
        if node.name and node.decls:
            self._found.structs[node.name] = node
        self.generic_visit(node)

    def visit_Enum(self, node: c_ast.Enum) -> None:  # noqa: N802
        if node.values:
            # An anonymous enum is known by its first constant.
            self._found.enums[node.name or node.values.enumerators[0].name] = node
        self.generic_visit(node)
