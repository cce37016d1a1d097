"""Texts of graphs: what they mean, that they come back, and what is said of those that mean nothing."""

import pytest

from ggml_metal_py.check import Case, all_cases
from ggml_metal_py.check.expression import Call, Leaf, call, leaf, names, nodes, parse


def test_a_text_is_a_tree() -> None:
    tree = parse("scale_bias(add(f32(8, 2), f16(8, low=-2.5, high=3)), -0.5, 1e-3)")
    assert isinstance(tree, Call)
    assert tree.name == "scale_bias"
    assert tree.arguments[1:] == (-0.5, 1e-3)
    a, b, total, result = nodes(tree)
    assert isinstance(a, Leaf)
    assert isinstance(b, Leaf)
    assert (a.type, a.ne) == ("f32", (8, 2))
    assert b.options == {"low": -2.5, "high": 3}
    assert (total, result) == (tree.arguments[0], tree)
    assert names(tree) == {"add", "scale_bias"}


@pytest.mark.parametrize(
    "text",
    [
        "add(f32(8, 2), f32(8))",
        "soft_max_ext(f32(64, 3), None, 0.5, 0.0)",
        "rope_multi(f32(64, 2, 7), i32(28, high=500), None, 64, [8, 12, 12, 0], 8, 512, 10000.0)",
        "cut(i32(8, 5, fill='distinct', high=8), [4, 3], [2, 1])",
        "add((x := f32(8)), mul(x, f32(8)))",
        "add(mul((x := norm((x1 := f32(8)), 1e-05)), x1), x)",
        "solve_tri(f32(4, 4), f32(2, 4), True, True, False)",
        "pool_1d(f32(9), 'avg', 2, 2, -0.0)",
    ],
)
def test_a_text_comes_back(text: str) -> None:
    tree = parse(text)
    again = parse(str(tree))
    assert str(again) == str(tree)
    assert len(list(nodes(again))) == len(list(nodes(tree)))


def test_the_same_object_is_the_same_tensor() -> None:
    x = leaf("f32", 8)
    shared, apart = call("add", x, x), call("add", leaf("f32", 8), leaf("f32", 8))
    assert str(shared) == "add((x := f32(8)), x)"
    assert str(apart) == "add(f32(8), f32(8))"


def test_every_case_comes_back_from_its_text() -> None:
    for case in all_cases():
        assert str(parse(case.text)) == case.text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("add(f32(8,", "no expression"),
        ("", "no expression"),
        ("3", "makes no tensor"),
        ("add(f32(8), y)", "nothing is named 'y'"),
        ("f32(8.5)", "whole number"),
        ("add(f32(8), low=3)", "takes no words"),
        ("f32(8)[0]", "no value"),
        ("add(f32(8), __import__('os').system('true'))", "no value"),
        ("f32(8, *x)", "no value"),
    ],
)
def test_what_means_nothing_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Case.of(text)
