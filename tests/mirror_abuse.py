"""Illegal arguments for every getter, one at a time. Run it in a process of its own, which must survive.

python -c "import mirror_abuse; mirror_abuse.abuse('pywhispercpp-1.5.1')"
"""

import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

from mirror_calls import Calls, Ops, legal_calls

import ggml_metal_py as gm

ALLOWED = (ValueError, TypeError, gm.GgmlAbort, gm.KernelNotFound, gm.NotInUpstream)
ANY_TENSOR = "memset"
"""The getter that looks at the type only."""


def abuse(row: str) -> int:
    """Replace each argument of each getter by everything that it must not be. Returns the number of calls.

    Raises AssertionError when an illegal argument gave a Pipeline, or raised what is not ALLOWED.
    """
    calls = 0
    with gm.open(upstream=row) as device, device.context(tensors=4096) as context:
        legal = legal_calls(context)
        values = Values(row, context, legal)
        for getter, arguments in legal.items():
            mirror = getattr(device.library, f"get_pipeline_{getter}")
            parameters = inspect.signature(mirror).parameters
            given = dict(zip(parameters, arguments, strict=False))
            for name, parameter in parameters.items():
                for value, illegal in values.of(getter, parameter):
                    _try(mirror, {**given, name: value}, illegal)
                    calls += 1
    return calls


def _try(mirror: Callable[..., Any], arguments: dict[str, Any], illegal: bool) -> None:
    call = f"{mirror.__name__}({arguments})"
    try:
        got = mirror(**arguments)
    except ALLOWED:
        return
    except Exception as error:
        raise AssertionError(f"{call} raised {error!r}") from error
    assert isinstance(got, gm.Pipeline), f"{call} gave {got!r}"
    assert not illegal, f"{call} gave {got!r}"


class Values:
    """Illegal arguments of every kind, and legal ones that are at the edge."""

    def __init__(self, row: str, context: gm.Context, legal: Calls) -> None:
        device = context._parent
        assert isinstance(device, gm.Device)
        self._own = _ops_of(legal)
        self._huge = list(_huge(Ops(context)))
        self._leaf = context.new_tensor("f32", (4, 64))

        with device.context() as closed:
            self._closed = _ops_of(legal_calls(closed))
        self._open = device.context()
        with device.context() as closed:
            source = closed.new_tensor("f32", (4,))
            self._orphan = gm.ops.apply("add", source, source, context=self._open)

        other = next(name for name in ("pywhispercpp-1.5.1", "pywhispercpp-1.5.0") if name != row)
        self._foreign = _ops_of(legal_calls(gm.open(upstream=other).context()))

    def of(self, getter: str, parameter: inspect.Parameter) -> Iterator[tuple[Any, bool]]:
        """(value, whether it must be refused)."""
        kind = str(parameter.annotation)
        if "Tensor" in kind:
            yield from self._tensors(getter)
        elif "OpPool" in kind:
            yield from ((value, True) for value in ("least", None, 0, 1.5, b"max", gm.Op.ADD))
            yield from ((value, False) for value in (*gm.OpPool, "MAX"))
        elif "Op" in kind:
            yield from ((value, True) for value in ("nothing", None, 2, 1.5, b"add", gm.OpPool.MAX, ""))
            yield from ((value, False) for value in gm.Op)
        elif "Type" in kind:
            yield from ((value, True) for value in ("f31", None, -1, 999, 1.5, b"f32", ""))
            yield from ((value, False) for value in gm.Type)
        elif "bool" in kind:
            yield from ((value, True) for value in ("yes", None, 2, -1, 1.5, [], math.nan))
            yield from ((value, False) for value in (True, False, 0, 1))
        else:
            assert "int" in kind
            yield from ((value, True) for value in (2**31, -(2**31) - 1, 2**64, 1.5, "4", True, math.nan))
            yield None, parameter.default is not None
            yield from ((value, False) for value in (-(2**31), -1, 0, 1, 3, 2**15, 2**31 - 1))

    def _tensors(self, getter: str) -> Iterator[tuple[Any, bool]]:
        yield from ((value, True) for value in (None, 1, "add", object(), self._leaf._pointer))
        yield self._leaf, True
        yield self._orphan, True
        yield from ((ops[getter], True) for ops in (self._closed, self._foreign) if getter in ops)
        kind = _kind(self._own[getter])
        yield from ((op, _kind(op) != kind and getter != ANY_TENSOR) for op in self._own.values())
        yield from ((op, False) for op in self._huge)


def _ops_of(calls: Calls) -> dict[str, gm.Tensor]:
    """The op of every call that has one."""
    firsts = {getter: arguments[0] for getter, arguments in calls.items() if arguments}
    return {getter: first for getter, first in firsts.items() if isinstance(first, gm.Tensor)}


def _kind(op: gm.Tensor) -> str:
    native = op.context._native
    return native.text(native.ggml_op_name(op._use().op))


def _huge(o: Ops) -> Iterator[gm.Tensor]:
    """Axes that C would read as 0 or as a negative number, and empty ones."""
    for n in (2**31 - 1, 2**31, 2**32, 2**40):
        for type in ("f32", "iq2_xxs", "q4_0"):
            n_blocks = n // 256 * 256 if type != "f32" else n
            yield o("mul_mat", o.new(type, n_blocks, 1), o.f32(n_blocks, 1))
        yield o("mul_mat", o.f32(4, 4, n), o.f32(4, 1, n))
        yield o("mul_mat_id", o.f32(n, 4, 2), o.f32(n, 1, 4), o.new("i32", 2, 4))
        yield o("soft_max", o.f32(n))
        yield o("rwkv_wkv6", *(o.f32(1, n, 1) for _ in range(3)), o.f32(1, n), o.f32(1, n, 1), o.f32(n, 1))
        for k, v in ((n, 64), (64, n)):
            yield o(
                "flash_attn_ext", o.f32(k, 1), o.new("f16", k, 1), o.new("f16", v, 1), None, 1.0, 0.0, 0.0
            )
        if o.native.has("GGML_OP_SOLVE_TRI"):
            yield o("solve_tri", o.f32(2**28, 2**28), o.f32(1, 2**28), True, True, False)
        if o.native.has("GGML_OP_DIAG"):
            yield o("diag", o.f32(min(n, 2**30)))  # its square must fit
    empty = o("view_1d", o.f32(64), 0, 0)
    yield o("gelu", empty)
    yield o("rms_norm", empty, 1e-5)
    no_blocks = o("view_2d", o.new("iq2_xxs", 256), 0, 1, 66, 0)
    yield o("mul_mat", no_blocks, empty)
    yield o("mul_mat_id", no_blocks, empty, o.new("i32", 1, 1))
    no_heads = o("view_3d", o.f32(8), 1, 0, 1, 4, 4, 0)
    state = o("view_2d", o.f32(8), 0, 1, 4, 0)
    yield o("rwkv_wkv6", no_heads, no_heads, no_heads, o.f32(1, 1), no_heads, state)
    still = o("permute", o("view_2d", o.new("f16", 64), 64, 1, 0, 0), 1, 0, 2, 3)
    yield o("flash_attn_ext", o.f32(1, 1), still, still, None, 1.0, 0.0, 0.0)
