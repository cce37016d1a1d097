"""Swizzles: `v.zyx` becomes a call, which is what C++ has for it.

A letter alone is a member of include/softmetal/vector.h. A name that the source's own structs have as a
field stays a field.
"""

import re
from collections.abc import Sequence

from .tokens import Token, closing

_SWIZZLE = re.compile(r"[xyzw]{2,4}|[rgba]{2,4}")
_INDEX = {letter: i for letters in ("xyzw", "rgba") for i, letter in enumerate(letters)}
_ASSIGNMENTS = frozenset(("=", "+=", "-=", "*=", "/="))


def spell_swizzles(tokens: Sequence[Token]) -> None:
    """Rewrite every swizzle in its place."""
    fields = _fields(tokens)
    for i, token in enumerate(tokens[:-1]):
        name = tokens[i + 1].text
        if (
            token.text not in (".", "->")
            or not _SWIZZLE.fullmatch(name)
            or name in fields
            or tokens[i + 2].text == "("
        ):
            continue
        to = "_to" if tokens[i + 2].text in _ASSIGNMENTS else ""
        indices = ", ".join(str(_INDEX[letter]) for letter in name)
        tokens[i + 1].text = f"template swizzle{to}<{indices}>()"


def _fields(tokens: Sequence[Token]) -> set[str]:
    """Names declared in the bodies of structs and unions."""
    fields: set[str] = set()
    for i, token in enumerate(tokens):
        if token.text not in ("struct", "union", "class"):
            continue
        start = i + 1
        while tokens[start].kind == "word" or tokens[start].text == "::":
            start += 1
        if tokens[start].text == "{":
            fields |= _declared(tokens, start + 1, closing(tokens, start))
    return fields


def _declared(tokens: Sequence[Token], first: int, last: int) -> set[str]:
    names: set[str] = set()
    i = first
    while i < last:
        if tokens[i].text in ("{", "("):
            i = closing(tokens, i)
        elif tokens[i].kind == "word" and tokens[i + 1].text in (";", ",", "[", "=", ":"):
            names.add(tokens[i].text)
        i += 1
    return names
