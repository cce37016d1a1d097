"""Ops described by text, as on a command line: `mul_mat` of `q4_0:4096x4096` and `f32:4096xN`.

Axes are in ggml's order here, ne[0] first. A name instead of a number is an axis that takes many values.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import ops
from .op_checks import argument_kinds
from .tensor import MAX_DIMS, Context, Tensor, Type

_NE = r"(?:[0-9]+|[A-Z][A-Z0-9_]*)"
_SOURCE = re.compile(rf"(?P<type>\w+):(?P<ne>{_NE}(?:x{_NE})*)")
_AXIS = re.compile(r"(?P<name>[A-Z][A-Z0-9_]*)=(?P<values>\S+)")
_RANGE = re.compile(r"(?P<first>\d+)\.\.(?P<last>\d+)(?:(?P<by>[/*])(?P<step>\d+))?")

_MOST_VALUES = 100_000


@dataclass(frozen=True)
class Source:
    """The type and ne of a source; an ne that is a name stands for the values of that axis."""

    type: Type
    ne: tuple[int | str, ...]

    @classmethod
    def parse(cls, text: str) -> "Source":
        """From `TYPE:NE0xNE1...`. Raises ValueError."""
        match = _SOURCE.fullmatch(text)
        if match is None:
            raise ValueError(f"a source is written TYPE:NE0xNE1, as q4_0:4096x4096 or f32:KxN, not {text!r}")
        ne = tuple(int(n) if n.isdecimal() else n for n in match["ne"].split("x"))
        if len(ne) > MAX_DIMS:
            raise ValueError(f"a source has at most {MAX_DIMS} axes: {text!r}")
        return cls(Type.of(match["type"]), ne)

    @property
    def names(self) -> tuple[str, ...]:
        """The axes that have names."""
        return tuple(n for n in self.ne if isinstance(n, str))

    def make(self, context: Context, shape: Mapping[str, int]) -> Tensor:
        """The tensor, with the values of `shape` for names. Raises ValueError."""
        ne = [shape[n] if isinstance(n, str) else n for n in self.ne]
        return context.new_tensor(self.type, tuple(reversed(ne)))


@dataclass(frozen=True)
class DescribedOp:
    """An op of ggml.h by name, its sources, and its other arguments in the C function's order."""

    name: str
    sources: tuple[Source, ...]
    arguments: tuple[str, ...] = ()

    @classmethod
    def parse(cls, name: str, sources: Sequence[str], arguments: Sequence[str] = ()) -> "DescribedOp":
        """From the texts of a command line. Raises ValueError."""
        if not re.fullmatch(r"\w+", name):
            raise ValueError(f"an op is named as in ggml.h, without ggml_: mul_mat, not {name!r}")
        return cls(name.lower(), tuple(Source.parse(text) for text in sources), tuple(arguments))

    @property
    def names(self) -> tuple[str, ...]:
        """The axes that have names, in order of their first use."""
        return tuple(dict.fromkeys(name for source in self.sources for name in source.names))

    def make(self, context: Context, shape: Mapping[str, int] | None = None) -> Tensor:
        """The op's result. Raises ValueError for what does not fit, NotInUpstream, GgmlAbort."""
        missing = [name for name in self.names if name not in (shape or {})]
        if missing:
            raise ValueError(f"no value is given for {', '.join(missing)}")
        native = context._native
        tensors = iter([source.make(context, shape or {}) for source in self.sources])
        values = iter(self.arguments)
        filled: list[Any] = []
        for kind in argument_kinds(native, self.name):
            if kind.cname == "struct ggml_tensor *":
                filled.append(next(tensors, None))
            else:
                text = next(values, None)
                if text is None:
                    wanted = ", ".join(k.cname for k in argument_kinds(native, self.name))
                    raise ValueError(f"{self.name} takes more arguments; in order: {wanted}")
                filled.append(_value(kind, text))
        if next(tensors, None) is not None or next(values, None) is not None:
            raise ValueError(f"{self.name} takes fewer sources or arguments than were given")
        return ops.apply(self.name, *filled, context=context)


def enum_value(kind: Any, text: str) -> int:
    """The number of an enum's value, from it or from the end of its name: `avg` is GGML_OP_POOL_AVG."""
    values = {name.lower(): number for number, name in kind.elements.items()}
    found = [n for name, n in values.items() if name == text.lower() or name.endswith(f"_{text.lower()}")]
    if not text.isdecimal() and len(found) != 1:
        raise ValueError(f"{text!r} is no value of {kind.cname}: {', '.join(sorted(values))}")
    return int(text) if text.isdecimal() else int(found[0])


def _value(kind: Any, text: str) -> Any:
    """What a C argument of that kind is given for a text."""
    if kind.kind == "enum":
        return enum_value(kind, text)
    if kind.kind != "primitive":
        raise ValueError(f"an argument of type {kind.cname} cannot be written as text")
    if kind.cname in ("_Bool", "bool"):
        if text.lower() not in ("0", "1", "false", "true"):
            raise ValueError(f"{text!r} is neither true nor false")
        return text.lower() in ("1", "true")
    try:
        return float(text) if kind.cname in ("float", "double") else int(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a {kind.cname}") from None


def parse_axes(texts: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Values by name, each from `N=1..64`, `K=64..4096/64` (every 64th), `K=32..8192*2` (doubling) or
    `N=1,2,9`. Raises ValueError."""
    axes = {}
    for text in texts:
        match = _AXIS.fullmatch(text)
        if match is None:
            raise ValueError(f"an axis is written NAME=1..64, NAME=64..4096/64 or NAME=1,2,9, not {text!r}")
        parts = [_numbers(part, text) for part in match["values"].split(",")]
        values = tuple(itertools.chain.from_iterable(parts))
        if match["name"] in axes or len(set(values)) != len(values):
            raise ValueError(f"{text!r} gives an axis, or a value of it, for the second time")
        axes[match["name"]] = values
    return axes


def _numbers(part: str, text: str) -> Iterator[int]:
    if part.isdecimal() and int(part) >= 1:
        return iter([int(part)])
    match = _RANGE.fullmatch(part)
    if match is None:
        raise ValueError(
            f"{part!r} in {text!r} is neither a number nor a range FIRST..LAST, /STEP or *FACTOR"
        )
    first, last, step = int(match["first"]), int(match["last"]), int(match["step"] or 1)
    doubling = match["by"] == "*"
    if not 1 <= first <= last or step < (2 if doubling else 1):
        raise ValueError(f"{part!r} in {text!r} is empty, or has a step that goes nowhere")
    if not doubling and (last - first) // step >= _MOST_VALUES:
        raise ValueError(f"{part!r} in {text!r} has more than {_MOST_VALUES} values")
    if doubling:
        return itertools.takewhile(lambda n: n <= last, (first * step**i for i in itertools.count()))
    return iter(range(first, last + 1, step))
