"""No constructor of an op ends the process, whatever it is given; and what a refused one leaves behind."""

import numpy as np
import pytest
from fresh_python import ROOT, run_python

import ggml_metal_py as gm
from ggml_metal_py.getters.rows import ROWS

LEAST_CALLS = 40_000


def abuse(row: str, draws: int) -> None:
    script = f"""
        import sys
        sys.path.insert(0, {str(ROOT / "tests")!r})
        import ops_abuse
        print(ops_abuse.abuse({row!r}, draws={draws}))
    """
    done = run_python(script, timeout=300)
    *names, last = done.stdout.split()
    assert done.returncode == 0, f"{row}: {last} ended with {done.returncode}\n{done.stderr}"
    assert int(last) > LEAST_CALLS
    assert len(names) > 200


def test_odd_arguments_are_refused_and_the_process_lives() -> None:
    abuse("pywhispercpp-1.5.1", draws=8)


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS)
def test_odd_arguments_are_refused_and_the_process_lives_on_every_row(row: str) -> None:
    abuse(row, draws=200)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("win_part", (0,), "argument 2 must be at least 1, not 0"),
        ("win_part", (2**31,), r"argument 2 is -2147483648\.\.2147483647, not 2147483648"),
        ("win_part", (1.5,), "argument 2 is a whole number, not 1.5"),
        ("pad", (2**31 - 1,) * 4, "the result would have the lengths"),
        (
            "view_2d",
            (4, 4, 2**62, 0),
            "the result would end at byte 13835058055282163728 of a tensor with 64",
        ),
        ("view_1d", (-1, 0), "lengths|GGML_ASSERT"),
    ],
)
def test_a_refusal_names_argument_and_reason(
    name: str, arguments: tuple[object, ...], message: str, context: gm.Context
) -> None:
    with pytest.raises((ValueError, TypeError, gm.GgmlAbort), match=message):
        gm.ops.apply(name, context.new_tensor("f32", (4, 4)), *arguments)


def test_a_list_is_not_a_tensor(context: gm.Context) -> None:
    with pytest.raises(TypeError, match="argument 1 is a Tensor, not"):
        gm.ops.apply("gelu", [], context=context)


def test_a_window_that_leaves_its_tensor_is_refused(context: gm.Context) -> None:
    a, b = context.new_tensor("f32", (4, 4)), context.new_tensor("f32", (3, 4))
    assert gm.ops.apply("acc", a, b, 16, 16, 16, 16).op == "ACC"
    with pytest.raises(ValueError, match="the window would end at byte 68 of a tensor with 64 bytes"):
        gm.ops.apply("acc", a, b, 16, 16, 16, 20)


def test_strides_that_upstream_cuts_to_32_bits_are_refused(context: gm.Context) -> None:
    # An upstream finding: up to 0.20.2, ggml_permute holds lengths and strides in int.
    long = context.new_tensor("f32", (3, 2**31))
    with pytest.raises(ValueError, match="cuts lengths and strides"):
        gm.ops.permute(long, (1, 0))


def test_a_source_whose_memory_was_another_contexts_must_be_open(device: gm.Device) -> None:
    with device.context() as context:
        with device.context() as closed:
            view = gm.ops.apply("view_1d", closed.new_tensor("f32", (4,)), 4, 0, context=context)
        with pytest.raises(gm.ClosedError):
            gm.ops.apply("view_1d", view, 2, 0)


def test_a_refused_op_takes_no_memory(context: gm.Context, backend: gm.Backend) -> None:
    data = context.from_numpy(np.ones((1, 4, 2**20), np.float32))
    kernel = gm.ops.permute(context.new_tensor("f16", (64, 3, 4)), (0, 2, 1))
    before = context._count
    with pytest.raises(gm.GgmlAbort, match="ggml_is_contiguous"):
        gm.ops.conv_1d(kernel, data)
    assert context._count > before
    assert backend.alloc(context).size < 2 * data.nbytes
    with pytest.raises(ValueError, match="lengths"):
        gm.ops.apply("pad", data, *[2**31 - 1] * 4)
    with pytest.raises(ValueError, match="every tensor of the context has memory already"):
        backend.alloc(context)
    result = gm.ops.scale(data, 2.0)
    backend.alloc(context)
    backend.compute(result)
    np.testing.assert_array_equal(result.numpy(), 2)


def test_odd_views_have_values(context: gm.Context, backend: gm.Backend) -> None:
    base = context.from_numpy(np.arange(8, dtype=np.float32))
    row = gm.ops.apply("view_2d", base, 4, 1, 2**64 - 1, 8)
    repeated = gm.ops.apply("view_2d", base, 2, 3, 0, 4)
    nothing = gm.ops.apply("view_3d", base, 4, 2, 0, 2**63, 16, 0)
    backend.alloc(context)
    np.testing.assert_array_equal(row.numpy(), [2, 3, 4, 5])
    np.testing.assert_array_equal(repeated.numpy(), [[1, 2]] * 3)
    assert nothing.numpy().shape == nothing.shape == (0, 2, 4)


def test_parts_of_blocks_have_no_values(context: gm.Context, backend: gm.Backend) -> None:
    total = gm.ops.apply("sum", context.from_numpy(np.ones((2, 32)), "q4_0"))
    backend.alloc(context)
    with pytest.raises(ValueError, match="not whole blocks of 32"):
        total.numpy()
