"""The order within a simdgroup, where kernels count on it.

On a GPU the lanes of a simdgroup move together, so a kernel may let one lane write threadgroup memory
and the others read it in the next statement, without a barrier. Our lanes run one after the other, in
ascending order, up to the next place where they wait. So this pass puts such a place,
softmetal::lockstep(), between two accesses to the same threadgroup memory, one of them a write, that
different lanes may make and that no barrier or simdgroup function separates:

    A   shmem[tiisg] = x;  y = shmem[tiisg ^ 1];          lanes write, others read
    B   x = shmem[0];  if (tiisg == 0) shmem[0] = y;      lanes read, one overwrites

It follows each function's statements and remembers the accesses since the last synchronisation. What
needs no place: the first lane's accesses before all others' (it runs first); a lane's accesses to its
own element, which is when both have the same index and the index depends on the lane; writes by the
same expression, or to areas of which one is cut out of the other.

Two pointers are taken to overlap when one is derived from the other, or both from one pointer with the
same offset: kernels cut threadgroup memory into areas by giving each its own offset. Where the text
does not tell (pointers passed to functions), accesses are assumed, so that a place too many is the
worst that happens.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .program import Function, Program, threadgroup_variable
from .tokens import ASSIGNMENTS, Token, closing, spell, split_commas

_LANE_ATTRIBUTES = frozenset(
    ("thread_index_in_simdgroup", "thread_index_in_threadgroup", "thread_position_in_threadgroup")
)
# Expressions with these behind or before the lane's number give several lanes the same value.
_MANY_TO_ONE = frozenset(("/", "%", "&", ">"))
_NO_FUNCTIONS = frozenset(("if", "for", "while", "switch", "return", "sizeof", "decltype"))

POINT = "softmetal::lockstep();"


@dataclass(frozen=True)
class _Pointer:
    """A pointer into threadgroup memory: which area, and by which lane-dependent text it was moved."""

    area: tuple[str, ...]
    moved: str = ""
    is_array: bool = False
    """An array of such pointers: only its second index is an access."""


@dataclass(frozen=True)
class _Access:
    area: tuple[str, ...]
    index: str
    """The text of the address within the area."""
    is_write: bool
    by_first_lane: bool
    is_own: bool
    """The address depends on the lane."""
    position: int

    def overlaps(self, other: "_Access") -> bool:
        n = min(len(self.area), len(other.area))
        return self.area[:n] == other.area[:n]

    def conflicts_with(self, later: "_Access") -> bool:
        """Whether lanes must have made this access before any makes the later one."""
        if self.by_first_lane or not (self.is_write or later.is_write) or not self.overlaps(later):
            return False
        same_expression = self.area == later.area and self.index == later.index
        if self.is_write and later.is_write:
            return self.area == later.area and not same_expression
        return not (same_expression and self.is_own)


_State = frozenset[_Access]
_EMPTY: _State = frozenset()


@dataclass(frozen=True)
class _Statement:
    """An enclosing statement: where a place can be put, instead of inside it."""

    first: int
    last: int
    is_loop: bool


@dataclass
class _Jumps:
    """States at the break and continue statements of a loop or switch."""

    breaks: _State = _EMPTY
    continues: _State = _EMPTY


def insert_points(program: Program) -> None:
    """Put the places into the token's white space, in every function that touches threadgroup memory."""
    lane_names = _lane_names(program.tokens)
    for function in program.functions:
        tokens = program.tokens[function.first : function.body[1] + 1]
        if any(token.text == "threadgroup" for token in tokens):
            points = find_points(program.tokens, function, lane_names)
            function.has_lockstep_points = bool(points)
            _insert(program.tokens, points)


def find_points(
    tokens: Sequence[Token], function: Function, lane_names: frozenset[str]
) -> dict[int, int | None]:
    """Statements to wait before: first token -> last token when braces are needed, else None."""
    points: dict[int, int | None] = {}
    while True:
        known = len(points)
        _Walk(tokens, function, lane_names, points).run()
        if len(points) == known:
            return points


def _insert(tokens: Sequence[Token], points: dict[int, int | None]) -> None:
    for first, last in points.items():
        tokens[first].before += POINT + " "
        if last is not None:
            tokens[first].before = tokens[first].before.replace(POINT, "{ " + POINT)
            tokens[last + 1].before = " }" + tokens[last + 1].before


def _lane_names(tokens: Sequence[Token]) -> frozenset[str]:
    """Names that parameters with a lane's number have, anywhere: functions pass them on by the same name."""
    return frozenset(
        tokens[i - 1].text
        for i, token in enumerate(tokens)
        if token.text == "[[" and tokens[i + 1].text in _LANE_ATTRIBUTES
    )


class _Walk:
    """One walk over a function's statements in the order of the text, loops twice."""

    def __init__(
        self,
        tokens: Sequence[Token],
        function: Function,
        lane_names: frozenset[str],
        points: dict[int, int | None],
    ):
        self.tokens = tokens
        self.function = function
        self.points = points
        self.pointers: dict[str, _Pointer] = {}
        self.unique = set(lane_names)
        """Variables with a different value in each lane."""
        self.partial: set[str] = set()
        """Variables that depend on the lane in another way."""
        self.enclosing: list[_Statement] = []
        self.jumps: list[_Jumps] = [_Jumps()]
        self.first_lane_only = 0

    def run(self) -> None:
        first, last = self.function.parameters
        for parameter in split_commas(self.tokens[first + 1 : last]):
            words = [token.text for token in parameter]
            if "threadgroup" in words and "*" in words:
                end = words.index("[[") if "[[" in words else len(words)
                self.pointers[words[end - 1]] = _Pointer((words[end - 1],))
        self._block(*self.function.body, _EMPTY)

    # -- statements: each returns the index behind it, and the state behind it (None when not reached)

    def _block(self, first: int, last: int, state: _State | None) -> _State | None:
        pointers = dict(self.pointers)
        i = first + 1
        while i < last:
            i, state = self._statement(i, state)
        self.pointers = pointers
        return state

    def _statement(self, i: int, state: _State | None, braced: bool = True) -> tuple[int, _State | None]:
        """`braced`: the statement stands in a block, so that another one can be put before it."""
        tokens = self.tokens
        text = tokens[i].text
        state = _EMPTY if state is None else state
        if i in self.points:
            state = _EMPTY
        if text == "{":
            close = closing(tokens, i)
            return close + 1, self._block(i, close, state)
        if text == "if":
            return self._if(i, state, braced)
        if text in ("for", "while"):
            return self._loop(i, state, braced)
        if text == "do":
            return self._do(i, state, braced)
        if text == "switch":
            return self._switch(i, state, braced)
        if text in ("case", "default"):
            while tokens[i].text != ":":
                i += 1
            return i + 1, state | self.jumps[-1].continues
        end = self._end(i)
        here = (i, None if braced else end)
        if text == "break":
            self.jumps[-1].breaks |= state
            return end + 1, None
        if text == "continue":
            loop = next(
                (jumps for jumps in reversed(self.jumps) if not isinstance(jumps, _SwitchJumps)),
                self.jumps[0],
            )
            loop.continues |= state
            return end + 1, None
        state = self._expression(i, end, state, here)
        return end + 1, None if text == "return" else state

    def _end(self, i: int) -> int:
        """Index of the `;` that ends the simple statement at i."""
        while self.tokens[i].text != ";":
            if self.tokens[i].text in ("(", "[", "{", "[["):
                i = closing(self.tokens, i)
            i += 1
        return i

    def _last_token(self, i: int) -> int:
        """Index of the last token of the statement at i."""
        tokens = self.tokens
        text = tokens[i].text
        if text == "{":
            return closing(tokens, i)
        if text == "if":
            condition = i + 2 if tokens[i + 1].text == "constexpr" else i + 1
            last = self._last_token(closing(tokens, condition) + 1)
            return self._last_token(last + 2) if tokens[last + 1].text == "else" else last
        if text in ("for", "while", "switch"):
            return self._last_token(closing(tokens, i + 1) + 1)
        if text == "do":
            return self._end(self._last_token(i + 1) + 1)
        return self._end(i)

    def _enter(self, i: int, braced: bool, is_loop: bool) -> tuple[int, int | None]:
        last = self._last_token(i)
        self.enclosing.append(_Statement(i, last, is_loop))
        return i, None if braced else last

    def _if(self, i: int, state: _State, braced: bool) -> tuple[int, _State | None]:
        tokens = self.tokens
        here = self._enter(i, braced, is_loop=False)
        condition = i + 2 if tokens[i + 1].text == "constexpr" else i + 1
        close = closing(tokens, condition)
        state = self._expression(condition + 1, close, state, here)
        first_lane_only = self._is_first_lane(tokens[condition + 1 : close])
        self.first_lane_only += first_lane_only
        i, then = self._statement(close + 1, state, braced=False)
        self.first_lane_only -= first_lane_only
        other: _State | None = state
        if tokens[i].text == "else":
            i, other = self._statement(i + 1, state, braced=False)
        self.enclosing.pop()
        if then is None or other is None:
            return i, other if then is None else then
        return i, then | other

    def _is_first_lane(self, condition: Sequence[Token]) -> bool:
        words = [token.text for token in condition]
        return "||" not in words and any(
            word in self.unique and words[k + 1 : k + 3] == ["==", "0"] for k, word in enumerate(words)
        )

    def _loop(self, i: int, state: _State, braced: bool) -> tuple[int, _State]:
        tokens = self.tokens
        here = self._enter(i, braced, is_loop=True)
        close = closing(tokens, i + 1)
        body = close + 1
        header = list(self._header(i + 2, close))
        pointers = dict(self.pointers)
        if len(header) == 3:
            state = self._expression(*header[0], state, here)
        behind: _State = _EMPTY
        for _ in range(2):
            state = self._expression(*header[-1 if len(header) == 1 else 1], state, here)
            behind |= state
            self.jumps.append(_Jumps())
            _, after = self._statement(body, state, braced=False)
            jumps = self.jumps.pop()
            behind |= jumps.breaks
            state |= (after or _EMPTY) | jumps.continues
            if len(header) == 3:
                state = self._expression(*header[2], state, here)
        self.pointers = pointers
        last = self.enclosing.pop().last
        return last + 1, behind | state

    def _header(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """The parts of `(init; condition; step)`."""
        start = first
        for i in range(first, last):
            if self.tokens[i].text == ";":
                yield start, i
                start = i + 1
        yield start, last

    def _do(self, i: int, state: _State, braced: bool) -> tuple[int, _State]:
        here = self._enter(i, braced, is_loop=True)
        behind: _State = _EMPTY
        for _ in range(2):
            self.jumps.append(_Jumps())
            condition, after = self._statement(i + 1, state, braced=False)
            jumps = self.jumps.pop()
            state |= (after or _EMPTY) | jumps.continues
            state = self._expression(condition, self._end(condition), state, here)
            behind |= state | jumps.breaks
        last = self.enclosing.pop().last
        return last + 1, behind

    def _switch(self, i: int, state: _State, braced: bool) -> tuple[int, _State]:
        tokens = self.tokens
        here = self._enter(i, braced, is_loop=False)
        close = closing(tokens, i + 1)
        state = self._expression(i + 2, close, state, here)
        self.jumps.append(_SwitchJumps(continues=state))
        after = self._block(close + 1, closing(tokens, close + 1), None)
        jumps = self.jumps.pop()
        last = self.enclosing.pop().last
        return last + 1, state | (after or _EMPTY) | jumps.breaks

    # -- expressions and declarations

    def _expression(self, first: int, last: int, state: _State, here: tuple[int, int | None]) -> _State:
        """The state behind tokens [first, last). A place it needs is put before the statement `here`."""
        accesses = list(self._accesses(first, last))
        syncs = any(self._is_sync(i) for i in range(first, last))
        self._declare(first, last)
        conflicting = [p for p in state for access in accesses if p.conflicts_with(access)]
        if conflicting:
            self._put_point(here, conflicting)
            state = _EMPTY
        if syncs:  # its arguments were read before it, what is assigned is written behind it
            return frozenset(access for access in accesses if access.is_write)
        return state | frozenset(accesses)

    def _put_point(self, here: tuple[int, int | None], conflicting: Sequence[_Access]) -> None:
        """Before the outermost `if` around that holds no earlier access: not all lanes may enter it."""
        first, last = here
        for statement in reversed(self.enclosing):
            if statement.first == first:
                continue
            inside = any(statement.first <= access.position <= statement.last for access in conflicting)
            if inside or statement.is_loop:
                break
            first = statement.first
            last = None if self._stands_in_block(first) else statement.last
        self.points.setdefault(first, last)

    def _stands_in_block(self, i: int) -> bool:
        return self.tokens[i - 1].text in (";", "{", "}", ":")

    def _is_sync(self, i: int) -> bool:
        text = self.tokens[i].text
        if self.tokens[i + 1].text != "(":
            return False
        if text == "simdgroup_barrier":
            return "mem_none" not in spell(self.tokens[i : closing(self.tokens, i + 1)])
        return text == "threadgroup_barrier" or text.startswith("simd_")

    def _accesses(self, first: int, last: int) -> Iterator[_Access]:
        for i in range(first, last):
            pointer = self.pointers.get(self.tokens[i].text)
            if pointer is not None and self.tokens[i - 1].text not in (".", "->"):
                yield from self._access(i, pointer, first, last)

    def _access(self, i: int, pointer: _Pointer, first: int, last: int) -> Iterator[_Access]:
        """What the mention of a pointer at i reads or writes."""
        tokens = self.tokens
        start, end = i, i + 1  # of the expression that has an address
        while tokens[end].text == "[":
            end = closing(tokens, end) + 1
        indices = end > i + 1
        if pointer.is_array:
            indices = indices and tokens[closing(tokens, i + 1) + 1].text == "["
        found = indices or tokens[end].text == "->" or tokens[i - 1].text == "*"
        while not found:
            opening = self._enclosing_bracket(start, first)
            if opening is None:
                return
            start, end = opening, closing(tokens, opening) + 1
            if end > last:
                return
            before = opening - 1
            if tokens[before].text == ")":  # a cast
                before = self._opening(before) - 1
            found = tokens[before].text == "*" or tokens[end].text == "["
            if not found and tokens[before].kind == "word" and tokens[before].text not in _NO_FUNCTIONS:
                yield from self._call(before, i, pointer)
                return
            while tokens[end].text == "[":
                end = closing(tokens, end) + 1
        if tokens[start - 1].text == "&" and tokens[start - 2].text in ("(", ",", "="):
            return
        while tokens[end].text in (".", "->"):
            end += 2
        text = spell(tokens[start:end])
        writes = tokens[end].text in (*ASSIGNMENTS, "++", "--") or tokens[start - 1].text in ("++", "--")
        reads = tokens[end].text != "="
        for is_write in (False,) * reads + (True,) * writes:
            yield self._make(
                pointer, text.replace(tokens[i].text, "", 1), is_write, i, bool(self.first_lane_only)
            )

    def _call(self, name: int, i: int, pointer: _Pointer) -> Iterator[_Access]:
        """A pointer handed to a function. Matrices are moved by the first lane; of others we know nothing."""
        function = self.tokens[name].text
        matrix = function in ("simdgroup_load", "simdgroup_store")
        for is_write in (False, True):
            if not matrix or is_write == (function == "simdgroup_store"):
                yield self._make(
                    pointer, f"{function} {name}", is_write, i, matrix or bool(self.first_lane_only)
                )

    def _make(self, pointer: _Pointer, text: str, is_write: bool, position: int, first_lane: bool) -> _Access:
        index = pointer.moved + text
        is_own = bool((self.unique | self.partial) & set(index.split()))
        return _Access(pointer.area, index, is_write, first_lane, is_own, position)

    def _enclosing_bracket(self, i: int, first: int) -> int | None:
        """Index of the ( around i within the expression that begins at `first`."""
        depth = 0
        for k in range(i - 1, first - 1, -1):
            text = self.tokens[k].text
            if text in (")", "]", "}"):
                depth += 1
            elif text in ("(", "[", "{"):
                if depth == 0:
                    return k if text == "(" else None
                depth -= 1
        return None

    def _opening(self, close: int) -> int:
        depth = 0
        for k in range(close, -1, -1):
            depth += (self.tokens[k].text == ")") - (self.tokens[k].text == "(")
            if depth == 0:
                return k
        return 0

    def _declare(self, first: int, last: int) -> None:
        """Follow pointers and lane-dependent variables through declarations and assignments."""
        tokens = self.tokens
        words = [token.text for token in tokens[first:last]]
        if threadgroup_variable(tokens, first) is not None:
            for part in split_commas(tokens[first + 1 : last]):
                named = [token.text for token in part]
                name = named[named.index("[") - 1] if "[" in named else named[-1]
                self.pointers[name] = _Pointer((name,))
            return
        equals = next((k for k in range(first, last) if tokens[k].text in ("=", "+=", "-=")), None)
        if equals is None:
            if words[:1] == ["threadgroup"] and "[" in words:  # an array of pointers
                name = words[words.index("[") - 1]
                self.pointers[name] = _Pointer((name,), is_array=True)
            return
        name, value = tokens[equals - 1].text, tokens[equals + 1 : last]
        target = tokens[first:equals]
        array = next(
            (t.text for t in target if t.text in self.pointers and self.pointers[t.text].is_array), None
        )
        if array is not None and spell(target).count("[") == 1:
            self._derive(array, value)
            self.pointers[array] = replace(self.pointers[array], is_array=True)
        elif tokens[equals].text != "=":
            if name in self.pointers and equals == first + 1 and self._lanes(value):
                self.pointers[name] = replace(
                    self.pointers[name], moved=self.pointers[name].moved + spell(value)
                )
        elif tokens[equals - 1].kind == "word":
            kinds = {token.text for token in target}
            if ("threadgroup" in kinds and "*" in kinds) or "auto" in kinds or equals == first + 1:
                self._derive(name, value)
            if len(target) > 1 and name not in self.pointers:
                self._learn_lanes(name, value)

    def _derive(self, name: str, value: Sequence[Token]) -> None:
        """`name` points to where an expression with another pointer says."""
        base = next((k for k, token in enumerate(value) if token.text in self.pointers), None)
        if base is None or (base + 1 < len(value) and value[base + 1].text == "["):
            return
        pointer = self.pointers[value[base].text]
        if value[base].text == name and not pointer.is_array:
            return
        offset = spell([token for token in value[base + 1 :] if token.text not in "()"])
        if self._lanes(value):
            self.pointers[name] = _Pointer(pointer.area, pointer.moved + offset)
        else:
            self.pointers[name] = _Pointer((*pointer.area, offset), pointer.moved)

    def _lanes(self, value: Sequence[Token]) -> set[str]:
        return (self.unique | self.partial) & {token.text for token in value}

    def _learn_lanes(self, name: str, value: Sequence[Token]) -> None:
        self.unique.discard(name)
        self.partial.discard(name)
        if not self._lanes(value):
            return
        texts = [token.text for token in value]
        unique = any(
            text in self.unique
            and not _MANY_TO_ONE & set(texts[k + 1 : k + 2])
            and texts[k + 1 : k + 2] != ["["]
            for k, text in enumerate(texts)
        )
        (self.unique if unique else self.partial).add(name)


class _SwitchJumps(_Jumps):
    """`continues` is the state at each case label; a `continue` inside belongs to the loop around."""
