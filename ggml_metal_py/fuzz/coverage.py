"""What ran in a campaign: kernels by host name, and the branches of the getters that chose them."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..getters.rows import FIRST_ROW

_CONSTANT = re.compile(r"_([a-z][a-z0-9]*)=(-?\d+)")
"""A function constant, as upstream's getters put it into a pipeline's name."""

Pipelines = Mapping[tuple[str, str], int]
"""Host name and name of each pipeline, and in how many cases it ran."""

# Getters whose kernels have other names, by the beginnings of these.
_NAMED: tuple[tuple[str, str], ...] = (
    *(("bin", name) for name in ("bin_fuse", "add_id")),
    *(("glu", name) for name in ("reglu", "geglu", "swiglu")),
    *(("norm", name) for name in ("rms_norm", "norm")),
    ("sum", "op_sum"),
    ("upscale", "upscale"),
    ("sum_rows", "mean"),
)
_BY_LENGTH = sorted(
    [*((name, name) for name in FIRST_ROW if name != "base"), *_NAMED], key=lambda pair: -len(pair[1])
)


@dataclass(frozen=True)
class Ran:
    """One host name."""

    name: str
    cases: int
    specialisations: int
    """So many different sets of function constants."""


@dataclass(frozen=True)
class Branches:
    """What one getter chose: its branches come to a host name, or to a value of a function constant."""

    name: str
    cases: int
    ran: tuple[str, ...]
    missing: tuple[str, ...]
    """Host names that it did not choose, where it is known which there are."""
    constants: dict[str, tuple[int, ...]]
    """The values of each function constant."""
    specialisations: int

    def as_json(self) -> dict[str, object]:
        """As plain values."""
        return {
            "cases": self.cases,
            "ran": list(self.ran),
            "missing": list(self.missing),
            "constants": {name: list(values) for name, values in self.constants.items()},
            "specialisations": self.specialisations,
        }


def by_host_name(pipelines: Pipelines) -> list[Ran]:
    """Host names that ran."""
    cases: Counter[str] = Counter()
    names: dict[str, set[str]] = {}
    for (base, name), count in pipelines.items():
        cases[base] += count
        names.setdefault(base, set()).add(name)
    return [Ran(base, cases[base], len(names[base])) for base in sorted(cases)]


def by_getter(pipelines: Pipelines, declared: Iterable[str] = ()) -> list[Branches]:
    """Upstream's getters, those that chose nothing, too; `declared` are the host names that there are."""
    names: dict[str, set[str]] = {}
    for host_name in declared:
        names.setdefault(getter(host_name), set()).add(host_name)
    chosen: dict[str, dict[tuple[str, str], int]] = {name: {} for name in names}
    for (base, name), count in pipelines.items():
        chosen.setdefault(getter(base), {})[base, name] = count
    return [_branches(name, chosen[name], names.get(name, set())) for name in sorted(chosen)]


def _branches(name: str, chosen: Pipelines, declared: set[str]) -> Branches:
    values: dict[str, set[int]] = {}
    for base, pipeline in chosen:
        for constant, value in _CONSTANT.findall(pipeline.removeprefix(base)):
            values.setdefault(constant, set()).add(int(value))
    ran = {base for base, _ in chosen}
    return Branches(
        name=name,
        cases=sum(chosen.values()),
        ran=tuple(sorted(ran)),
        missing=tuple(sorted(declared - ran)),
        constants={constant: tuple(sorted(found)) for constant, found in sorted(values.items())},
        specialisations=len(chosen),
    )


def getter(host_name: str) -> str:
    """The getter that chooses a kernel, as `ggml_metal_library_get_pipeline_` goes on."""
    short = re.sub(r"^kernel_", "", host_name)
    return next((known for known, start in _BY_LENGTH if re.match(rf"{start}(_|$)", short)), short)
