"""Tokens of preprocessed MSL.

Each token carries the white space before it, so joining tokens gives back the text, and replacing some
leaves all others on their lines. `# LINE "NAME"` markers and pragmas count as white space: nothing
looks at them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    (?P<before>(?:\s+|^\#[^\n]*|//[^\n]*|/\*.*?\*/)*)
    (?:
        (?P<word>[A-Za-z_]\w*)
      | (?P<number>\.?\d(?:[eEpP][+-]|['.\w])*)
      | (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
      | (?P<mark>\[\[|<<=|>>=|->|::|\+\+|--|<=|>=|==|!=|&&|\|\||<<|[-+*/%&|^]=|\.\.\.|.)
      | $
    )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
# `>>` is left as two marks, because it closes two template argument lists more often than it shifts.

ASSIGNMENTS = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))

_PAIRS = {"(": ")", "[": "]", "{": "}", "[[": "]"}


@dataclass
class Token:
    """`before` is white space, `text` the token itself, `kind` one of word, number, string, mark, end."""

    before: str
    text: str
    kind: str

    def __str__(self) -> str:
        return self.before + self.text


def tokenize(text: str) -> list[Token]:
    """All tokens of the text; the last one is of kind `end`, holding what white space follows."""
    tokens = []
    position = 0
    while True:
        match = _TOKEN.match(text, position)
        assert match is not None  # `.` takes whatever nothing else takes
        position = match.end()
        kind = match.lastgroup
        if kind == "before" or kind is None:
            tokens.append(Token(match["before"], "", "end"))
            return tokens
        tokens.append(Token(match["before"], match[kind], kind))


def join(tokens: Sequence[Token]) -> str:
    """The text of the tokens, white space included."""
    return "".join(map(str, tokens))


def spell(tokens: Sequence[Token]) -> str:
    """The tokens with single spaces between them, for use elsewhere than in their place."""
    return " ".join(token.text for token in tokens if token.text)


def closing(tokens: Sequence[Token], start: int) -> int:
    """Index of the token that closes the bracket at `start`: ( [ { or [[ (whose end is the first of `]]`)."""
    depth = 0
    close = _PAIRS[tokens[start].text]
    opens = {mark for mark, end in _PAIRS.items() if end == close}
    for i in range(start, len(tokens)):
        text = tokens[i].text
        if text in opens:
            depth += 2 if text == "[[" else 1
        elif text == close:
            depth -= 1
            if depth == 0 or (depth == 1 and tokens[start].text == "[[" and tokens[i + 1].text == close):
                return i
    return len(tokens) - 1


def closing_angle(tokens: Sequence[Token], start: int) -> int:
    """Index of the `>` that closes the template argument list opened at `start`."""
    depth = 0
    i = start
    while i < len(tokens):
        text = tokens[i].text
        if text in ("(", "["):
            i = closing(tokens, i)
        elif text == "<":
            depth += 1
        elif text == ">":
            depth -= 1
            if depth == 0:
                return i
        i += 1
    return len(tokens) - 1


def split_commas(tokens: Sequence[Token]) -> list[list[Token]]:
    """The comma-separated parts of an argument or parameter list, brackets of all kinds respected."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if token.text in ("(", "[", "{", "<", "[["):
            depth += 2 if token.text == "[[" else 1
        elif token.text in (")", "]", "}", ">"):
            depth -= 1
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]
