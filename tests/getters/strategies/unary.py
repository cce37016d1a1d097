"""Draws for functions of one value."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..draws import Arguments, Draw, draws, leaf, one_of
from ..model.unary import SMALL as LIMIT
from ..recipes import Recipe, changed, op, permute, sliced, tensor
from ..rows import Row
from ..shapes import NUMBERS, SMALL, Shape, any_leaf, around, packed, seldom, typed
from ..tensor_types import types_of

_SHAPES = (*SMALL, *around(LIMIT))
_EVEN = tuple(ne for ne in _SHAPES if ne[0] % 2 == 0)

# The names of ggml's constructors, and what follows their first argument.
_FREE: dict[str, tuple[Any, ...]] = dict.fromkeys(("sqr", "sqrt", "sin", "cos", "log"), ())
_FREE |= {"clamp": (0.0, 1.0), "leaky_relu": (0.1, False)}
_OF_ROWS = dict.fromkeys(
    (
        *("tanh", "relu", "sigmoid", "gelu", "gelu_erf", "gelu_quick", "silu", "elu", "neg", "abs", "sgn"),
        *("step", "hardswish", "hardsigmoid", "exp", "floor", "ceil", "round", "trunc"),
    ),
    (),
) | {"xielu": (0.8, 0.8, 0.5, 1e-6)}
_SINCE_0_9_5 = {"softplus": (), "expm1": ()}


def _functions(row: Row) -> SearchStrategy[tuple[str, tuple[Any, ...]]]:
    known = {**_FREE, **_OF_ROWS, "scale": (2.0,), "scale_bias": (2.0, 1.0)}
    if row >= Row.V0_9_5:
        known |= {**_SINCE_0_9_5, "fill": (1.0,)}
    return st.sampled_from(list(known.items()))


def _with_gaps(draw: Draw, row: Row, type: str, ne: Shape) -> Recipe:
    """Rows apart from each other, all alike; a single row's stride did not count at first."""
    gap = draw(one_of(0, 0, 1))
    return sliced(type, ne, extra=(0 if row < Row.V0_9_8 and ne[1] == 1 else gap, 0, 0))


def _argument(draw: Draw, row: Row, name: str) -> Recipe:
    """A source that the constructor takes: each wants another kind of order."""
    type, ne = draw(typed(("f32",) if name == "fill" else NUMBERS, _SHAPES))
    if name == "fill":
        return tensor(type, *ne)
    if name in _FREE:
        return leaf(draw, type, ne)
    if name.startswith("scale") or row < Row.V0_9_8:  # gaps between rows only
        return _with_gaps(draw, row, type, ne)
    return leaf(draw, type, ne, rows=True)


@draws("unary")
def unary(row: Row) -> SearchStrategy[Arguments]:
    functions = _functions(row)

    @st.composite
    def arguments(draw: Any) -> Arguments:
        name, rest = draw(functions)
        made = op(name, _argument(draw, row, name), *rest)
        result_type = draw(one_of(*[None] * 8, "f16", "f32"))
        return (made if result_type is None else changed(made, type=result_type),)

    return arguments()


@draws("glu")
def glu(row: Row) -> SearchStrategy[Arguments]:
    names = ("reglu", "geglu", "swiglu", "geglu_erf", "geglu_quick")
    # How many tensors it takes, its name, what follows.
    functions: list[tuple[int, str, tuple[float, ...]]] = [
        *((1, name + kind, ()) for name in names for kind in ("", "_swapped")),
        *((2, f"{name}_split", ()) for name in names),
        (2, "swiglu_oai", (1.7, 7.0)),
    ]
    if row >= Row.V0_25_3:
        functions += [(2, "swiglu_clamp", (7.0,))] * 2
    kinds = st.sampled_from(functions)

    @st.composite
    def arguments(draw: Any) -> Arguments:
        count, name, rest = draw(kinds)
        type, ne = draw(typed(NUMBERS, _EVEN))
        a = _with_gaps(draw, row, type, ne)
        made = op(name, *[a] * count, *rest)
        if seldom(draw):
            made = changed(made, type="f16")
        other = draw(one_of(*[None] * 12, *DISORDERED))
        return (made if other is None else changed(made, src={0: other}),)

    return arguments()


_STRIDED: Shape = (4, 1, 2, 1)
DISORDERED = (
    permute(tensor("f32", 4, 8), 1, 0, 2, 3),
    sliced("f16", (4, 3, 2), extra=(0, 1, 0)),
    permute(tensor("f32", 4, 3, 2), 0, 2, 1, 3),
    # One row with a stride of its own: contiguous in one row of upstream, not in another.
    sliced("f32", _STRIDED, extra=(1, 0, 0)),
    changed(tensor("f32", *_STRIDED), nb=(4, 64, 16, 32)),
    changed(tensor("f32", 1, 3, 2, 1), nb=(8, 8, 24, 48)),
)
"""Sources whose rows have gaps, or gaps of two kinds."""


@draws("silu_back")
def silu_back(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Any) -> Arguments:
        gradient = any_leaf(draw, NUMBERS)
        return (op("silu_back", gradient, packed(draw, NUMBERS)),)

    return arguments()


@draws("snake")
def snake(row: Row) -> SearchStrategy[Arguments]:
    return st.tuples(st.sampled_from(types_of(row)))
