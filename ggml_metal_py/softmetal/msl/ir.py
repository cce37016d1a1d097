"""What we change in the compiler's own output (LLVM's textual IR, before any optimisation).

- Integer division. MSL leaves x / 0 and INT_MIN / -1 undefined, but a GPU goes on, and kernels divide
  by zero where the result is not used. A CPU would trap. So a division by a variable becomes a call of
  a small function: 0 counts as 1, and INT_MIN / -1 wraps. For lanes that are entered one by one it is
  inlined and branches around the division for -1, 0 and 1, which pays for itself: kernels divide by
  broadcast ratios, which nearly always are 1. In a loop over lanes most divisions give each lane the
  same, so there it is something that LLVM may move out of the loop: up to 32 bits a division of
  doubles, which is exact, else a function without effects.
- Shifts. MSL takes a shift's count modulo the width, LLVM leaves a larger one open: it is masked.
- Numbers to integers. LLVM leaves what does not fit open; Metal says that NaN gives 0, and nothing of
  the rest: it becomes the nearest integer, whatever the optimiser knows of the value.
- Alignment. Types of include/ have Metal's alignment, because it decides where the members of a struct
  lie. Loads and stores must not count on it, as kernels use vectors at addresses that only suit their
  elements. So all memory accesses claim the alignment of what they move.
- Loads that include/ marks as non-temporal are values that never change during a dispatch: function
  constants. C++ has no word for that; LLVM calls it invariant.load.
- The module's name is taken out: it is that of a temporary file, and objects.py knows modules by their text.

It is done here because both rewriting C++ and a compiler plugin would be fragile.
"""

import re
import struct

_DIVISION = re.compile(
    r"= (?P<op>[su](?:div|rem)) (?:exact )?(?P<type>i\d+|<\d+ x i\d+>) (?P<a>.*), (?P<b>%[^,\n]+)",
)
_SHIFT = re.compile(
    r"= (?P<op>shl|lshr|ashr) (?:(?:nuw|nsw|exact) )*(?P<type>i\d+|<\d+ x i\d+>) (?P<a>.*), (?P<b>%[^,\n]+)",
)
_TO_INTEGER = re.compile(
    r"= (?P<op>fpto[su]i) (?P<from>half|float|double|<\d+ x (?:half|float|double)>) (?P<a>\S+)"
    r" to (?P<to>i\d+|<\d+ x i\d+>)",
)
_ACCESS = re.compile(
    r"^(?P<access>.*(?:= load|^ *store) (?:volatile )?"
    r"(?P<type><\d+ x \w+>|\{[^}]*\}|i\d+|half|float|double)(?=[ ,]).*), align (?P<align>\d+)",
    re.MULTILINE,
)
_BYTES = {"half": 2, "float": 4, "double": 8, "ptr": 8}
_UNUSED_METADATA = 4294967


def static_threadgroup_bytes(module: str) -> dict[str, int]:
    """For each kernel entry, how much threadgroup memory the variables of its kernel take.

    The translator marks their ends with calls of softmetal::static_bytes<END>().
    """
    if "static_bytesILj" not in module:
        return {}
    names: dict[str, set[str]] = {}
    for define in re.split(r"^define ", module, flags=re.MULTILINE)[1:]:
        name, *rest = re.findall(r"@([\w.$]+)", define.partition("\n}")[0])
        names[name] = set(rest)
    found = {}
    for entry, constant in re.findall(r"^@(softmetal_entry_\d+) = (.*)", module, re.MULTILINE):
        reached: set[str] = set()
        ahead = set(re.findall(r"@([\w.$]+)", constant))
        while ahead:
            reached |= ahead
            ahead = {name for caller in ahead for name in names.get(caller, ())} - reached
        ends = (re.search(r"12static_bytesILj(\d+)E", name) for name in reached)
        found[entry] = max((int(end[1]) for end in ends if end), default=0)
    return found


def rewrite(module: str, *, loops: bool, align: bool = True) -> str:
    """The module with all of that changed. `loops`: lanes run in loops, not in fibers.

    `align` False leaves the alignment to `claim_elements`: checked mode wants to know what types ask for.
    """
    module = re.sub(r"^(; ModuleID|source_filename) = .*\n", "", module, flags=re.MULTILINE)
    module = claim_elements(module) if align else module
    module = re.sub(r" align \d+ (?=dereferenceable)|, !align !\d+", " ", module)
    module = re.sub(r", !nontemporal !\d+", f", !invariant.load !{_UNUSED_METADATA}", module)
    needed: set[tuple[str, str]] = set()

    def call(match: re.Match[str]) -> str:
        op, kind, a, b = match.group("op", "type", "a", "b")
        needed.add((op, kind))
        return f"= call {kind} @{_function(op, kind)}({kind} {a}, {kind} {b})"

    module = _SHIFT.sub(call, _DIVISION.sub(call, module))
    definitions = [_definition(*each, loops) for each in sorted(needed)]
    module, converted = _saturate(module)
    definitions += converted
    return "\n".join([module, *definitions, f"!{_UNUSED_METADATA} = !{{}}", ""])


def checkable(module: str) -> str:
    """The module without what lets the optimiser read more memory than the source does."""
    return re.sub(r" dereferenceable(?:_or_null)?\(\d+\)", "", module)


def claim_elements(module: str) -> str:
    """The module with accesses that count on no more than the alignment of what they move."""
    module = _ACCESS.sub(_element_aligned, module)
    return re.sub(r"(call void @llvm\.mem(?:cpy|move|set)\..*)", _unaligned, module)


def _function(op: str, kind: str) -> str:
    return f"softmetal.{op}." + re.sub(r"\W+", "", kind)


def _element_aligned(match: re.Match[str]) -> str:
    if match["type"][0] == "{":  # a vector, or two, on the way to a function
        return f"{match['access']}, align 1"
    element = match["type"].rsplit(" ", 1)[-1].rstrip(">")
    size = _BYTES.get(element) or max(1, int(element[1:]) // 8)
    return f"{match['access']}, align {min(size, int(match['align']))}"


def _unaligned(match: re.Match[str]) -> str:
    return re.sub(r"\bptr align \d+", "ptr align 1", match[0])


def _saturate(module: str) -> tuple[str, list[str]]:
    needed: set[tuple[str, str, str]] = set()

    def call(match: re.Match[str]) -> str:
        op, source, value, to = match.group("op", "from", "a", "to")
        needed.add((op, source, to))
        return f"= call {to} @{_function(op, source + to)}({source} {value})"

    module = _TO_INTEGER.sub(call, module)
    return module, [_conversion(*each) for each in sorted(needed)]


def _conversion(op: str, source: str, to: str) -> str:
    """By comparisons and selections: LLVM's own saturating conversions are not vectorised."""
    n = int(to[1:].split()[0]) if to[0] == "<" else 0

    def of_all(element: str, value: object) -> str:
        return "<" + ", ".join([f"{element} {value}"] * n) + ">" if n else str(value)

    def wide(element: str) -> str:
        return f"<{n} x {element}>" if n else element

    integer = to.rsplit(" ", 1)[-1].rstrip(">")
    bits = int(integer[1:])
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if op == "fptosi" else (0, 2**bits - 1)
    lowest, limit = (f"0x{struct.pack('>d', float(edge)).hex().upper()}" for edge in (low, high + 1))
    kind, truth = wide("float"), wide("i1")
    x, widen = "%a", ""
    if "half" in source:
        x, widen = "%x", f"\n  %x = fpext {source} %a to {kind}"
    elif "double" in source:
        kind = source
    number = kind.rsplit(" ", 1)[-1].rstrip(">")
    return f"""
define internal {to} @{_function(op, source + to)}({source} %a) alwaysinline {{{widen}
  %low = fcmp ole {kind} {x}, {of_all(number, lowest)}
  %high = fcmp oge {kind} {x}, {of_all(number, limit)}
  %nan = fcmp uno {kind} {x}, {x}
  %outside = or {truth} %low, %high
  %no = or {truth} %outside, %nan
  %fits = select {truth} %no, {kind} {of_all(number, "0.0")}, {kind} {x}
  %inside = {op} {kind} %fits to {to}
  %below = select {truth} %low, {to} {of_all(integer, low)}, {to} %inside
  %result = select {truth} %high, {to} {of_all(integer, high)}, {to} %below
  ret {to} %result
}}"""


def _definition(op: str, kind: str, loops: bool) -> str:
    if op in ("shl", "lshr", "ashr"):
        return _shift(op, kind)
    if kind[0] == "<":
        return _vector(op, kind)
    if not loops:
        return _branching(op, kind, "alwaysinline")
    if int(kind[1:]) > 32:
        return _branching(op, kind, "noinline nounwind willreturn speculatable memory(none)")
    return _by_doubles(op, kind)


def _shift(op: str, kind: str) -> str:
    last = int(kind.rsplit("i", 1)[1].rstrip(">")) - 1
    n = int(kind[1:].split()[0]) if kind[0] == "<" else 0
    mask = "<" + ", ".join([f"i{last + 1} {last}"] * n) + ">" if n else str(last)
    return f"""
define internal {kind} @{_function(op, kind)}({kind} %a, {kind} %b) alwaysinline {{
  %count = and {kind} %b, {mask}
  %result = {op} {kind} %a, %count
  ret {kind} %result
}}"""


def _by_doubles(op: str, kind: str) -> str:
    """A quotient of numbers of 32 bits, rounded to 53, never rounds up to a whole number that it is not."""
    to_double = "sitofp" if op[0] == "s" else "uitofp"
    result = (
        "  %result = add {kind} 0, %quotient"
        if op.endswith("div")
        else "  %times = mul {kind} %quotient, %by\n  %result = sub {kind} %a, %times"
    ).format(kind=kind)
    return f"""
define internal {kind} @{_function(op, kind)}({kind} %a, {kind} %b) alwaysinline {{
  %zero = icmp eq {kind} %b, 0
  %by = select i1 %zero, {kind} 1, {kind} %b
  %x = {to_double} {kind} %a to double
  %y = {to_double} {kind} %by to double
  %ratio = fdiv double %x, %y
  %whole = fptosi double %ratio to i64
  %quotient = trunc i64 %whole to {kind}
{result}
  ret {kind} %result
}}"""


def _branching(op: str, kind: str, attributes: str) -> str:
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
define internal {kind} @{_function(op, kind)}({kind} %a, {kind} %b) {attributes} {{
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
