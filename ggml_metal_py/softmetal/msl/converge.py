"""The order of simdgroup functions, and where lanes that went different ways meet again.

On a GPU the lanes that took one branch run it to its end, then those that took the other, and then all go
on together; those that begin a loop's next turn wait for those still in this one. Our lanes run up to
the next simdgroup function each, and the executor lets those go on that wait at the lowest number. So:

- every simdgroup function is given its number, which is its place in the text;
- where lanes may have gone different ways with simdgroup functions on them, there is a place to wait at
  the end of each turn of a loop (with a number behind the loop's body), and one before a call of a function
  that has simdgroup functions in it: a function stands before its callers, so lanes inside are let out
  before others enter.

Whether lanes may go different ways is read off the text: conditions that depend, through variables, on a
lane's number. Where that is unknown it is assumed; a place too many costs time only.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field

from .program import Function, Program, is_sync_name
from .statements import Statement, read_block
from .tokens import ASSIGNMENTS, Token, closing, closing_angle, split_commas

_LANE_ATTRIBUTES = frozenset(
    (
        "thread_index_in_simdgroup",
        "thread_index_in_threadgroup",
        "thread_position_in_threadgroup",
        "thread_position_in_grid",
    )
)
# Give all lanes that come to them the same value, whatever their arguments are.
_REDUCTIONS = frozenset(
    f"simd_{name}"
    for name in (
        "sum", "product", "min", "max", "and", "or", "xor", "all", "any", "ballot", "broadcast",
        "broadcast_first", "active_threads_mask",
    )
)  # fmt: skip
_SHUFFLES = frozenset(
    f"simd_{name}"
    for name in (
        "shuffle", "shuffle_xor", "shuffle_down", "shuffle_up", "shuffle_rotate_down", "shuffle_rotate_up",
        "shuffle_and_fill_down", "shuffle_and_fill_up", "prefix_inclusive_sum", "prefix_exclusive_sum",
        "prefix_inclusive_product", "prefix_exclusive_product", "is_first",
    )
)  # fmt: skip
_NUMBERED = _REDUCTIONS | _SHUFFLES | {"simdgroup_barrier"}
_CHOICES = frozenset(("?", "&&", "||"))
_QUALIFIERS = frozenset(
    ("const", "constexpr", "volatile", "static", "thread", "threadgroup", "device", "constant")
)


def order(program: Program) -> None:
    """Number the simdgroup functions, and put the places into the tokens."""
    bodies = [_Body(program, function) for function in program.functions]
    with_sync = {body.function.name for body in bodies if body.syncs}
    while more := {
        body.function.name
        for body in bodies
        if body.function.name not in with_sync and not body.words.isdisjoint(with_sync)
    }:
        with_sync |= more
    calls = _Calls()
    splitting = {
        body.function.name
        for body in reversed(bodies)  # callers before what they call
        if body.function.name in with_sync and _Split(body, with_sync, calls).found
    }
    own = {body.function.name for body in bodies}
    number = 0
    for body in bodies:
        waits = body.function.name in splitting or not body.words.isdisjoint(splitting)
        number = _write(body, number, own, with_sync if waits else frozenset())


@dataclass
class _Body:
    program: Program
    function: Function
    block: Statement = field(init=False)
    words: set[str] = field(init=False)
    syncs: bool = field(init=False)

    def __post_init__(self) -> None:
        tokens = self.program.tokens
        first, last = self.function.body
        self.block = read_block(tokens, first)
        self.words = {token.text for token in tokens[first:last] if token.kind == "word"}
        self.syncs = any(map(is_sync_name, self.words))


@dataclass
class _Calls:
    """What is known of functions from their callers: which of their arguments may differ between lanes."""

    varying: dict[str, set[int]] = field(default_factory=dict)


class _Split:
    """Whether lanes may split up in a function, with something on the way that they do together."""

    def __init__(self, body: _Body, with_sync: set[str], calls: _Calls):
        self.tokens = tokens = body.program.tokens
        self.function = body.function
        self.syncs = [
            i for i in range(*body.function.body) if tokens[i].text in with_sync or _is_wait(tokens[i].text)
        ]
        """Where the lanes do something together."""
        self.scopes: list[dict[str, int]] = [{}]
        """Variables by name: where they are declared."""
        self.varying: set[int] = set()
        """Variables that may differ between lanes."""
        self.declared_at: dict[int, int] = {}
        """How many splits of the lanes a variable is declared within."""
        self.unchanging: set[int] = set()
        """Variables that no function can change: constants, and pointers."""
        self.splits = 0
        self.found = False
        self.with_sync = with_sync
        self.calls = calls
        self._parameters()
        known = -1
        while known != len(self.varying):
            known = len(self.varying)
            self._visit(body.block)

    def _parameters(self) -> None:
        first, last = self.function.parameters
        known = self.calls.varying.get(self.function.name)
        for i, parameter in enumerate(split_commas(self.tokens[first + 1 : last])):
            mark = next((k for k, token in enumerate(parameter) if token.text == "[["), len(parameter))
            bracket = next((k for k, token in enumerate(parameter) if token.text == "["), mark)
            words = [token.text for token in parameter[: min(mark, bracket)] if token.kind == "word"]
            if not words:
                continue
            self._declare(words[-1], -1 - i)
            if self.function.is_kernel:
                varies = bool({token.text for token in parameter[mark:]} & _LANE_ATTRIBUTES)
            else:
                varies = known is None or i in known
            if varies:
                self.varying.add(-1 - i)
            else:
                self.unchanging.add(-1 - i)

    def _declare(self, name: str, at: int) -> None:
        self.scopes[-1][name] = at
        self.declared_at[at] = self.splits

    def _variable(self, i: int) -> int | None:
        """The variable that the token is the name of, known by where it is declared."""
        token = self.tokens[i]
        if token.kind != "word" or self.tokens[i - 1].text in (".", "->", "::"):
            return None
        return next((scope[token.text] for scope in reversed(self.scopes) if token.text in scope), None)

    def _visit(self, statement: Statement) -> None:
        if statement.kind in ("plain", "jump"):
            self._evaluate(statement.header)
            return
        self.scopes.append({})
        if statement.kind == "for":
            self._for_header(statement.header)
        varies = self._varies(statement.header) or (statement.is_loop and self._some_leave(statement))
        if (
            varies
            and not self.found
            and (
                self._has_sync(range(statement.first, statement.last))
                or (not self.function.is_kernel and self._has_jump(statement, "return"))
            )
        ):
            self.found = True
        self._choose(statement.header)
        self._note_calls(statement.header)
        self.splits += varies
        for part in statement.parts:
            self._visit(part)
        self.splits -= varies
        self.scopes.pop()

    def _for_header(self, header: range) -> None:
        marks = [i for i in header if self.tokens[i].text == ";"]
        if len(marks) == 2:
            self._evaluate(range(header.start, marks[0]))
            varies = self._varies(range(marks[0], marks[1]))
            self.splits += varies
            self._evaluate(range(marks[1] + 1, header.stop))
            self.splits -= varies

    def _evaluate(self, span: range) -> None:
        """A declaration or an expression: what it changes varies when what it is made of does."""
        self._choose(span)
        self._note_calls(span)
        name = self._declared_name(span)
        if name is not None and {self.tokens[i].text for i in range(span.start, name)} & {
            "const",
            "constexpr",
            "*",
        }:
            self.unchanging.add(name)
        start, depth = span.start, 0
        for i in (*span, span.stop):
            text = self.tokens[i].text
            depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
            if i == span.stop or (text == "," and depth == 0):
                if name is not None:
                    self._declare(self.tokens[name].text, name)
                self._assign(range(start, i), name)
                start = i + 1
                name = start if name is not None and self.tokens[start].kind == "word" else None

    def _declared_name(self, span: range) -> int | None:
        """Of `const float * x = ...` the place of x."""
        i, types = span.start, 0
        while i < span.stop:
            text = self.tokens[i].text
            if self.tokens[i].kind == "word":
                if (
                    types
                    and self.tokens[i + 1].text in ("=", ";", ",", "[", "(", "{")
                    and text not in _QUALIFIERS
                ):
                    return i
                types += text not in _QUALIFIERS
            elif text == "<" and types:
                i = closing_angle(self.tokens, i)
            elif text not in ("*", "&", "::") or not types:
                return None
            i += 1
        return None

    def _assign(self, span: range, declared: int | None) -> None:
        at = next((i for i in span if self.tokens[i].text in ASSIGNMENTS), None)
        varies = self._varies(span)
        if declared is not None:
            changed = {declared}
        elif at is None:
            changed = {v for i in span if self._may_change(i) and (v := self._variable(i)) is not None}
            changed -= self.unchanging
        else:
            first = next((v for i in range(span.start, at) if (v := self._variable(i)) is not None), None)
            changed = set() if first is None else {first}
        self.varying |= {v for v in changed if varies or self.declared_at[v] < self.splits}

    def _may_change(self, i: int) -> bool:
        """Whether the variable named there is an argument by itself, or is counted up or down."""
        before, behind = self.tokens[i - 1].text, self.tokens[i + 1].text
        return (before in ("(", ",", "&") and behind in (")", ",")) or bool({before, behind} & {"++", "--"})

    def _note_calls(self, span: range) -> None:
        for i in span:
            if self.tokens[i].text in self.with_sync and (opening := _opening(self.tokens, i)) is not None:
                varying = self.calls.varying.setdefault(self.tokens[i].text, set())
                for k, (start, stop) in enumerate(_arguments(self.tokens, opening)):
                    if self._varies(range(start, stop)):
                        varying.add(k)

    def _choose(self, span: range) -> None:
        """`a && simd_any(b)`: not all lanes may come to the function."""
        if self._has_sync(span) and any(self.tokens[i].text in _CHOICES for i in span) and self._varies(span):
            self.found = True

    def _varies(self, span: range) -> bool:
        i = span.start
        while i < span.stop:
            text = self.tokens[i].text
            if text in _REDUCTIONS and self.tokens[i + 1].text == "(":
                i = closing(self.tokens, i + 1)
            elif text in _SHUFFLES or self._variable(i) in self.varying:
                return True
            i += 1
        return False

    def _has_sync(self, span: range) -> bool:
        k = bisect_left(self.syncs, span.start)
        return k < len(self.syncs) and self.syncs[k] < span.stop

    def _some_leave(self, loop: Statement) -> bool:
        """Whether some lanes may leave a turn of the loop before its end."""
        return any(
            inner.kind in ("if", "switch")
            and self._has_jump(inner, "break", "continue")
            and self._varies(inner.header)
            for inner in loop.walk()
        )

    def _has_jump(self, statement: Statement, *kinds: str) -> bool:
        return any(
            inner.kind == "jump" and self.tokens[inner.first].text in kinds for inner in statement.walk()
        )


def _is_wait(word: str) -> bool:
    """Whether lanes of a simdgroup wait for each other in a function of this name."""
    if word.startswith(("simdgroup_", "threadgroup_")):
        return word == "simdgroup_barrier"
    return is_sync_name(word)


def _write(body: _Body, number: int, own: Set[str], waits_at: Set[str]) -> int:
    """Numbers, and places when `waits_at` has the names of functions to wait before. The next number."""
    tokens = body.program.tokens
    ends: dict[int, list[Statement]] = {}
    if waits_at:
        for loop in body.block.walk():
            words = {tokens[i].text for i in range(loop.first, loop.last)}
            if loop.is_loop and (any(map(_is_wait, words)) or not words.isdisjoint(waits_at)):
                end = loop.header.start - 2 if loop.kind == "do" else loop.last
                ends.setdefault(end, []).append(loop)
    behind: set[int] = set()
    """Closing brackets of calls: what stands in their arguments comes before them."""
    for i in range(body.function.body[0], body.function.body[1] + 1):
        for loop in reversed(ends.get(i, [])):  # the inner one first
            number += 1
            _wait_after_turn(tokens, loop, number)
        name = tokens[i].text
        if i in behind:
            number += 1
            comma = "," if tokens[i - 1].text != "(" else ""
            tokens[i].before += f"{comma} {number}u, 0u"
        elif name in _NUMBERED and name not in own and (opening := _opening(tokens, i)) is not None:
            behind.add(closing(tokens, opening))
        elif name in waits_at and (opening := _opening(tokens, i)) is not None:
            number += 1
            tokens[i].before += f"(softmetal::converge({number}u), "
            close = closing(tokens, opening)
            tokens[close + 1].before = ")" + tokens[close + 1].before
    return number


def _opening(tokens: Sequence[Token], i: int) -> int | None:
    """Where the arguments of a call begin, if one begins at i."""
    if tokens[i].kind != "word":
        return None
    following = i + 1
    if tokens[following].text == "<":
        following = closing_angle(tokens, following) + 1
    return following if following < len(tokens) and tokens[following].text == "(" else None


def _arguments(tokens: Sequence[Token], opening: int) -> Iterator[tuple[int, int]]:
    """The first token of each argument, and the one behind it."""
    start, depth = opening + 1, 0
    for i in range(opening + 1, closing(tokens, opening) + 1):
        text = tokens[i].text
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        if depth < 0 or (text == "," and depth == 0):
            yield start, i
            start = i + 1


def _wait_after_turn(tokens: Sequence[Token], loop: Statement, number: int) -> None:
    """Behind the body and behind every `continue`, before the condition of the next turn."""
    place = f"softmetal::converge({number}u)"
    if loop.kind == "for":
        close = loop.header.stop
        empty = tokens[close - 1].text == ";"
        tokens[close].before += place if empty else f", {place}"
    elif loop.kind == "while":
        tokens[loop.first].text = "for"
        tokens[loop.header.start].before += "; "
        tokens[loop.header.stop].before += f"; {place}"
    else:
        tokens[loop.header.start].before += f"({place}, ("
        tokens[loop.header.stop].before += "))"
