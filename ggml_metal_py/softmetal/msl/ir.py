"""What we change in the compiler's own output (LLVM's textual IR, before any optimisation).

- Integer division. MSL leaves x / 0 and INT_MIN / -1 undefined, but a GPU goes on, and kernels divide by zero
  where the result is not used. A CPU would trap, so a divisor that is not a constant is made harmless: 0 counts
  as 1, and INT_MIN / -1 wraps. It is done here because both rewriting C++ and a compiler plugin would be fragile.
- Loads that include/ marks as non-temporal are values that never change during a dispatch: function constants.
  C++ has no word for that; LLVM calls it invariant.load.
"""

import re

_DIVISION = re.compile(
    r"^  (?P<result>%[\w.]+|%\"[^\"]+\") = (?P<op>[su](?:div|rem)) (?:exact )?(?P<type>i\d+|<(?P<n>\d+) x i\d+>) "
    r"(?P<a>[^,]+(?:, [^%,]+)*?), (?P<b>%[^,\n]+)(?P<rest>.*)$",
    re.MULTILINE,
)


def rewrite(module: str) -> str:
    """The module with harmless divisions and invariant loads."""
    module = re.sub(r", !nontemporal !\d+", ", !invariant.load !4294967", module)
    return _DIVISION.sub(_Divisions(), module) + "\n!4294967 = !{}\n"


class _Divisions:
    def __init__(self) -> None:
        self.count = 0

    def __call__(self, match: re.Match[str]) -> str:
        self.count += 1
        name = f"%sm.{self.count}"
        op, kind, a, b = match["op"], match["type"], match["a"], match["b"]
        n = int(match["n"] or 0)
        element = kind.rsplit(" ", 1)[-1].rstrip(">")

        def constant(value: int) -> str:
            return "<" + ", ".join([f"{element} {value}"] * n) + ">" if n else str(value)

        truth = f"<{n} x i1>" if n else "i1"
        lines = []
        if op[0] == "u":
            lines.append(f"{name}.bad = icmp eq {kind} {b}, {constant(0)}")
        else:
            lines.append(f"{name}.next = add {kind} {b}, {constant(1)}")
            lines.append(f"{name}.bad = icmp ult {kind} {name}.next, {constant(2)}")  # 0 or -1
        lines.append(f"{name}.by = select {truth} {name}.bad, {kind} {constant(1)}, {kind} {b}")
        if op == "sdiv":
            lines.append(f"{name}.quotient = sdiv {kind} {a}, {name}.by")
            lines.append(f"{name}.minus = sub {kind} {constant(0)}, {a}")
            lines.append(f"{name}.negate = icmp eq {kind} {b}, {constant(-1)}")
            lines.append(
                f"{match['result']} = select {truth} {name}.negate, {kind} {name}.minus, {kind} {name}.quotient"
            )
        else:
            lines.append(f"{match['result']} = {op} {kind} {a}, {name}.by")
        return "\n".join("  " + line for line in lines)
