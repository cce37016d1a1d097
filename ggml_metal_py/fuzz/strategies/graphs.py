"""Chains that upstream computes in one kernel, chains that are close to them, and small graphs of any ops."""

from hypothesis import strategies as st

from .registry import op
from .tensors import Draw, Shape, Tree, call, laid_out, leaf, padded, repeated, shapes, some


@op("add_chain", weight=2)
def add_chain(draw: Draw, name: str) -> Tree:
    """Sums in a row: up to 8 of them become one kernel."""
    ne = draw(shapes())
    other = repeated(draw, ne)
    same = draw(some(True, True, False))
    result = laid_out(draw, "f32", ne)
    for _ in range(draw(st.integers(2, 10))):
        result = call("add", result, _source(draw, other if same else repeated(draw, ne)))
    return result


@op("norm_chain", weight=3)
def norm_chain(draw: Draw, name: str) -> Tree:
    """A norm, times something, plus something."""
    ne = draw(shapes(most=2100))
    norm = call(draw(some("rms_norm", "norm")), laid_out(draw, "f32", ne, rows=True), 1e-5)
    shape = draw(some((ne[0],), ne, repeated(draw, ne)))
    times = _source(draw, shape)
    turned = padded(shape) == padded(ne) and draw(some(False, False, True))
    result = call("mul", times, norm) if turned else call("mul", norm, times)
    plus = draw(some("nothing", "row", "all", "norm"))
    if plus == "nothing":
        return result
    return call("add", result, norm if plus == "norm" else _source(draw, ne[:1] if plus == "row" else ne))


def _source(draw: Draw, ne: Shape) -> Tree:
    return laid_out(draw, "f32", ne, rows=draw(some(True, True, True, False)))


@op("graph", weight=4)
def graph(draw: Draw, name: str) -> Tree:
    """A few ops on tensors of one shape, some in place, whose results are used again and again."""
    ne = padded(draw(shapes(most=260, elements=3000)))
    made: list[Tree] = [laid_out(draw, "f32", ne, rows=True), leaf("f32", *ne)]
    for _ in range(draw(st.integers(2, 7))):
        step = draw(some(_binary, _unary, _of_rows, _inplace, _product, _halves, _written, _turned))
        made.append(step(draw, draw(st.sampled_from(made)), draw(st.sampled_from(made)), ne))
    return call("add", made[-1], made[-2])


def _binary(draw: Draw, a: Tree, b: Tree, ne: Shape) -> Tree:
    return call(draw(some("add", "mul", "sub")), a, b)


def _unary(draw: Draw, a: Tree, b: Tree, ne: Shape) -> Tree:
    return call(draw(some("neg", "sqr", "tanh", "relu", "sigmoid", "silu", "abs", "cont", "dup")), a)


def _of_rows(draw: Draw, a: Tree, b: Tree, ne: Shape) -> Tree:
    name = draw(some("rms_norm", "norm", "l2_norm", "soft_max", "cumsum"))
    return call(name, a, *((1e-5,) if name.endswith("norm") else ()))


def _inplace(draw: Draw, a: Tree, b: Tree, ne: Shape) -> Tree:
    """What others of the graph may still read is copied before."""
    return call(draw(some("add_inplace", "mul_inplace")), call("cont", a), b)


def _product(draw: Draw, a: Tree, b: Tree, ne: Shape) -> Tree:
    return call("mul_mat", leaf(draw(some("f32", "f16")), ne[0], ne[0]), call("cont", a))


def _halves(draw: Draw, a: Tree, b: Tree, ne: Shape) -> Tree:
    """The first half of one beside the rest of the other."""
    half = ne[0] // 2
    if not half:
        return a
    left = call("cut", call("cont", a), (half, *ne[1:]))
    right = call("cut", call("cont", b), (ne[0] - half, *ne[1:]), (half, 0, 0, 0))
    return call("concat", left, right, 0)


def _written(draw: Draw, a: Tree, b: Tree, ne: Shape) -> Tree:
    return call("cpy", a, leaf("f32", *ne))


def _turned(draw: Draw, a: Tree, b: Tree, ne: Shape) -> Tree:
    return call("permute", call("cont", call("permute", a, 0, 2, 1, 3)), 0, 2, 1, 3)
