"""From MSL tokens to C++ for include/metal_stdlib, line by line where it was."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from . import converge, lockstep, strides
from .program import (
    DATA_TYPES,
    Function,
    Kernel,
    Parameter,
    Program,
    fail,
    find_kernels,
    parse,
    threadgroup_variable,
)
from .swizzle import spell_swizzles
from .tokens import Token, closing, join, spell, split_commas, tokenize

_ADDRESS_SPACES = {"device": "", "thread": "", "threadgroup": "", "constant": "const", "kernel": "static"}
_MATH_MODES = {
    "safe": "#pragma clang fp reassociate(off) contract(off)",
    "relaxed": "#pragma clang fp contract(fast)",
    "fast": "#pragma clang fp contract(fast)",
}


@dataclass(frozen=True)
class Translation:
    """A source in C++. `text` is the user's code, to be followed by `entries` of the kernels wanted."""

    program: Program
    text: str

    def unit(self, kernels: Sequence[Kernel]) -> str:
        """A translation unit that defines the entries of these kernels."""
        return "\n".join(
            [
                "#include <metal_stdlib.h>",
                "namespace {",
                self.text,
                "}",
                '# 1 "entries"',
                *(self._entry(kernel) for kernel in kernels),
                "",
            ]
        )

    def table(
        self, kernels: Sequence[Kernel], source_hash: str, cpu: str, static_bytes: Mapping[str, int]
    ) -> str:
        """The translation unit with the table of a library that holds these kernels, sorted by name.

        `static_bytes` is by symbol how much threadgroup memory the kernels' own variables take.
        """
        constants = self.program.constants
        lines = ['#include "softmetal/table.h"', "namespace softmetal {"]
        lines += [
            "static const sm_constant constants[] = {",
            *(f"    {{ {c.index}, {DATA_TYPES[c.type]}, {_quote(c.name)} }}," for c in constants),
            "    {},",
            "};",
        ]
        for i, kernel in enumerate(kernels):
            bound = [p for p in kernel.parameters if p.binding in ("buffer", "threadgroup")]
            lines += [
                f'extern "C" const Entry {self.symbol(kernel)};',
                f"static const sm_arg args_{i}[] = {{",
                *(f"    {_argument(parameter)}," for parameter in bound),
                "    {},",
                "};",
            ]
        lines.append("static const sm_kernel kernels[] = {")
        for i, kernel in enumerate(kernels):
            flags = "SM_KERNEL_SYNC" if kernel.uses_sync else "0"
            static = static_bytes.get(self.symbol(kernel), 0)
            count = f"sizeof(args_{i}) / sizeof(sm_arg) - 1"
            entry = f"(const sm_entry *) &{self.symbol(kernel)}"
            lines.append(
                f"    {{ {_quote(kernel.host_name)}, {flags}, {static}, {count}, args_{i}, {entry} }},"
            )
        lines += ["};", "} // namespace softmetal"]
        lines.append(f"SM_TABLE({_quote(source_hash)}, {_quote(cpu)}, {len(kernels)}, {len(constants)})")
        return "\n".join(lines) + "\n"

    def symbol(self, kernel: Kernel) -> str:
        """The linker's name of a kernel's entry."""
        return f"softmetal_entry_{self.program.kernels.index(kernel)}"

    def _entry(self, kernel: Kernel) -> str:
        bindings = "".join(f", softmetal::{_binding(parameter)}" for parameter in kernel.parameters)
        how = "fibers" if kernel.uses_sync else "turns" if kernel.function.shares_loops else "loop"
        name = self.symbol(kernel)
        return (
            f'extern "C" const softmetal::Entry {name};\n'
            f"const softmetal::Entry {name} = softmetal::kernel_entry<&{kernel.expression}{bindings}>::{how};"
        )


def _quote(text: str) -> str:
    return json.dumps(text)


def _binding(parameter: Parameter) -> str:
    if parameter.binding == "buffer":
        return f"buffer<{parameter.index}>"
    if parameter.binding == "threadgroup":
        return f"threadgroup_memory<{parameter.index}>"
    return parameter.binding


def _argument(parameter: Parameter) -> str:
    kind = "SM_ARG_BUFFER" if parameter.binding == "buffer" else "SM_ARG_THREADGROUP"
    return f"{{ {kind}, {parameter.index}, {int(parameter.writable)}, {_quote(parameter.name)} }}"


def translate(preprocessed: str, *, fibers: bool = False) -> Translation:
    """Translate preprocessed MSL. Raises MslError for what softmetal does not have.

    `fibers`: every lane has a stack of its own, also in kernels where none waits.
    """
    program = parse(tokenize(preprocessed))
    lockstep.insert_points(program)
    find_kernels(program)
    if fibers:
        program.kernels = [replace(kernel, uses_sync=True) for kernel in program.kernels]
    strides.find(program)
    converge.order(program)
    for function in program.functions:
        _place_threadgroup_variables(program.tokens, function)
    for first, last in program.blank:
        _erase(program.tokens, first, last)
    _erase_attributes(program.tokens)
    spell_swizzles(program.tokens)
    _replace_constants(program)
    for token in program.tokens:
        if token.kind == "word" and token.text in _ADDRESS_SPACES:
            token.text = _ADDRESS_SPACES[token.text]
        elif token.kind == "number":
            token.text = _number(token.text)
    text = re.sub(
        r"^#pragma METAL fp math_mode\((\w+)\)",
        lambda match: _MATH_MODES.get(match[1], ""),
        join(program.tokens),
        flags=re.MULTILINE,
    )
    return Translation(program, text)


def _erase(tokens: Sequence[Token], first: int, last: int) -> None:
    for token in tokens[first : last + 1]:
        token.text = ""


def _erase_attributes(tokens: Sequence[Token]) -> None:
    for i, token in enumerate(tokens):
        if token.text == "[[":
            _erase(tokens, i, closing(tokens, i) + 1)


def _number(text: str) -> str:
    """MSL has no double: a literal without suffix is a float. `h` makes a half, `bf` a bfloat."""
    if text[:2].lower() in ("0x", "0b"):
        return text
    match = re.fullmatch(r"([\d.]+(?:[eE][+-]?\d+)?)(bf|BF|[hHfF])?", text)
    if match is None or (match[2] is None and not re.search(r"[.eE]", match[1])):
        return text
    digits = match[1] if re.search(r"[.eE]", match[1]) else match[1] + ".0"
    cast = {"h": "(half) ", "bf": "(bfloat) "}.get((match[2] or "").lower(), "")
    return f"({cast}{digits}f)" if cast else f"{digits}f"


def _replace_constants(program: Program) -> None:
    values: dict[str, str] = {}
    slots: dict[str, int] = {}
    for slot, constant in enumerate(program.constants):
        values[constant.name] = f"softmetal::function_constant<{constant.type}, {slot}>()"
        slots[constant.name] = slot
    tokens = program.tokens

    def substitute(tokens: Sequence[Token]) -> None:
        for i, token in enumerate(tokens):
            if token.text == "is_function_constant_defined" and i + 3 < len(tokens):
                asked = tokens[i + 2].text
                _erase(tokens, i + 1, i + 3)
                token.text = f"softmetal::function_constant_defined<{slots.get(asked, -1)}>()"
            elif token.kind == "word" and token.text in values:
                token.text = values[token.text]

    for name, expression in program.derived.items():
        inner = tokenize(expression)
        substitute(inner)
        values[name] = f"({join(inner)})"
    substitute(tokens)


def _place_threadgroup_variables(tokens: Sequence[Token], function: Function) -> None:
    """`threadgroup float x[32];` becomes a reference to its place in the static threadgroup memory.

    Each variable lies behind the last one that is visible where it is declared.
    """
    depth = 0
    visible: list[tuple[int, str]] = []
    number = 0
    for i in range(*function.body):
        text = tokens[i].text
        if text == "{":
            depth += 1
        elif text == "}":
            depth -= 1
            visible = [(d, name) for d, name in visible if d <= depth]
        end = threadgroup_variable(tokens, i)
        if end is None:
            continue
        if not function.is_kernel:
            raise fail(tokens, i, f"{function.name}: only kernels can have variables in threadgroup memory")
        code = []
        parts = split_commas(tokens[i + 1 : end])
        first_dim = next((k for k, token in enumerate(parts[0]) if token.text == "["), len(parts[0]))
        element = spell(parts[0][: first_dim - 1])
        parts[0] = parts[0][first_dim - 1 :]
        for part in parts:
            type_name = f"softmetal::identity<{element}{spell(part[1:])}>::type"
            start = f"({visible[-1][1]} + 15) / 16 * 16" if visible else "0"
            offset, behind = f"sm_offset_{number}", f"sm_end_{number}"
            code += [
                f"constexpr uint32_t {offset} = {start}, {behind} = {offset} + sizeof(typename {type_name});",
                f"static_assert({behind} <= softmetal::STATIC_THREADGROUP_BYTES, "
                '"too much threadgroup memory");',
                f"softmetal::static_bytes<{behind}>();",
                f"auto & {part[0].text} = softmetal::threadgroup_variable<typename {type_name}, {offset}, "
                f"{number}>({_quote(part[0].text)});",
            ]
            visible.append((depth, behind))
            number += 1
        _erase(tokens, i, end - 1)  # its `;` stays: by it the next declaration is recognised
        tokens[i].text = " ".join(code)
