"""Kernels whose threads share their loops: `for (int i = thread; i < n; i += threads)`, and do nothing else.

One thread that takes every turn of these does what all of them do together. It walks over neighbours, which
the compiler makes fast; a loop over threads around a loop with a stride is not. A kernel is of this kind if

- its thread's position and the number of threads stand in the heads of such loops only;
- a turn leaves nothing to the next one: no variable from outside the loop changes in it;
- outside the loops nothing is written or called: there are declarations, conditions and returns.

All of it is read off the text, and what is not plain to see counts as no.
"""

from collections.abc import Iterable, Sequence, Set

from .program import Parameter, Program
from .statements import Statement, read_block
from .tokens import ASSIGNMENTS, Token, closing, split_commas

_THREAD = frozenset(("thread_position_in_threadgroup", "thread_index_in_threadgroup"))
# Depend on the thread, or on the number of threads, in other ways.
_OTHERS = frozenset(
    (
        "thread_position_in_grid",
        "threads_per_grid",
        "thread_index_in_simdgroup",
        "simdgroup_index_in_threadgroup",
    )
)
_COUNT = "threads_per_threadgroup"
_CHANGES = ASSIGNMENTS | {"++", "--"}
_NOT_CALLS = frozenset(("if", "for", "while", "return", "sizeof"))


def find(program: Program) -> None:
    """Mark the kernels of this kind. It holds for threadgroups of one dimension."""
    for kernel in program.kernels:
        function = kernel.function
        if not kernel.uses_sync and not function.shares_loops:
            first, last = function.parameters
            texts = split_commas(program.tokens[first + 1 : last])
            body = read_block(program.tokens, function.body[0])
            function.shares_loops = _shares_loops(program.tokens, body, kernel.parameters, texts)


def _shares_loops(
    tokens: Sequence[Token],
    body: Statement,
    parameters: Sequence[Parameter],
    texts: Sequence[Sequence[Token]],
) -> bool:
    bound: dict[str, set[str]] = {}
    for parameter in parameters:
        bound.setdefault(parameter.binding, set()).add(parameter.name)
    threads = {name for binding in _THREAD for name in bound.get(binding, ())}
    if not bound.keys().isdisjoint(_OTHERS):
        return False
    variables = {}
    for parameter, text in zip(parameters, texts, strict=True):
        words = {token.text for token in text}
        if "&" not in words:
            variables[parameter.name] = "*" in words
    kernel = _Kernel(tokens, threads, bound.get(_COUNT, set()))
    return kernel.outside(body, variables) and kernel.loops > 0


class _Kernel:
    def __init__(self, tokens: Sequence[Token], threads: Set[str], counts: Set[str]) -> None:
        self.tokens = tokens
        self.threads = threads
        self.counts = counts
        self.loops = 0

    def outside(self, statement: Statement, variables: dict[str, bool]) -> bool:
        """Whether a statement around the loops is as it has to be.

        `variables` are those that may change, and whether each is a pointer.
        """
        if statement.kind == "for":
            self.loops += 1
            return self._is_shared(statement, variables)
        if statement.kind == "block":
            inner = dict(variables)
            return all(self.outside(part, inner) for part in statement.parts)
        if statement.kind == "if":
            return self._is_plain(statement.header) and all(
                self.outside(part, dict(variables)) for part in statement.parts
            )
        if statement.kind == "jump":
            return self.tokens[statement.first].text == "return"
        return statement.kind == "plain" and self._declares(statement, variables)

    def _declares(self, statement: Statement, variables: dict[str, bool]) -> bool:
        """`type name = value;`, or nothing at all."""
        words = self._words(range(statement.first, statement.last))
        if not words:
            return True
        if "=" not in words:
            return False
        equals = words.index("=")
        kinds = {self.tokens[statement.first + i].kind for i in range(equals) if words[i] != "*"}
        if equals < 2 or kinds != {"word"} or words[0] == "*" or words[equals - 1] == "*":
            return False
        if words[0] != "const" or "*" in words[:equals]:
            variables[words[equals - 1]] = "*" in words[:equals]
        return self._is_plain(range(statement.first + equals + 1, statement.last))

    def _is_plain(self, span: Iterable[int]) -> bool:
        """An expression without a thread's position that changes and calls nothing."""
        for i in span:
            text = self.tokens[i].text
            if text in _CHANGES or text in self.threads or text in self.counts or self._is_call(i):
                return False
        return True

    def _is_call(self, i: int) -> bool:
        before = self.tokens[i - 1]
        named = before.kind == "word" or before.text == ">"
        return self.tokens[i].text == "(" and named and before.text not in _NOT_CALLS

    def _is_shared(self, loop: Statement, variables: dict[str, bool]) -> bool:
        """`for (type i = thread; i < bound; i += threads)`, or `.x` of them, or a multiple."""
        words = self._words(loop.header)
        parts = " ".join(words).split(" ; ")
        if len(parts) != 3:
            return False
        (start, bound, step) = (part.split(" ") for part in parts)
        name = step[0]
        start_factor, step_factor = _factor(start[3:], self.threads), _factor(step[2:], self.counts)
        return (
            start[1:3] == [name, "="]
            and bound[:2] == [name, "<"]
            and step[1] == "+="
            and start_factor is not None
            and start_factor == step_factor
            and self._is_plain(loop.header[len(start) + 3 : len(start) + 1 + len(bound)])
            and {name, *variables}.isdisjoint(bound[2:])
            and self._turns_are_apart(loop.parts[0], variables | {name: False})
        )

    def _turns_are_apart(self, body: Statement, variables: dict[str, bool]) -> bool:
        """Whether the loop's body leaves the variables as they are. It may write where pointers point to."""
        tokens = self.tokens
        if any(part.kind == "jump" and tokens[part.first].text != "continue" for part in body.walk()):
            return False
        around: list[str] = []  # brackets: [, { or (, and f( of calls
        for i in range(body.first, body.last + 1):
            text = tokens[i].text
            if text in ("(", "[", "{"):
                around.append("f(" if self._is_call(i) else text)
            elif text in (")", "]", "}"):
                around.pop()
            elif text in self.threads or text in self.counts:
                return False
            elif text in variables and tokens[i - 1].text not in (".", "->"):
                if variables[text] and tokens[i + 1].text == "[":
                    continue
                if tokens[i - 1].text in ("&", "++", "--") or self._changes_behind(i):
                    return False
                within = "".join(around).replace("{", "[").rpartition("[")[2]
                if "f(" in within:
                    return False
        return True

    def _changes_behind(self, i: int) -> bool:
        """Whether the variable at `i`, its member or element, is changed by what follows."""
        i += 1
        while self.tokens[i].text in (".", "["):
            i = closing(self.tokens, i) + 1 if self.tokens[i].text == "[" else i + 2
        return self.tokens[i].text in _CHANGES

    def _words(self, span: Iterable[int]) -> list[str]:
        return [self.tokens[i].text for i in span]


def _factor(words: Sequence[str], names: Set[str]) -> str | None:
    """`2` of `2 * name . x`, `1` of `name`, None of anything else."""
    factor = "1"
    if len(words) > 2 and words[1] == "*" and words[0].isdigit():
        factor, words = words[0], words[2:]
    if words and words[0] in names and list(words[1:]) in ([], [".", "x"]):
        return factor
    return None
