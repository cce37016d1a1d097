"""A case: a graph that is computed twice, by the device and by ggml's CPU backend, and compared."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from .expression import Tree, names, parse


@dataclass(frozen=True)
class Case:
    """Its text says all about it: the same text is the same graph with the same values."""

    op: str
    """What it is about, a name that `check OP` takes."""
    text: str

    @cached_property
    def tree(self) -> Tree:
        """The text, read. Raises ValueError."""
        return parse(self.text)

    @classmethod
    def of(cls, text: str) -> "Case":
        """A case of any text. Raises ValueError."""
        tree = parse(text)
        return cls(getattr(tree, "name", "leaf"), str(tree))


@cache
def all_cases() -> tuple[Case, ...]:
    """Every case that there is, each text once, by op."""
    from .families import FAMILIES

    found: dict[str, Case] = {}
    for family in FAMILIES:
        for op, tree in family():
            text = str(tree)
            found.setdefault(text, Case(op, text))
    return tuple(found.values())


def chosen(ops: Sequence[str] = ()) -> tuple[Case, ...]:
    """The cases about these ops, or in whose graphs these functions of ggml.h are; all without any.

    Raises ValueError for an op without a case.
    """
    wanted = [op.lower().removeprefix("ggml_") for op in ops]
    cases = all_cases()
    if not wanted:
        return cases
    for op in wanted:
        if not any(op == case.op or op in names(case.tree) for case in cases):
            raise ValueError(f"there are no cases of {op!r}; ops: {', '.join(_ops(cases))}")
    return tuple(case for case in cases if case.op in wanted or names(case.tree) & set(wanted))


def _ops(cases: Sequence[Case]) -> Iterator[str]:
    yield from dict.fromkeys(case.op for case in cases)
