"""What ran in a campaign: kernels by host name, their specialisations, the getters that chose them."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..getters.rows import FIRST_ROW

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
    """One host name, or one getter."""

    name: str
    cases: int
    specialisations: int
    """So many different sets of function constants: branches of the getter, or of what it passes on."""


def by_host_name(pipelines: Pipelines) -> list[Ran]:
    """Host names that ran."""
    return _grouped((base, name, count) for (base, name), count in pipelines.items())


def by_getter(pipelines: Pipelines) -> list[Ran]:
    """Upstream's getters whose pipelines ran."""
    return _grouped((getter(base), name, count) for (base, name), count in pipelines.items())


def getter(host_name: str) -> str:
    """The getter that chooses a kernel, as `ggml_metal_library_get_pipeline_` goes on."""
    short = re.sub(r"^kernel_", "", host_name)
    return next((known for known, start in _BY_LENGTH if re.match(rf"{start}(_|$)", short)), short)


def _grouped(rows: Iterable[tuple[str, str, int]]) -> list[Ran]:
    cases: Counter[str] = Counter()
    names: dict[str, set[str]] = {}
    for key, name, count in rows:
        cases[key] += count
        names.setdefault(key, set()).add(name)
    return [Ran(key, cases[key], len(names[key])) for key in sorted(cases)]
