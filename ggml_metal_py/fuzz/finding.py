"""A finding: a property that does not hold for a case. Plain values, so that it goes between processes."""

import re
from dataclasses import asdict, dataclass
from typing import Any

# Parts of host names that say for which type, size or number of rows a kernel was made.
_VARIANT = re.compile(
    r"_(?:f32|f16|bf16|[iu](?:8|16|32|64)|(?:i?t?q\d\w*?|mxfp4|nvfp4)(?:_(?:[01KSMsm]|nl|xxs|xs))?"
    r"|d[kv]\d+|ne20|\d+|c4|4)(?=_|$)"
)
_TRAITS = {
    "views": re.compile(r"\b(?:cut|permute|transpose|view_\dd)\("),
    "special": re.compile(r"fill='(?:special|huge|subnormal|nan)'"),
}
"""What sets cases of different causes in one kernel apart."""
_WHATEVER_THE_VALUES = ("no kernel", "threadgroup", "device")


@dataclass(frozen=True)
class Finding:
    """What went wrong, in which case."""

    kind: str
    """The oracle that says so: see oracles.py. `crash` and `hang` come from worker processes."""
    op: str
    """What the case is about."""
    case: str
    """The graph, as text."""
    problem: str
    """What was expected and what was found."""
    kernel: str = ""
    """Host name of the kernel that does the work of the last op; of a missing one its name."""
    kernels: tuple[str, ...] = ()
    """Host names of all that ran."""
    line: str = ""
    """Where: `file:line` of an assertion, or of an access in checked mode."""
    known: str = ""
    """The name of the listed mistake of upstream's that this is."""
    unfinished: bool = False
    """Shrinking came to the end of its time, or of its number of cases: there may be a plainer one."""

    @property
    def family(self) -> str:
        """The kind, and the kernels' name without what they are made for; without a kernel the op."""
        return f"{self.kind} {_VARIANT.sub('', self.kernel) or self.op}"

    @property
    def mistake(self) -> str:
        """What is wrong, and in which kernels, whatever the values and layouts."""
        if self.known:
            return f"known {self.known}"
        return f"{self.family} {self.line}".rstrip()

    @property
    def cause(self) -> str:
        """Findings with the same text are taken to be the same mistake."""
        if self.known or self.line or self.kind in _WHATEVER_THE_VALUES:
            return self.mistake
        return " ".join([self.mistake, *(name for name, trait in _TRAITS.items() if trait.search(self.case))])

    def plainer_than(self, other: "Finding | None") -> bool:
        """Whether to keep this one instead of an earlier one of its cause.

        Of listed mistakes the one with the shortest case is kept. Others are shrunk, from the first one on.
        """
        if other is None:
            return True
        return bool(self.known) and (len(self.case), self.case) < (len(other.case), other.case)

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {**asdict(self), "kernels": list(self.kernels), "cause": self.cause}
