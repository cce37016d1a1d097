"""What a rule says a getter does, and the registry of rules: one plain function for each getter."""

from collections.abc import Callable
from dataclasses import dataclass

from . import c

Constant = tuple[int, str, int]
"""Function constant: index, "int16" | "int32" | "bool", value."""


def int16(index: int, value: int) -> Constant:
    return index, "int16", c.int16(value)


def int32(index: int, value: int) -> Constant:
    return index, "int32", c.int32(value)


def boolean(index: int, value: object) -> Constant:
    return index, "bool", int(bool(value))


@dataclass(frozen=True)
class Expected:
    """A pipeline. What a getter does not set is 0 or False; `constants` in order of index."""

    base: str
    name: str = ""
    """Empty: the same as base."""
    nsg: int = 0
    nr0: int = 0
    nr1: int = 0
    smem: int = 0
    c4: bool = False
    cnt: bool = False
    constants: tuple[Constant, ...] = ()

    def __post_init__(self) -> None:
        base = c.text(self.base)
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "name", c.text(self.name) or base)
        object.__setattr__(self, "smem", c.size_t(self.smem))
        object.__setattr__(self, "constants", tuple(sorted(self.constants)))


@dataclass(frozen=True)
class Abort:
    """Upstream asserts. `text` is part of its message; empty when the rule does not care."""

    text: str = ""


Rule = Callable[..., Expected | Abort]
"""(row, op or first argument, further arguments of the newest row's C function) -> outcome."""

_rules: dict[str, Rule] = {}


def rule(getter: str) -> Callable[[Rule], Rule]:
    """Register the rule of `ggml_metal_library_get_pipeline_GETTER`. Tensors come to it as OpViews."""

    def register(function: Rule) -> Rule:
        assert getter not in _rules, f"two rules for {getter}"
        _rules[getter] = function
        return function

    return register


def rules() -> dict[str, Rule]:
    """All rules by getter."""
    from . import model  # imports every module there

    assert model
    return _rules
