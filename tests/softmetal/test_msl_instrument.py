"""What the compiler service adds to the compiler's output for checked mode."""

import re
import textwrap

import pytest

from ggml_metal_py.softmetal.msl.instrument import instrument

USER = """
!1 = !DILocation(line: 2, column: 5, scope: !2, inlinedAt: !9)
!2 = distinct !DISubprogram(name: "kernel", file: !3, line: 1)
!3 = !DIFile(filename: "some.metal", directory: "/")
!4 = !DILocation(line: 70, column: 1, scope: !5, inlinedAt: !1)
!5 = distinct !DISubprogram(name: "operator+=", file: !6, line: 69)
!6 = !DIFile(filename: "/x/softmetal/vector.h", directory: "")
!7 = !DILocation(line: 80, column: 1, scope: !8, inlinedAt: !1)
!8 = distinct !DISubprogram(name: "collective", file: !10, line: 69)
!9 = distinct !DILocation(line: 90, column: 1, scope: !11)
!10 = !DIFile(filename: "/x/softmetal/simdgroup.h", directory: "")
!11 = distinct !DISubprogram(name: "lane", file: !12, line: 69)
!12 = !DIFile(filename: "/x/softmetal/entry.h", directory: "")
"""
SOURCE = ["void kernel() {", "    b[1] = a[0];", "}"]
READ, WRITE, ATOMIC = 1, 2, 4


def instrumented(body: str) -> str:
    lines = textwrap.indent(textwrap.dedent(body).strip(), "  ")
    return instrument(f"define void @f(ptr %p, ptr %q, i64 %n) {{\n{lines}\n  ret void\n}}\n{USER}", SOURCE)


def spots(module: str) -> list[tuple[int, int, int, str]]:
    """Line, access, alignment and size of each."""
    found = re.findall(
        r"%softmetal.spot \{ ptr \S+, i32 (\d+), i16 \d+, i8 (\d+), i8 (\d+), i32 ([^,]+), i32 0 \}", module
    )
    return [(int(line), int(access), int(align), size) for line, access, align, size in found]


@pytest.mark.parametrize(
    ("instruction", "access", "align", "size"),
    [
        ("%v = load float, ptr %p, align 4, !dbg !1", READ, 4, "4"),
        ("%v = load <3 x half>, ptr %p, align 8, !dbg !1", READ, 8, "6"),
        ("%v = load volatile i1, ptr %p, align 1, !dbg !1", READ, 1, "1"),
        ("%v = load atomic i32, ptr %p seq_cst, align 4, !dbg !1", READ | ATOMIC, 4, "4"),
        ("store <4 x float> %x, ptr %p, align 16, !dbg !1", WRITE, 16, "16"),
        ("store <2 x i8> <i8 1, i8 2>, ptr %p, align 2, !dbg !1", WRITE, 2, "2"),
        ("store ptr %q, ptr %p, align 8, !dbg !1", WRITE, 8, "8"),
        ("store atomic i32 0, ptr %p seq_cst, align 4, !dbg !1", WRITE | ATOMIC, 4, "4"),
        (
            "%v = cmpxchg weak volatile ptr %p, i32 %a, i32 %b seq_cst seq_cst, align 4, !dbg !1",
            READ | WRITE | ATOMIC,
            4,
            "4",
        ),
    ],
)
def test_an_access_goes_through_a_call(instruction: str, access: int, align: int, size: str):
    module = instrumented(instruction)
    assert spots(module) == [(2, access, align, size)]
    call, changed = module.splitlines()[1:3]
    assert re.fullmatch(r"  %softmetal.0 = call ptr @softmetal_access\(ptr %p, ptr .*\), !dbg !1", call)
    assert changed.strip() == instruction.replace("ptr %p", "ptr %softmetal.0")


def test_code_of_our_headers_has_the_line_that_it_was_inlined_into():
    assert spots(instrumented("%v = load float, ptr %p, align 4, !dbg !4")) == [(2, READ, 4, "4")]


@pytest.mark.parametrize(
    "body",
    [
        "%v = load float, ptr %p, align 4, !dbg !7",  # of the executor
        "%v = load float, ptr %p, align 4, !dbg !9",
        "%v = load float, ptr %p, align 4",
        "%v = load i64, ptr %p, align 8, !dbg !1, !invariant.load !3",
        "%a = alloca float\n%b = getelementptr i8, ptr %a, i64 %n\nstore i8 0, ptr %b, align 1, !dbg !1",
    ],
)
def test_what_is_not_the_kernels_memory_is_left_alone(body: str):
    module = instrumented(body)
    assert spots(module) == []
    assert "call ptr" not in module


def test_copies_and_fills_are_calls():
    module = instrumented(
        """
        call void @llvm.memcpy.p0.p0.i64(ptr align 4 %p, ptr nonnull align 16 %q, i64 32, i1 false), !dbg !1
        call void @llvm.memset.p0.i64(ptr align 8 %p, i8 7, i64 %n, i1 false), !dbg !1
        """
    )
    assert spots(module) == [(2, WRITE, 4, "32"), (2, READ, 16, "32"), (2, WRITE, 8, "0")]
    assert "call void @softmetal_copy(ptr %p, ptr %q, i64 32, ptr " in module
    assert "call void @softmetal_fill(ptr %p, i8 7, i64 %n, ptr " in module
    assert "@llvm.mem" not in module


def test_the_line_of_the_source_goes_with_it():
    assert 'c"b[1] = a[0];\\00"' in instrumented("%v = load i8, ptr %p, align 1, !dbg !1")


def test_tables_are_listed_under_their_own_names():
    table = (
        "@_ZN12_GLOBAL__N_16valuesE = internal unnamed_addr constant [2 x float] zeroinitializer, align 8\n"
    )
    module = instrument(table + USER, SOURCE)
    assert 'c"values\\00"' in module
    size = "ptrtoint (ptr getelementptr ([2 x float], ptr null, i32 1) to i64)"
    assert f"ptr @_ZN12_GLOBAL__N_16valuesE, i64 {size}" in module
