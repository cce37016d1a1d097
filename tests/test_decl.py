"""The generator: what it takes from headers, and that both sides of the boundary agree."""

import re
from pathlib import Path

import pytest

import ggml_metal_py as gm
from ggml_metal_py._native import open_native
from ggml_metal_py.decl import generate, names
from ggml_metal_py.decl.headers import HeaderError, read_headers
from ggml_metal_py.getters.rows import ROWS
from ggml_metal_py.softmetal.toolchain import find_toolchain

PACKAGE = Path(gm.__file__).parent

HEADER = """
#pragma once
#include <stdbool.h>
#include <stdint.h>
#define N_AXES 4
enum color { RED, GREEN = 7 };
struct secret;
typedef struct secret * secret_t;
struct item { enum color color; int64_t ne[N_AXES]; char name[N_AXES * 8]; };
struct pair { int a; int b; };
typedef struct { int32_t ne0; float scale; uint64_t o1[N_AXES]; } kargs_small;
typedef struct { int32_t unused; } other_small;
struct pair make_pair(secret_t owner, const struct item * item, bool deep)
    __attribute__((visibility("default")));
void log_it(const char * format, ...);
static inline int twice(int x) { return __builtin_popcount(x) + 2 * x; }
int count(void);
"""


@pytest.fixture
def small_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "small.h").write_text(HEADER)
    monkeypatch.setattr(names, "HEADERS", (names.Header("small.h", functions=("*",)),))
    monkeypatch.setattr(names, "STRUCTS", {"item": ("ne", "name")})
    monkeypatch.setattr(names, "TYPEDEFS", ("kargs_*",))
    monkeypatch.setattr(names, "CONSTANTS", ("N_AXES", "NOT_THERE"))
    return tmp_path


def test_headers_are_read_with_inline_functions_and_attributes_left_out(small_header: Path) -> None:
    declared = read_headers(["small.h"], [small_header], find_toolchain())
    assert list(declared.functions_of("small.h")) == ["make_pair", "log_it", "count"]
    assert {"item", "pair"} <= set(declared.structs)
    assert "N_AXES" in declared.macros


def test_cdef_leaves_lengths_and_values_to_the_compiler(small_header: Path) -> None:
    text = generate.cdef(generate.bind("small", [small_header]))
    assert "enum color { RED, GREEN, ... };" not in text  # nobody mentions it: item.color is not bound
    assert "#define N_AXES ..." in text
    assert "NOT_THERE" not in text
    assert re.search(r"struct item \{ int64_t ne\[\.\.\.\]; char name\[\.\.\.\]; \.\.\.; \};", text)
    assert "struct pair { int a; int b; ...; };" in text  # returned by value
    assert "struct secret;" in text
    assert "log_it" not in text  # variadic


def test_typedefs_are_bound_by_pattern_with_their_structs(small_header: Path) -> None:
    binding = generate.bind("small", [small_header])
    assert "kargs_small" in binding.typedefs
    assert "other_small" not in binding.typedefs
    assert re.search(
        r"typedef struct\s*\{\s*int32_t ne0;\s*float scale;\s*uint64_t o1\[4\];\s*\} kargs_small;",
        generate.cdef(binding),
    )


def test_table_guards_every_call_and_keeps_its_arguments(small_header: Path) -> None:
    text = generate.table_cpp(generate.bind("small", [small_header]))
    assert "return gmpy::guarded([&] { return make_pair(a0, a1, a2); });" in text
    assert "return gmpy::guarded([&] { return count(); });" in text


def test_another_interface_has_another_fingerprint(small_header: Path) -> None:
    before = generate.fingerprint(generate.bind("small", [small_header]))
    assert generate.fingerprint(generate.bind("small", [small_header])) == before
    header = small_header / "small.h"
    header.write_text(header.read_text().replace("int count(void)", "long count(void)"))
    assert generate.fingerprint(generate.bind("small", [small_header])) != before


def test_files_that_do_not_change_are_left_alone(small_header: Path) -> None:
    out = small_header / "out"
    generate.generate("small", [small_header], out)
    before = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    assert set(before) == {"cdef.txt", "table.h", "table.cpp", "ext.c"}
    generate.generate("small", [small_header], out)
    assert {path.name: path.stat().st_mtime_ns for path in out.iterdir()} == before


def test_a_missing_header_is_named_with_the_folders_searched(tmp_path: Path) -> None:
    with pytest.raises(HeaderError, match=rf"nothing\.h .*{re.escape(str(tmp_path))}"):
        read_headers(["nothing.h"], [tmp_path], find_toolchain())


def test_every_native_name_that_python_uses_is_bound() -> None:
    native = open_native()
    used = set()
    for path in PACKAGE.glob("*.py"):
        used |= set(re.findall(r"(?:native|_lib)\.((?:ggml|gmpy|softmetal|GGML|GMPY)_\w+)", path.read_text()))
    assert len(used) > 40
    assert [name for name in sorted(used) if not native.has(name)] == []


def test_every_getter_of_the_header_is_bound() -> None:
    assert len(open_native().functions("ggml_metal_library_get_pipeline_")) == 59


def test_struct_layouts_are_those_of_the_library() -> None:  # R15
    native = open_native()
    ffi = native.ffi
    layout = {
        native.text(native.gmpy_layout_name(i)): native.gmpy_layout_value(i)
        for i in range(native.gmpy_layout_count())
    }
    assert {"ggml_tensor", "ggml_tensor.op_params", "ggml_metal_pipeline_with_params.smem"} <= set(layout)
    for name, value in layout.items():
        struct, _, field = name.removesuffix(" size").partition(".")
        if not field:
            assert ffi.sizeof(f"struct {struct}") == value, name
        elif name.endswith(" size"):
            fields = dict(ffi.typeof(f"struct {struct}").fields)
            assert ffi.sizeof(fields[field].type) == value, name
        else:
            assert ffi.offsetof(f"struct {struct}", field) == value, name


@pytest.mark.parametrize("row", ROWS)
def test_types_have_the_values_of_the_header(row: str) -> None:
    ffi = open_native(row).ffi
    declared = {name: value for value, name in ffi.typeof("enum ggml_type").elements.items()}
    count = declared.pop("GGML_TYPE_COUNT")
    assert declared == {f"GGML_TYPE_{member.name}": member for member in gm.Type if member < count}
