"""Makes the graph of a finding plainer than hypothesis' shrinker does, which knows nothing of graphs.

It leaves out ops, lets views be tensors of their own, and makes a number smaller wherever it stands, so that
shapes still fit.
"""

import re
from collections.abc import Callable, Iterator

from ..check.case import Case
from ..check.expression import Argument, Call, Leaf, Tree, nodes, parse, text_of

_MOST = 400
"""Cases that are tried."""
_WHOLE = r"(?<![\w.'])(?<!e[-+]){}(?![\w.'])"
_NUMBER = re.compile(_WHOLE.format(r"\d+"))
_BETTER = tuple(
    sorted({n + d for n in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024) for d in (0, 1)} | {3, 7})
)


def simplify(case: Case, wanted: Callable[[Case], bool]) -> Case:
    """The plainest graph that was found of which `wanted` says yes; the case itself if there is none."""
    tried = {case.text}
    again = True
    while again and len(tried) < _MOST:
        again = False
        for text in _plainer(case.text):
            if text in tried:
                continue
            tried.add(text)
            if wanted(Case(case.op, text)):
                case, again = Case(case.op, text), True
                break
            if len(tried) >= _MOST:
                break
    return case


def _plainer(text: str) -> Iterator[str]:
    root = parse(text)
    for node in nodes(root):
        for other in _instead(node):
            changed = _replace(root, node, other)
            if isinstance(changed, Call):
                yield text_of(changed)
    yield from _smaller(text)


def _instead(node: Tree) -> Iterator[Tree]:
    """What may stand in the place of a part of the graph."""
    if isinstance(node, Leaf):
        if node.ne[1:] and node.ne[-1] == 1:
            yield Leaf(node.type, node.ne[:-1], node.options)
        if node.options.get("fill") in ("special", "huge", "subnormal", "nan", "ties"):
            yield Leaf(node.type, node.ne)
        return
    source = node.arguments[0] if node.arguments else None
    if isinstance(source, Leaf):
        ne = _view_lengths(node, source)
        if ne is not None:
            yield Leaf(source.type, ne, source.options)
    if node.name.endswith("_inplace"):
        yield Call(node.name.removesuffix("_inplace"), node.arguments)
    yield from (argument for argument in node.arguments if isinstance(argument, Leaf | Call))


def _view_lengths(view: Call, source: Leaf) -> tuple[int, ...] | None:
    ne = (*source.ne, 1, 1, 1, 1)[:4]
    match view.name, view.arguments:
        case "cut", (_, tuple() as lengths, *_):
            return (*lengths, *ne[len(lengths) :])
        case "permute", (_, *axes) if sorted(map(str, axes)) == ["0", "1", "2", "3"]:
            return tuple(ne[axes.index(i)] for i in range(4))
        case "reshape_4d", (_, *lengths):
            return tuple(n for n in lengths if isinstance(n, int))
    return None


def _replace(root: Tree, old: Tree, new: Tree) -> Tree:
    """The graph with another part; parts that are used several times stay the same object."""
    made: dict[int, Argument] = {id(old): new}

    def copy(argument: Argument) -> Argument:
        if not isinstance(argument, Call):
            return made.get(id(argument), argument) if isinstance(argument, Leaf) else argument
        if id(argument) not in made:
            arguments = tuple(map(copy, argument.arguments))
            same = all(a is b for a, b in zip(arguments, argument.arguments, strict=True))
            made[id(argument)] = argument if same else Call(argument.name, arguments)
        return made[id(argument)]

    changed = copy(root)
    assert isinstance(changed, Leaf | Call)
    return changed


def _smaller(text: str) -> Iterator[str]:
    """A number replaced by a smaller one, wherever it stands; then in one place only."""
    numbers = sorted({int(found) for found in _NUMBER.findall(text)}, reverse=True)
    for number in numbers:
        pattern = re.compile(_WHOLE.format(number))
        for better in (n for n in _BETTER if n < number):
            yield pattern.sub(str(better), text)
    for found in _NUMBER.finditer(text):
        in_a_list = text.rfind("[", 0, found.start()) > text.rfind("]", 0, found.start())
        for better in (n for n in ((0, *_BETTER) if in_a_list else _BETTER) if n < int(found[0])):
            yield text[: found.start()] + str(better) + text[found.end() :]
