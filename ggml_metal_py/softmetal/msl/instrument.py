"""Checked mode's part in the compiler's output: a call before each access to memory, a list of their places.

Works on LLVM's IR as it is after optimisation, when what is left are the accesses that will be made. A lane's
own variables are mostly in registers by then; those that are not are known by their `alloca`.

    %v = load float, ptr %p, align 4, !dbg !7
becomes
    %softmetal.0 = call ptr @softmetal_access(ptr %p, ptr <spot 0>), !dbg !7
    %v = load float, ptr %softmetal.0, align 4, !dbg !7

A spot (exec/checked/spot.h) is told by the line of the user's source: through all functions of our own
headers that were inlined. Accesses by the executor's own code in headers are left alone.
"""

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

READ, WRITE, ATOMIC, BARRIER = 1, 2, 4, 8  # enum softmetal_access

# Headers whose code is not the kernel's: how lanes run, how a kernel is entered.
_EXECUTOR_FILES = ("simdgroup.h", "worker.h", "stack_switch.h", "entry.h")
_EXECUTOR_FUNCTIONS = ("function_constant", "function_constant_defined", "threadgroup_variable")

_LOAD = re.compile(
    r"^ +%\S+ = load (?P<atomic>atomic )?(?:volatile )?(?P<type>.+?), ptr (?P<at>%[^,\s]+)(?=[ ,])"
)
_STORE = re.compile(
    r"^ +store (?P<atomic>atomic )?(?:volatile )?(?P<type><[^>]*>|\{[^}]*\}|\[.*?\]|\S+) .*"
    r", ptr (?P<at>%[^,\s]+)(?=[ ,])"
)
_EXCHANGE = re.compile(
    r"^ +%\S+ = (?:cmpxchg (?:weak )?|atomicrmw )(?:volatile )?(?:\w+ )?ptr (?P<at>%[^,\s]+), (?P<type>\S+) "
)
_ALIGN = re.compile(r", align (\d+)")
_MEMORY = re.compile(r"call void @llvm\.mem(?P<what>cpy|move|set)[\w.]*\((?P<arguments>.*)\)(?=[ ,]|$)")
_BARRIER = re.compile(r"(call void @softmetal_at_barrier\(i32 .*?, ptr (?:\w+ )*)null\)")
_DEFINITION = re.compile(r"^ +(?P<name>%\S+) = (?P<what>alloca|getelementptr)\b(?P<rest>.*)")
_DEBUG = re.compile(r", !dbg !(\d+)")
_CONSTANT = re.compile(
    r"^(?P<name>@(?:[-\w.$]+|\"[^\"]+\")) = (?:(?!external)[\w()]+ )*?(?:constant|global) ", re.MULTILINE
)
_SPOT_BYTES = 24
_BYTES = {"half": 2, "float": 4, "double": 8, "ptr": 8}


@dataclass(frozen=True)
class Spot:
    """A place in the user's source, as exec/checked/spot.h has it."""

    line: int
    column: int
    access: int
    align: int
    size: str
    """Bytes, as a constant of the IR."""


class Places:
    """Where instructions come from, by the debug information of a module."""

    def __init__(self, module: str) -> None:
        self._nodes = dict(re.findall(r"^!(\d+) = (?:distinct )?(!DI\w+\(.*\))$", module, re.MULTILINE))
        self._known: dict[tuple[str, bool], tuple[int, int] | None] = {}

    def of(self, line: str, *, executor: bool = False) -> tuple[int, int] | None:
        """Line and column in the user's source; None for the executor's code, unless asked for, too."""
        found = _DEBUG.search(line)
        if found is None:
            return None
        key = found[1], executor
        if key not in self._known:
            self._known[key] = self._find(*key)
        return self._known[key]

    def _find(self, number: str | None, executor: bool) -> tuple[int, int] | None:
        while number is not None:
            location = self._nodes[number]
            file, function = self._scope(self._reference(location, "scope"))
            if "/softmetal/" not in file or not file.endswith(".h"):
                return self._number(location, "line"), self._number(location, "column")
            if not executor and (file.endswith(_EXECUTOR_FILES) or function in _EXECUTOR_FUNCTIONS):
                return None
            number = self._reference(location, "inlinedAt")
        return None

    def _scope(self, number: str | None) -> tuple[str, str]:
        """File and function of a scope."""
        file = None
        while number is not None:
            scope = self._nodes[number]
            file = file or self._reference(scope, "file")
            if scope.startswith("!DISubprogram"):
                name = re.search(r'name: "([^"<]*)', scope)
                path = re.search(r'filename: "([^"]*)"', self._nodes[file]) if file else None
                return path[1] if path else "", name[1] if name else ""
            number = self._reference(scope, "scope")
        return "", ""

    @staticmethod
    def _reference(node: str, field: str) -> str | None:
        found = re.search(rf"\b{field}: !(\d+)", node)
        return found[1] if found else None

    @staticmethod
    def _number(node: str, field: str) -> int:
        found = re.search(rf"\b{field}: (\d+)", node)
        return int(found[1]) if found else 0


def instrument(module: str, source: Sequence[str]) -> str:
    """The module with the calls. `source`: the lines of the user's source, for reports."""
    return _Pass(module, source).result


class _Pass:
    def __init__(self, module: str, source: Sequence[str]) -> None:
        self._places = Places(module)
        self._source = source
        self._spots: list[Spot] = []
        self._private: set[str] = set()
        self._calls = 0
        body = "\n".join(line for old in module.split("\n") for line in self._rewritten(old))
        self.result = "\n".join([body, *self._tables(module), *self._list_of_spots(), *_DECLARATIONS, ""])

    def _rewritten(self, line: str) -> Iterator[str]:
        if line.startswith("define "):
            self._private.clear()
        elif line.startswith(" "):
            yield from self._instruction(line)
            return
        yield line

    def _instruction(self, line: str) -> Iterator[str]:
        defined = _DEFINITION.match(line)
        if defined:
            base = re.search(r"ptr (%[^,\s]+)", defined["rest"])
            if defined["what"] == "alloca" or (base and base[1] in self._private):
                self._private.add(defined["name"])
        elif "@softmetal_at_barrier" in line:
            line = _BARRIER.sub(lambda match: f"{match[1]}{self._spot(line, BARRIER, 1, '0')})", line)
        elif "@llvm.mem" in line:
            yield from self._memory(line)
            return
        elif " load " in line or " store " in line or " cmpxchg " in line or " atomicrmw " in line:
            yield from self._access(line)
            return
        yield line

    def _access(self, line: str) -> Iterator[str]:
        found, access = _LOAD.match(line), READ
        if found is None:
            found, access = _STORE.match(line), WRITE
        if found is None:
            found, access = _EXCHANGE.match(line), READ | WRITE | ATOMIC
        elif found["atomic"]:
            access |= ATOMIC
        if (
            found is None
            or found["at"] in self._private
            or "!invariant.load" in line
            or self._places.of(line) is None
        ):
            yield line
            return
        align = _ALIGN.search(line)
        spot = self._spot(line, access, int(align[1]) if align else 1, _size(found["type"]))
        checked = yield from self._call(found["at"], spot, line)
        yield line[: found.start("at")] + checked + line[found.end("at") :]

    def _call(self, pointer: str, spot: str, line: str) -> Generator[str, None, str]:
        """Emit the call for a pointer; the pointer to use instead."""
        checked = f"%softmetal.{self._calls}"
        self._calls += 1
        yield f"  {checked} = call ptr @softmetal_access(ptr {pointer}, ptr {spot}){_debug(line)}"
        return checked

    def _memory(self, line: str) -> Iterator[str]:
        found = _MEMORY.search(line)
        if found is None or self._places.of(line) is None:
            yield line
            return
        to, value, size = _split(found["arguments"])[:3]
        pointers = [_operand(to)] + ([_operand(value)] if found["what"] != "set" else [])
        if all(pointer in self._private for pointer in pointers):
            yield line
            return
        length = size.removeprefix("i64 ")
        bytes_ = length if length.isdigit() else "0"
        written = self._spot(line, WRITE, _claimed(to), bytes_)
        if found["what"] == "set":
            call = f"@softmetal_fill(ptr {pointers[0]}, {value}, {size}, ptr {written})"
        else:
            read = self._spot(line, READ, _claimed(value), bytes_)
            call = f"@softmetal_copy(ptr {pointers[0]}, ptr {pointers[1]}, {size}, ptr {written}, ptr {read})"
        yield f"  call void {call}{_debug(line)}"

    def _spot(self, line: str, access: int, align: int, size: str) -> str:
        """A new spot for the instruction in this line, as an operand."""
        place = self._places.of(line, executor=access == BARRIER) or (0, 0)
        self._spots.append(Spot(*place, access, align, size))
        return f"getelementptr (i8, ptr @softmetal.spots, i64 {(len(self._spots) - 1) * _SPOT_BYTES})"

    # ---- what the module gets in addition

    def _list_of_spots(self) -> Iterator[str]:
        texts: dict[str, int] = {}
        rows = []
        for spot in self._spots:
            text = self._source[spot.line - 1].strip() if 0 < spot.line <= len(self._source) else ""
            number = texts.setdefault(text, len(texts))
            rows.append(
                f"%softmetal.spot {{ ptr @softmetal.text.{number}, i32 {spot.line}, "
                f"i16 {spot.column % 65536}, i8 {spot.access}, i8 {min(spot.align, 128)}, "
                f"i32 {spot.size}, i32 0 }}"
            )
        yield "%softmetal.spot = type { ptr, i32, i16, i8, i8, i32, i32 }"
        for text, number in texts.items():
            yield f"@softmetal.text.{number} = private unnamed_addr constant {_string(text)}"
        if rows:
            yield (
                f"@softmetal.spots = internal global [{len(rows)} x %softmetal.spot] [{', '.join(rows)}], "
                'section "softmetal_spots", align 8'
            )

    def _tables(self, module: str) -> Iterator[str]:
        """The list of the module's own constants, which kernels may read."""
        for number, (name, kind) in enumerate(_constants(module)):
            size = f"ptrtoint (ptr getelementptr ({kind}, ptr null, i32 1) to i64)"
            plain = name.strip('@"')
            yield f"@softmetal.name.{number} = private unnamed_addr constant {_string(_readable(plain))}"
            yield (
                f"@softmetal.table.{number} = internal constant {{ ptr, i64, ptr }} "
                f"{{ ptr {name}, i64 {size}, ptr @softmetal.name.{number} }}, "
                'section "softmetal_tables", align 8'
            )
        tables = [f"ptr @softmetal.table.{i}" for i in range(len(list(_constants(module))))]
        if tables:
            yield (
                f"@llvm.compiler.used = appending global [{len(tables)} x ptr] [{', '.join(tables)}], "
                'section "llvm.metadata"'
            )


_DECLARATIONS = (
    "declare ptr @softmetal_access(ptr, ptr)",
    "declare void @softmetal_copy(ptr, ptr, i64, ptr, ptr)",
    "declare void @softmetal_fill(ptr, i8, i64, ptr)",
)


def _constants(module: str) -> Iterator[tuple[str, str]]:
    """Name and type of each constant that has a value here, the kernels' entries aside."""
    for match in _CONSTANT.finditer(module):
        if "softmetal_entry" not in match["name"] and not match["name"].startswith("@llvm."):
            yield match["name"], _leading_type(module[match.end() :].split("\n", 1)[0])


def _leading_type(text: str) -> str:
    """The type that a text begins with."""
    depth = 0
    quoted = False
    for i, letter in enumerate(text):
        quoted ^= letter == '"'
        if quoted:
            continue
        depth += (letter in "[{<(") - (letter in "]}>)")
        if depth == 0 and letter in " ,":
            return text[:i]
    return text


def _split(text: str) -> list[str]:
    """At commas that no bracket encloses."""
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "[{(") - (letter in "]})")
        if letter == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


def _operand(argument: str) -> str:
    """The value of an argument with type and attributes: the last word, or a constant expression."""
    constant = re.search(r"getelementptr .*", argument)
    return constant[0] if constant else argument.rsplit(" ", 1)[-1]


def _claimed(argument: str) -> int:
    align = re.search(r"\balign (\d+)", argument)
    return int(align[1]) if align else 1


def _debug(line: str) -> str:
    found = _DEBUG.search(line)
    return found[0] if found else ""


def _string(text: str) -> str:
    data = text.encode() + b"\0"
    escaped = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}" for byte in data
    )
    return f'[{len(data)} x i8] c"{escaped}"'


def _readable(name: str) -> str:
    """The last part of a mangled name: `_ZN12_GLOBAL__N_16valuesE` is `values`."""
    parts = []
    rest = name
    while found := re.search(r"(\d+)", rest):
        length = int(found[1])
        parts.append(rest[found.end() : found.end() + length])
        rest = rest[found.end() + length :]
    named = [part for part in parts if re.fullmatch(r"[A-Za-z]\w*", part)]
    return named[-1] if name.startswith("_Z") and named else name


def _size(kind: str) -> str:
    """Bytes that a load of the type reads, as a constant of the IR."""
    vector = re.fullmatch(r"<(\d+) x (\w+)>", kind)
    if vector:
        return str((int(vector[1]) * _bits(vector[2]) + 7) // 8)
    if re.fullmatch(r"\w+", kind):
        return str((_bits(kind) + 7) // 8)
    return f"ptrtoint (ptr getelementptr ({kind}, ptr null, i32 1) to i32)"


def _bits(kind: str) -> int:
    return int(kind[1:]) if kind[1:].isdigit() else _BYTES[kind] * 8
