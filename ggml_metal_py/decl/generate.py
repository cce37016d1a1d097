"""Makes the binding's C sources for one upstream row from the row's own headers.

    python -m ggml_metal_py.decl.generate --row ROW --include DIR [--include DIR ...] --out DIR

writes table.h, table.cpp, ext.c and cdef.txt; README.md says what each is and how it is compiled.
"""

import argparse
import contextlib
import copy
import hashlib
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from cffi import FFI
from pycparser import c_ast, c_generator

from ggml_metal_py.decl import names
from ggml_metal_py.decl.headers import Declarations, HeaderError, read_headers
from ggml_metal_py.softmetal.toolchain import ToolchainError, find_toolchain

DECL = Path(__file__).parent
SOFTMETAL_INCLUDE = DECL.parent / "softmetal" / "include"

# What cffi declares by itself.
_BUILTIN_TYPEDEFS = frozenset(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)) | {
    "size_t",
    "ptrdiff_t",
    "intptr_t",
    "uintptr_t",
    "bool",
    "FILE",
}


@dataclass
class Binding:
    """What is bound of one row: the names, chosen by names.py, and the types they need."""

    row: str
    headers: list[str]
    declared: Declarations
    guarded: list[str] = field(default_factory=list)
    plain: list[str] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    typedefs: set[str] = field(default_factory=set)
    structs: set[str] = field(default_factory=set)
    """Tags of the structs whose fields are bound."""
    tags: set[str] = field(default_factory=set)
    """Tags of all structs that are mentioned."""
    enums: set[str] = field(default_factory=set)

    @property
    def functions(self) -> list[str]:
        return self.guarded + self.plain


def extension_name(row: str) -> str:
    """The Python module name of a row's extension: `pywhispercpp-1.5.1` gives `_gmpy_pywhispercpp_1_5_1_`."""
    return f"_gmpy_{row.replace('-', '_').replace('.', '_')}_"


def bind(row: str, folders: Sequence[Path], platform: str = sys.platform) -> Binding:
    """Choose what is bound of a row whose headers are in `folders`. Raises HeaderError."""
    headers = [h for h in names.HEADERS if not (h.softmetal_only and platform == "darwin")]
    folders = [*folders, DECL, SOFTMETAL_INCLUDE]
    declared = read_headers([h.name for h in headers], folders, find_toolchain())
    binding = Binding(row, [h.name for h in headers], declared)
    for header in headers:
        for name in declared.functions_of(header.name):
            wanted = any(fnmatchcase(name, pattern) for pattern in header.functions)
            skipped = any(fnmatchcase(name, pattern) for pattern in header.skip)
            if wanted and not skipped and not _is_variadic(declared.functions[name]):
                (binding.guarded if header.guarded else binding.plain).append(name)
    binding.constants = [name for name in names.CONSTANTS if name in declared.macros]
    closure = _Closure(binding)
    for name in binding.functions:
        closure.visit(declared.functions[name].type)
    for name in declared.typedefs:
        if any(fnmatchcase(name, pattern) for pattern in names.TYPEDEFS):
            closure.add_typedef(name)
    for tag in names.STRUCTS:
        closure.add_struct(tag)
    for tag in names.ENUMS:
        closure.add_enum(tag)
    return binding


def _is_variadic(decl: c_ast.Decl) -> bool:
    params = decl.type.args.params if decl.type.args else []
    return any(isinstance(param, c_ast.EllipsisParam) for param in params)


class _Closure(c_ast.NodeVisitor):  # type: ignore[misc]
    """Adds the types that a prototype or a field mentions, and the types that those mention."""

    def __init__(self, binding: Binding) -> None:
        self._binding = binding
        self._declared = binding.declared

    def visit_PtrDecl(self, node: c_ast.PtrDecl) -> None:  # noqa: N802
        pointed = node.type.type if isinstance(node.type, c_ast.TypeDecl) else None
        if isinstance(pointed, c_ast.Struct):
            self._binding.tags.add(pointed.name)  # only its name is needed
        else:
            self.visit(node.type)

    def visit_Struct(self, node: c_ast.Struct) -> None:  # noqa: N802
        if node.name:
            self.add_struct(node.name)  # by value
        else:
            self.generic_visit(node)

    def visit_Enum(self, node: c_ast.Enum) -> None:  # noqa: N802
        self.add_enum(node.name)

    def visit_IdentifierType(self, node: c_ast.IdentifierType) -> None:  # noqa: N802
        self.add_typedef(node.names[0])

    def add_typedef(self, name: str) -> None:
        if name in self._declared.typedefs and name not in _BUILTIN_TYPEDEFS | self._binding.typedefs:
            self._binding.typedefs.add(name)
            self.visit(self._declared.typedefs[name].type)

    def add_struct(self, tag: str) -> None:
        if tag in self._declared.structs and tag not in self._binding.structs:
            self._binding.tags.add(tag)
            self._binding.structs.add(tag)
            for decl in fields_of(self._declared, tag):
                self.visit(decl.type)

    def add_enum(self, tag: str) -> None:
        if tag in self._declared.enums:
            self._binding.enums.add(tag)


def fields_of(declared: Declarations, tag: str) -> list[c_ast.Decl]:
    """The bound fields of a struct, in order."""
    chosen = names.STRUCTS.get(tag)
    decls = declared.structs[tag].decls
    return [decl for decl in decls if decl.name and (chosen is None or decl.name in chosen)]


# --- cdef -------------------------------------------------------------------------------------------


def cdef(binding: Binding) -> str:
    """The declarations for cffi. Array lengths, enum values and offsets are left to the C compiler."""
    printer = c_generator.CGenerator()
    declared = binding.declared
    lines = [f"#define {name} ..." for name in binding.constants]
    lines += [f"struct {tag};" for tag in sorted(binding.tags)]
    for tag, enum in declared.enums.items():
        if tag in binding.enums:
            constants = ", ".join(item.name for item in enum.values.enumerators)
            lines.append(f"enum {tag} {{ {constants}, ... }};")
    for name, typedef in declared.typedefs.items():
        if name in binding.typedefs:
            lines.append(printer.visit(typedef) + ";")
    for tag in declared.structs:
        if tag in binding.structs:
            body = " ".join(printer.visit(_open_array(decl)) + ";" for decl in fields_of(declared, tag))
            lines.append(f"struct {tag} {{ {body} ...; }};")
    for name in binding.functions:
        lines.append(_prototype(binding, name, name) + ";")
    lines.append("int gmpy_open(const char * path, char * error, size_t size);")
    lines.append("size_t gmpy_layout_count(void);")
    lines.append("const char * gmpy_layout_name(size_t i);")
    lines.append("size_t gmpy_layout_value(size_t i);")
    return "\n".join(lines) + "\n"


def _open_array(decl: c_ast.Decl) -> c_ast.Decl:
    """`ne[GGML_MAX_DIMS]` as `ne[...]`."""
    if not isinstance(decl.type, c_ast.ArrayDecl):
        return decl
    decl = copy.deepcopy(decl)
    decl.type.dim = c_ast.ID("...")
    return decl


def _prototype(binding: Binding, name: str, spelled: str) -> str:
    """The prototype of `name` with another declarator in the place of its name, without storage class."""
    decl = copy.deepcopy(binding.declared.functions[name])
    decl.storage, decl.funcspec = [], []
    inner = decl.type.type
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    inner.declname = spelled
    return str(c_generator.CGenerator().visit(decl))


# --- table.h, table.cpp -----------------------------------------------------------------------------


def fingerprint(binding: Binding) -> str:
    """Identifies the interface between library and extension: both sides must carry the same."""
    return hashlib.sha256(cdef(binding).encode()).hexdigest()


def table_h(binding: Binding) -> str:
    pointers = "\n".join(f"    {_prototype(binding, name, f'(*{name})')};" for name in binding.functions)
    layout = ",\n".join(f"    {entry}" for entry in _layout(binding))
    return f"""// Made by ggml_metal_py.decl.generate for {binding.row}: what the library shows to Python.
#pragma once

{_includes(binding)}
#ifdef __cplusplus
extern "C" {{
#endif

struct gmpy_layout {{
    const char * name;
    size_t value;
}};

struct gmpy_table {{
    // First, and never to move: what both sides compare before they trust the rest.
    const char * fingerprint;
    const char * row;
    const struct gmpy_layout * layout;
    size_t n_layout;

{pointers}
}};

extern const struct gmpy_table gmpy_table __attribute__((visibility("default")));

// Sizes and offsets as this translation unit's compiler sees them.
static const struct gmpy_layout gmpy_layout[] = {{
{layout}
}};

#ifdef __cplusplus
}}
#endif

#define GMPY_FINGERPRINT "{fingerprint(binding)}"
#define GMPY_ROW "{binding.row}"
"""


def _includes(binding: Binding) -> str:
    system = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n\n"
    return system + "".join(f'#include "{header}"\n' for header in binding.headers)


def _layout(binding: Binding) -> Iterator[str]:
    for tag in binding.declared.structs:
        if tag not in binding.structs:
            continue
        yield f'{{"{tag}", sizeof(struct {tag})}}'
        for decl in fields_of(binding.declared, tag):
            yield f'{{"{tag}.{decl.name}", offsetof(struct {tag}, {decl.name})}}'
            yield f'{{"{tag}.{decl.name} size", sizeof(((struct {tag} *) 0)->{decl.name})}}'


def table_cpp(binding: Binding) -> str:
    thunks = "\n".join(_thunk(binding, name) for name in binding.guarded)
    entries = [f"    guarded_{name}," for name in binding.guarded] + [
        f"    {name}," for name in binding.plain
    ]
    return f"""// Made by ggml_metal_py.decl.generate for {binding.row}.
#include "table.h"

#include "guard.h"

// Deprecated functions are bound too: older rows have nothing else.
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

{thunks}
const struct gmpy_table gmpy_table = {{
    GMPY_FINGERPRINT,
    GMPY_ROW,
    gmpy_layout,
    sizeof(gmpy_layout) / sizeof(gmpy_layout[0]),
{chr(10).join(entries)}
}};
"""


def _thunk(binding: Binding, name: str) -> str:
    decl = copy.deepcopy(binding.declared.functions[name])
    params = decl.type.args.params if decl.type.args else []
    arguments = []
    for i, param in enumerate(params):
        if isinstance(param, c_ast.Typename) and _is_void(param):
            break
        arguments.append(f"a{i}")
        _rename(param, f"a{i}")
    decl.storage, decl.funcspec = ["static"], []
    inner = decl.type.type
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    inner.declname = f"guarded_{name}"
    head = c_generator.CGenerator().visit(decl)
    call = f"{name}({', '.join(arguments)})"
    return f"{head} {{\n    return gmpy::guarded([&] {{ return {call}; }});\n}}\n"


def _is_void(param: c_ast.Typename) -> bool:
    inner = param.type
    return (
        isinstance(inner, c_ast.TypeDecl)
        and isinstance(inner.type, c_ast.IdentifierType)
        and inner.type.names == ["void"]
    )


def _rename(param: c_ast.Node, name: str) -> None:
    param.name = name
    inner = param.type
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    inner.declname = name


# --- ext.c ------------------------------------------------------------------------------------------

_OPEN = """
#include <dlfcn.h>
#include <string.h>

static const struct gmpy_table * gmpy_T;

/* Loads the library at `path` and checks that it was built together with this extension. 0 when good. */
static int gmpy_open(const char * path, char * error, size_t size) {
    if (gmpy_T != NULL) {
        return 0;
    }
    void * handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        snprintf(error, size, "%s", dlerror());
        return -1;
    }
    const struct gmpy_table * table = (const struct gmpy_table *) dlsym(handle, "gmpy_table");
    if (table == NULL) {
        snprintf(error, size, "it has no gmpy_table");
        return -1;
    }
    if (strcmp(table->fingerprint, GMPY_FINGERPRINT) != 0) {
        snprintf(error, size, "it was built for other declarations (row %s) than the extension", table->row);
        return -1;
    }
    for (size_t i = 0; i < table->n_layout; i++) {
        if (table->layout[i].value != gmpy_layout[i].value) {
            snprintf(error, size, "the layout differs: %s is %zu in the library, %zu in the extension",
                     gmpy_layout[i].name, table->layout[i].value, gmpy_layout[i].value);
            return -1;
        }
    }
    gmpy_T = table;
    gmpy_T->gmpy_install();
    return 0;
}

/* The library's own figures, for a comparison with cffi's. */
static size_t gmpy_layout_count(void) { return gmpy_T->n_layout; }
static const char * gmpy_layout_name(size_t i) { return gmpy_T->layout[i].name; }
static size_t gmpy_layout_value(size_t i) { return gmpy_T->layout[i].value; }
"""


def write_extension(binding: Binding, path: Path) -> None:
    """The cffi extension: calls go straight through the table, without a look-up by name."""
    # With arguments, so that an enum or struct of the same name is left alone.
    direct = "".join(f"#define {name}(...) (gmpy_T->{name})(__VA_ARGS__)\n" for name in binding.functions)
    ffi = FFI()
    ffi.cdef(cdef(binding))
    ffi.set_source(extension_name(binding.row), f'#include "table.h"\n{_OPEN}\n{direct}', py_limited_api=True)
    with contextlib.redirect_stdout(io.StringIO()):  # cffi tells the file name, ninja tells it already
        ffi.emit_c_code(str(path))


# --- command ----------------------------------------------------------------------------------------


def generate(row: str, folders: Sequence[Path], out: Path) -> Binding:
    """Write all files of a row into `out`; files that would not change are left alone."""
    binding = bind(row, folders)
    out.mkdir(parents=True, exist_ok=True)
    _write(out / "cdef.txt", cdef(binding))
    _write(out / "table.h", table_h(binding))
    _write(out / "table.cpp", table_cpp(binding))
    fresh = out / "ext.c.new"
    write_extension(binding, fresh)
    _write(out / "ext.c", fresh.read_text())
    fresh.unlink()
    return binding


def _write(path: Path, text: str) -> None:
    # An untouched file saves the compiler's work after an edit that changes nothing here.
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m ggml_metal_py.decl.generate", description=__doc__)
    parser.add_argument("--row", required=True, help="name of the row in vendor/upstreams.toml")
    parser.add_argument("--include", action="append", type=Path, required=True, help="folder with headers")
    parser.add_argument("--out", type=Path, required=True, help="folder for the generated files")
    arguments = parser.parse_args(argv)
    try:
        binding = generate(arguments.row, arguments.include, arguments.out)
    except (HeaderError, ToolchainError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{binding.row}: {len(binding.functions)} functions, {len(binding.structs)} structs bound")
    return 0


if __name__ == "__main__":
    sys.exit(main())
