"""Scripts that show a finding by themselves, and what they call."""

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from ..check.case import Case
from ..check.expression import Call, Leaf, nodes
from .examiner import Examined
from .finding import Finding
from .known import reading
from .plan import Plan, open_examiner

_SCRIPT = '''"""{title}

{problem}

Graph, in the terms of ggml.h (ne[0] first){unfinished}:

{graph}

Kernels: {kernels}{reading}
Run it with Python where ggml_metal_py is installed. Status 1: it shows, 0: it does not.
"""

import sys

from ggml_metal_py import fuzz

if __name__ == "__main__":
    sys.exit(
        fuzz.reproduce(
            {case!r},
            kind={kind!r},
            upstream={upstream!r},
            profile={profile!r},
            checked={checked!r},
            isolate={isolate!r},
        )
    )
'''


def reproducer(finding: Finding, plan: Plan) -> str:
    """A script that shows the finding, for a person to read and to run."""
    return _SCRIPT.format(
        title=f"{finding.op} on ggml's Metal backend: {finding.kind} ({plan.upstream})",
        problem=finding.problem.replace("\\", "\\\\").replace('"""', "'''"),
        unfinished="; there may be a plainer one, time was over" if finding.unfinished else "",
        graph="\n".join(f"    {line}" for line in graph(Case.of(finding.case))),
        reading=_reading(finding),
        kernels=", ".join(finding.kernels or (finding.kernel or "none",)),
        case=finding.case,
        kind=finding.kind,
        upstream=plan.upstream,
        profile=plan.profile,
        checked=plan.checked,
        isolate=plan.isolate,
    )


def _reading(finding: Finding) -> str:
    if not finding.known:
        return ""
    text = f"Read in the source ({finding.known}): {reading(finding.known)}."
    return "\n\n" + "\n".join(textwrap.wrap(text, 110)) + "\n"


def graph(case: Case) -> list[str]:
    """The graph, a line for each tensor."""
    named: dict[int, str] = {}
    lines = []
    for i, node in enumerate(nodes(case.tree)):
        name = named[id(node)] = f"t{i}"
        if isinstance(node, Leaf):
            options = "".join(f", {key}={value!r}" for key, value in node.options.items())
            lines.append(f"{name} = ggml_new_tensor({node.type}, {list(node.ne)}){options}")
        elif isinstance(node, Call):
            words = [named.get(id(argument)) or str(argument) for argument in node.arguments]
            lines.append(f"{name} = ggml_{node.name}({', '.join(words)})")
    return lines


def examine(cases: Sequence[str], plan: Plan) -> Iterator[Examined]:
    """Examine cases by their texts. Raises ValueError for a text that is no graph, LibraryNotFound."""
    with ExitStack() as stack:
        examiner = open_examiner(plan, stack)
        yield from (examiner.examine(Case.of(case)) for case in cases)


def reproduce(
    case: str,
    *,
    kind: str = "",
    upstream: str | None = None,
    profile: str | None = None,
    checked: bool = False,
    isolate: bool = False,
) -> int:
    """Examine a case and say what was found. 1 when it is of that kind, or of any without one; else 0.

    Raises ValueError for a text that is no graph, LibraryNotFound.
    """
    (examined,) = examine([case], Plan(upstream, profile, checked=checked, isolate=isolate))
    for line in examined.lines():
        print(line)
    return int(any(not kind or finding.kind == kind for finding in examined.findings))
