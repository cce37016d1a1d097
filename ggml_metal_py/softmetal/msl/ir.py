"""What we change in the compiler's own output (LLVM's textual IR, before any optimisation).

- Integer division. MSL leaves x / 0 and INT_MIN / -1 undefined, but a GPU goes on, and kernels divide
  by zero where the result is not used. A CPU would trap. So a division by a variable becomes a call of
  a small function that is inlined: 0 counts as 1, and INT_MIN / -1 wraps. It branches around the
  division for -1, 0 and 1, which pays for itself: kernels divide by broadcast ratios, which nearly
  always are 1.
- Loads that include/ marks as non-temporal are values that never change during a dispatch: function
  constants. C++ has no word for that; LLVM calls it invariant.load.
- The module's name is taken out: it is that of a temporary file, and objects.py knows modules by their text.

It is done here because both rewriting C++ and a compiler plugin would be fragile.
"""

import re

_DIVISION = re.compile(
    r"= (?P<op>[su](?:div|rem)) (?:exact )?(?P<type>i\d+|<\d+ x i\d+>) (?P<a>.*), (?P<b>%[^,\n]+)",
)
_UNUSED_METADATA = 4294967


def rewrite(module: str) -> str:
    """The module with harmless divisions and invariant loads."""
    module = re.sub(r"^(; ModuleID|source_filename) = .*\n", "", module, flags=re.MULTILINE)
    module = re.sub(r", !nontemporal !\d+", f", !invariant.load !{_UNUSED_METADATA}", module)
    needed: set[tuple[str, str]] = set()

    def call(match: re.Match[str]) -> str:
        op, kind, a, b = match.group("op", "type", "a", "b")
        needed.add((op, kind))
        return f"= call {kind} @{_function(op, kind)}({kind} {a}, {kind} {b})"

    module = _DIVISION.sub(call, module)
    definitions = [_vector(*each) if each[1][0] == "<" else _scalar(*each) for each in sorted(needed)]
    return "\n".join([module, *definitions, f"!{_UNUSED_METADATA} = !{{}}", ""])


def _function(op: str, kind: str) -> str:
    return f"softmetal.{op}." + re.sub(r"\W+", "", kind)


def _scalar(op: str, kind: str) -> str:
    first, count = ("-1", 3) if op[0] == "s" else ("0", 2)
    trivial = {
        "sdiv": f"""  %minus = sub {kind} 0, %a
  %negate = icmp eq {kind} %b, -1
  %trivial = select i1 %negate, {kind} %minus, {kind} %a""",
        "udiv": f"  %trivial = add {kind} %a, 0",
        "srem": f"  %trivial = add {kind} 0, 0",
        "urem": f"  %trivial = add {kind} 0, 0",
    }[op]
    return f"""
define internal {kind} @{_function(op, kind)}({kind} %a, {kind} %b) alwaysinline {{
  %from = sub {kind} %b, {first}
  %is.trivial = icmp ult {kind} %from, {count}
  br i1 %is.trivial, label %easy, label %hard
easy:
{trivial}
  ret {kind} %trivial
hard:
  %result = {op} {kind} %a, %b
  ret {kind} %result
}}"""


def _vector(op: str, kind: str) -> str:
    n = int(kind[1:].split()[0])
    element = kind.rsplit(" ", 1)[-1].rstrip(">")
    truth = f"<{n} x i1>"

    def all_of(value: int) -> str:
        return "<" + ", ".join([f"{element} {value}"] * n) + ">"

    lines = [f"%zero = icmp eq {kind} %b, {all_of(0)}"]
    if op[0] == "s":
        lines += [f"%minus = icmp eq {kind} %b, {all_of(-1)}", f"%bad = or {truth} %zero, %minus"]
    else:
        lines += [f"%bad = or {truth} %zero, %zero"]
    lines += [
        f"%by = select {truth} %bad, {kind} {all_of(1)}, {kind} %b",
        f"%done = {op} {kind} %a, %by",
    ]
    if op == "sdiv":
        lines += [f"%negative = sub {kind} {all_of(0)}, %a"]
        lines += [f"%result = select {truth} %minus, {kind} %negative, {kind} %done"]
    else:
        lines += [f"%result = add {kind} %done, {all_of(0)}"]
    body = "\n".join("  " + line for line in lines)
    return f"""
define internal {kind} @{_function(op, kind)}({kind} %a, {kind} %b) alwaysinline {{
{body}
  ret {kind} %result
}}"""
