"""What a translation unit of MSL declares: functions, kernels with their host names, function constants."""

import ast
import operator
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .errors import MslError
from .tokens import Token, closing, closing_angle, spell, split_commas

# fmt: off
POSITIONS = frozenset((
    "thread_position_in_threadgroup", "threadgroup_position_in_grid", "threads_per_threadgroup",
    "threadgroups_per_grid", "thread_position_in_grid", "threads_per_grid", "thread_index_in_threadgroup",
    "thread_index_in_simdgroup", "simdgroup_index_in_threadgroup", "simdgroups_per_threadgroup",
    "threads_per_simdgroup",
))
# fmt: on
# Other names of the same, older or for kernels dispatched with dispatchThreads.
SYNONYMS = {
    "dispatch_threads_per_threadgroup": "threads_per_threadgroup",
    "dispatch_simdgroups_per_threadgroup": "simdgroups_per_threadgroup",
    "thread_execution_width": "threads_per_simdgroup",
}
# MTLDataType
DATA_TYPES = {
    "float": 3, "half": 16, "int": 29, "int32_t": 29, "uint": 33, "uint32_t": 33, "short": 37, "int16_t": 37,
    "ushort": 41, "uint16_t": 41, "char": 45, "int8_t": 45, "uchar": 49, "uint8_t": 49, "bool": 53,
    "long": 81, "int64_t": 81, "ulong": 85, "uint64_t": 85,
}  # fmt: skip
_MAX_BUFFERS = 31


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel. `binding` is `buffer`, `threadgroup` or one of POSITIONS."""

    name: str
    binding: str
    index: int
    writable: bool


@dataclass
class Function:
    """A function with a body; the numbers are token indices."""

    name: str
    first: int
    parameters: tuple[int, int]
    body: tuple[int, int]
    is_kernel: bool = False
    is_template: bool = False
    has_lockstep_points: bool = False
    """Set by lockstep.py: its lanes wait for each other even if nothing in the text says so."""
    shares_loops: bool = False
    """Set by strides.py: one thread can take the turns of all."""


@dataclass(frozen=True)
class Kernel:
    """A kernel as the host knows it. `expression` names the C++ function: `f` or `f<float, 4>`."""

    host_name: str
    expression: str
    function: Function
    parameters: tuple[Parameter, ...]
    uses_sync: bool
    has_threadgroup_variables: bool


@dataclass(frozen=True)
class FunctionConstant:
    name: str
    type: str
    index: int


@dataclass
class Program:
    """Everything the translator needs to know about the tokens."""

    tokens: list[Token]
    functions: list[Function] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    constants: list[FunctionConstant] = field(default_factory=list)
    """By index: the place in this list is the slot."""
    derived: dict[str, str] = field(default_factory=dict)
    """Program-scope constants computed from function constants: name -> C++ expression."""
    instantiations: list[tuple[int, int]] = field(default_factory=list)
    """Token ranges of `template ... ;`, with host names."""
    blank: list[tuple[int, int]] = field(default_factory=list)
    """Token ranges (last included) that C++ must not see."""


_SYNC = re.compile(
    r"threadgroup_barrier|simd_\w+|simdgroup_(?:barrier|load|store|matrix|multiply\w*)|make_filled_simdgroup_matrix"
)


def is_sync_name(word: str) -> bool:
    """Whether calling a function of this name needs the lanes of a simdgroup or threadgroup together."""
    return _SYNC.fullmatch(word) is not None


def parse(tokens: list[Token]) -> Program:
    """Find what the tokens declare. Raises MslError for what softmetal does not have."""
    program = Program(tokens)
    for first, last, body in _declarations(tokens, 0, len(tokens) - 1):
        if body is not None:
            program.functions.append(_function(tokens, first, body))
        elif _has_word(tokens, first, last, "function_constant"):
            _function_constant(program, first, last)
        elif tokens[first].text == "template" and tokens[first + 1].text != "<":
            program.instantiations.append((first, last))
        elif tokens[first].text in ("constant", "static", "constexpr"):
            _derived_constant(program, first, last)
    program.constants.sort(key=lambda constant: constant.index)
    return program


def location(tokens: Sequence[Token], index: int) -> str:
    """`NAME:LINE` of a token, from the line markers before it."""
    text = "".join(str(token) for token in tokens[:index]) + tokens[index].before
    markers = list(re.finditer(r'^# (\d+) "([^"]*)".*\n', text, re.MULTILINE))
    if not markers:
        return f"line {text.count(chr(10)) + 1}"
    marker = markers[-1]
    return f"{marker[2]}:{int(marker[1]) + text.count(chr(10), marker.end())}"


def fail(tokens: Sequence[Token], index: int, message: str) -> MslError:
    """The error to raise for what stands at a token."""
    return MslError(f"{location(tokens, index)}: error: {message}\n")


def _has_word(tokens: Sequence[Token], first: int, last: int, word: str) -> bool:
    return any(token.text == word for token in tokens[first:last])


def _declarations(
    tokens: Sequence[Token], start: int, end: int
) -> Iterator[tuple[int, int, tuple[int, int] | None]]:
    """First and last token of each declaration, and of its body when it defines a function."""
    first = i = start
    initializer = False
    while i < end:
        text = tokens[i].text
        if text in ("(", "[", "[["):
            i = closing(tokens, i) + (text == "[[")
        elif text == "template" and tokens[i + 1].text == "<":
            i = closing_angle(tokens, i + 1)
        elif text == "=":
            initializer = True
        elif text == "{":
            close = closing(tokens, i)
            if tokens[first].text in ("namespace", "extern"):
                yield from _declarations(tokens, i + 1, close)
                first = close + 1
            elif not initializer and tokens[i - 1].text in (")", "const", "]"):
                yield first, close, (i, close)
                first = close + 1
            i = close
        elif text == ";":
            yield first, i, None
            first, initializer = i + 1, False
        i += 1


def _function(tokens: Sequence[Token], first: int, body: tuple[int, int]) -> Function:
    i = first
    is_template = is_kernel = False
    while i < body[0]:
        text = tokens[i].text
        if text == "template" and tokens[i + 1].text == "<":
            is_template = True
            i = closing_angle(tokens, i + 1)
        elif text == "[[":
            close = closing(tokens, i)
            is_kernel |= _has_word(tokens, i, close, "kernel")
            i = close + 1
        elif text in ("__attribute__", "alignas", "decltype") and tokens[i + 1].text == "(":
            i = closing(tokens, i + 1)
        elif text == "kernel":
            is_kernel = True
        elif (
            text in ("vertex", "fragment", "mesh", "object", "intersection") and tokens[i + 1].kind == "word"
        ):
            raise fail(tokens, i, f"softmetal runs compute kernels only, not {text} functions")
        elif text == "(":
            break
        i += 1
    return Function(tokens[i - 1].text, first, (i, closing(tokens, i)), body, is_kernel, is_template)


def _attributes(tokens: Sequence[Token]) -> dict[str, str]:
    """Attribute name -> spelled argument, of all [[...]] in the tokens."""
    found = {}
    for i, token in enumerate(tokens):
        if token.text == "[[":
            for attribute in split_commas(tokens[i + 1 : closing(tokens, i)]):
                found[attribute[0].text] = spell(attribute[2:-1])
    return found


def _function_constant(program: Program, first: int, last: int) -> None:
    tokens = program.tokens
    mark = next(i for i in range(first, last) if tokens[i].text == "[[")
    name, type_name = tokens[mark - 1].text, tokens[mark - 2].text
    if type_name not in DATA_TYPES:
        raise fail(tokens, mark, f"function constant {name}: softmetal has no {type_name} constants")
    index = _integer(_attributes(tokens[first:last])["function_constant"])
    if index is None or not 0 <= index < 65536:
        raise fail(tokens, mark, f"function constant {name}: its index must be a number from 0 to 65535")
    program.constants.append(FunctionConstant(name, type_name, index))
    program.blank.append((first, last))


def _derived_constant(program: Program, first: int, last: int) -> None:
    """`constant bool x = is_function_constant_defined(FC) ? FC : true;` has a value per pipeline, too."""
    tokens = program.tokens
    words = {token.text for token in tokens[first:last] if token.kind == "word"}
    known = {constant.name for constant in program.constants} | program.derived.keys()
    if "constant" not in words or not words & known:
        return
    equals = next((i for i in range(first, last) if tokens[i].text == "="), None)
    if equals is None or tokens[equals - 1].kind != "word":
        raise fail(
            tokens, first, "a constant computed from function constants must be `constant T name = value;`"
        )
    program.derived[tokens[equals - 1].text] = (
        f"({tokens[equals - 2].text}) ({spell(tokens[equals + 1 : last])})"
    )
    program.blank.append((first, last))


_OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.LShift: operator.lshift, ast.BitOr: operator.or_,
}  # fmt: skip


def _integer(expression: str) -> int | None:
    """The value of an integer expression such as `300 + 4`, None when it is none."""

    def value(node: ast.expr) -> int:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.BinOp):
            return int(_OPERATORS[type(node.op)](value(node.left), value(node.right)))
        raise KeyError(node)

    try:
        return value(ast.parse(expression.replace("/", "//"), mode="eval").body)
    except (SyntaxError, KeyError, ZeroDivisionError):
        return None


def find_kernels(program: Program) -> None:
    """Fill in program.kernels, sorted by host name. Raises MslError."""
    tokens = program.tokens
    sync = _names_with_sync(program)
    by_name = {function.name: function for function in program.functions if function.is_kernel}
    found: dict[str, Kernel] = {}

    def add(host_name: str, expression: str, at: int) -> None:
        words = re.findall(r"\w+", expression)
        function = by_name.get(words[0])
        if function is None:
            raise fail(tokens, at, f'host name "{host_name}": there is no kernel function {words[0]}')
        if host_name in found:
            raise fail(tokens, at, f'host name "{host_name}" is used twice')
        body = tokens[function.body[0] : function.body[1]]
        found[host_name] = Kernel(
            host_name,
            expression,
            function,
            _parameters(tokens, function),
            uses_sync=not sync.isdisjoint(words),
            has_threadgroup_variables=any(
                threadgroup_variable(body, i) is not None for i in range(len(body))
            ),
        )

    for function in by_name.values():
        if not function.is_template:
            head = _attributes(tokens[function.first : function.parameters[0]])
            name = _text(head["host_name"]) if "host_name" in head else function.name
            add(name, function.name, function.first)
    for first, last in program.instantiations:
        if not _has_word(tokens, first, last, "kernel"):
            continue
        program.blank.append((first, last))
        host_name = _attributes(tokens[first:last]).get("host_name")
        if host_name is None:
            raise fail(tokens, first, 'a kernel template needs [[host_name("...")]] where it is instantiated')
        add(_text(host_name), _instantiated(tokens, first, last), first)
    program.kernels = [found[name] for name in sorted(found, key=str.encode)]


def _text(literals: str) -> str:
    """What string literals, one or several side by side, mean."""
    return "".join(re.findall(r'"([^"]*)"', literals))


def _instantiated(tokens: Sequence[Token], first: int, last: int) -> str:
    """`f<float>` of `template [[host_name("x")]] kernel type f<float>;` or of `... void f<float>(...);`"""
    i = first
    while tokens[i].text != "kernel":
        i += 1
    i += 1
    if tokens[i].text == "decltype":
        i = closing(tokens, i + 1)
    i += 1  # the type, or its last token
    end = i
    while end < last and tokens[end].text not in ("<", "("):
        end += 1
    if tokens[end].text == "<":
        end = closing_angle(tokens, end) + 1
    return spell(tokens[i:end])


def _parameters(tokens: Sequence[Token], function: Function) -> tuple[Parameter, ...]:
    parts = split_commas(tokens[function.parameters[0] + 1 : function.parameters[1]])
    attributes = [_attributes(part) for part in parts]
    taken = {int(a["buffer"]) for a in attributes if "buffer" in a}
    free = iter(i for i in range(_MAX_BUFFERS) if i not in taken)
    parameters = []
    for part, attribute in zip(parts, attributes, strict=True):
        end = next((i for i, token in enumerate(part) if token.text == "[["), len(part))
        name = next((token.text for token in reversed(part[:end]) if token.kind == "word"), "")
        words = [token.text for token in part]
        writable = ("device" in words or "threadgroup" in words) and "const" not in words
        binding, index = "buffer", -1
        for key, argument in attribute.items():
            key = SYNONYMS.get(key, key)
            if key in POSITIONS:
                binding = key
            elif key in ("buffer", "threadgroup"):
                binding, index = key, int(argument)
            elif key != "function_constant":
                raise fail(
                    tokens, function.first, f"kernel {function.name}: softmetal has no [[{key}]] parameters"
                )
        if binding == "buffer" and index < 0:
            index = next(free)
        parameters.append(Parameter(name, binding, index, writable))
    return tuple(parameters)


def _names_with_sync(program: Program) -> set[str]:
    """Functions whose lanes wait for each other, in themselves or in what they name."""
    words: dict[str, set[str]] = {}
    for function in program.functions:
        body = program.tokens[function.body[0] : function.body[1]]
        words.setdefault(function.name, set()).update(token.text for token in body if token.kind == "word")
    sync = {name for name, used in words.items() if any(map(is_sync_name, used))}
    sync |= {function.name for function in program.functions if function.has_lockstep_points}
    while more := {name for name, used in words.items() if name not in sync and not used.isdisjoint(sync)}:
        sync |= more
    return sync


def threadgroup_variable(tokens: Sequence[Token], i: int) -> int | None:
    """Where the declaration of a variable in threadgroup memory ends (its `;`), if one starts at `i`.

    `threadgroup float x[32];` is one; `threadgroup float * p = ...` is a pointer of each thread.
    """
    if tokens[i].text != "threadgroup" or (i > 0 and tokens[i - 1].text not in (";", "{", "}")):
        return None
    end = i + 1
    while tokens[end].text != ";":
        if tokens[end].text in ("*", "&", "=", "(", "[["):
            return None
        end = 1 + (closing(tokens, end) if tokens[end].text == "[" else end)
    return end
