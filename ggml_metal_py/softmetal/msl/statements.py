"""Statements of a function's body, as a tree over its tokens."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .tokens import Token, closing


@dataclass
class Statement:
    """`kind` is block, if, for, while, do, switch, jump (break, continue, return) or plain.

    `first` and `last` are its tokens, last included; `header` the tokens within its parentheses, or those of
    the whole statement when it is plain or a jump. An `if` has one or two parts, a loop its body.
    """

    kind: str
    first: int
    last: int
    header: range
    parts: list["Statement"] = field(default_factory=list)

    def walk(self) -> Iterator["Statement"]:
        """This statement and all within it, from outside to inside."""
        yield self
        for part in self.parts:
            yield from part.walk()

    @property
    def is_loop(self) -> bool:
        return self.kind in ("for", "while", "do")


def read_block(tokens: Sequence[Token], first: int) -> Statement:
    """The block whose `{` is at `first`."""
    last = closing(tokens, first)
    parts = []
    i = first + 1
    while i < last:
        parts.append(_read(tokens, i))
        i = parts[-1].last + 1
    return Statement("block", first, last, range(0), parts)


def _read(tokens: Sequence[Token], i: int) -> Statement:
    text = tokens[i].text
    if text == "{":
        return read_block(tokens, i)
    if text == "if":
        return _read_if(tokens, i)
    if text in ("for", "while", "switch"):
        close = closing(tokens, i + 1)
        body = _read(tokens, close + 1)
        return Statement(text, i, body.last, range(i + 2, close), [body])
    if text == "do":
        body = _read(tokens, i + 1)
        close = closing(tokens, body.last + 2)
        return Statement("do", i, close + 1, range(body.last + 3, close), [body])
    if text in ("case", "default"):
        last = i
        while tokens[last].text != ":":
            last += 1
        return Statement("plain", i, last, range(0))
    last = i
    while tokens[last].text != ";":
        if tokens[last].text in ("(", "[", "{", "[["):
            last = closing(tokens, last)
        last += 1
    kind = "jump" if text in ("break", "continue", "return") else "plain"
    return Statement(kind, i, last, range(i, last))


def _read_if(tokens: Sequence[Token], i: int) -> Statement:
    opening = i + 2 if tokens[i + 1].text == "constexpr" else i + 1
    close = closing(tokens, opening)
    parts = [_read(tokens, close + 1)]
    if tokens[parts[0].last + 1].text == "else":
        parts.append(_read(tokens, parts[0].last + 2))
    return Statement("if", i, parts[-1].last, range(opening + 1, close), parts)
