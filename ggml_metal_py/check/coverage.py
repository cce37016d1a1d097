"""Which kernels ran, in which cases, and why the others did not."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..softmetal.msl.store import read_functions
from .run import OK, Outcome

if TYPE_CHECKING:
    from ..device import Device

# Kernels that no graph of ggml's gets to run, or that cannot be right, and why. Those that can be run are run
# by hand instead, in tests/check/test_by_hand.py.
UNREACHABLE: tuple[tuple[str, str], ...] = (
    (r"kernel_pad_f32_4", "the getter never asks for four values at a time: 'this is slower'"),
    (r"kernel_tri_b?f16_\d", "ggml_tri makes triangles of f32 only"),
    (
        r"kernel_mul_mv_ext_q\d_K_f32_r1_2",
        "products with k-quants come here from 4 columns on, 2 at a time are for 2 columns",
    ),
    (
        r"kernel_flash_attn_ext_q\d_\d_dk(512|576)_dv512",
        "supports_op says yes, and the dispatch asks for more threadgroup memory than any device has",
    ),
    (
        r"kernel_flash_attn_ext_q\d_\d_dk(40|72)_dv\d+",
        "unpacks 16 values at a time: wrong for every graph, see the finding attention-40-72",
    ),
)


@dataclass(frozen=True)
class Coverage:
    """Kernels by host name."""

    declared: tuple[str, ...] | None
    """All of the row; None where nobody can tell, as on Apple's own Metal."""
    ran: dict[str, tuple[str, ...]]
    """Those that ran in cases that were right, and the texts of these cases."""
    wrong: frozenset[str]
    """Those that ran in no case that was right."""

    @property
    def unreached(self) -> dict[str, str]:
        """Those of the row that did not run, or never right, and why."""
        names = [name for name in self.declared or self.wrong if name not in self.ran]
        return {name: self._why(name) for name in sorted(names)}

    def _why(self, name: str) -> str:
        for pattern, reason in UNREACHABLE:
            if re.fullmatch(pattern, name):
                return reason
        return "in no case that was right" if name in self.wrong else "in no case"


def coverage(device: "Device", outcomes: Iterable[Outcome]) -> Coverage:
    """Of the cases that were run."""
    ran: dict[str, list[str]] = {}
    seen: set[str] = set()
    for outcome in outcomes:
        seen.update(outcome.kernels)
        for name in outcome.kernels if outcome.status == OK else ():
            ran.setdefault(name, []).append(outcome.case.text)
    return Coverage(
        host_names(device), {name: tuple(texts) for name, texts in ran.items()}, frozenset(seen - set(ran))
    )


def host_names(device: "Device") -> tuple[str, ...] | None:
    """The row's kernels, from the tables beside its library; None when it has none."""
    names: set[str] = set()
    for table in device._native.kernel_folder.glob("*/functions.txt"):
        names.update(read_functions(table))
    return tuple(sorted(names)) or None
