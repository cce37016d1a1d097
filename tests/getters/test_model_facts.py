"""What the model takes for granted is so: types, contiguity, host names."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .calls import device_of
from .draws import Draw, blocks_near, leaf, one_of
from .host_names import host_names
from .recipes import Recipe, realise
from .rows import Row
from .tensor_types import TYPES, types_of
from .views import view_of

ROWS = pytest.mark.parametrize("row", Row, ids=lambda row: row.upstream)


@ROWS
def test_types_are_as_the_row_has_them(row: Row) -> None:
    native = device_of(row)._native
    known = [number for number in range(native.GGML_TYPE_COUNT) if native.ggml_type_size(number)]
    assert known == [TYPES[name].number for name in types_of(row)]
    for name in types_of(row):
        known = TYPES[name]
        assert native.text(native.ggml_type_name(known.number)) == name
        assert native.ggml_blck_size(known.number) == known.block
        assert native.ggml_type_size(known.number) == known.bytes


@st.composite
def tensors(draw: Draw, row: Row) -> Recipe:
    type = draw(one_of("f32", "f16", "q4_0", "q6_K", *types_of(row)))
    ne = [draw(one_of(1, 1, 2, 3)) for _ in range(3)]
    return leaf(draw, type, (draw(blocks_near(type, 4)), *ne))


@ROWS
def test_contiguity_is_as_the_row_has_it(row: Row) -> None:
    device = device_of(row)
    native = device._native

    @settings(max_examples=200, deadline=None)
    @given(tensors(row))
    def agree(recipe: Recipe) -> None:
        with device.context(tensors=8) as context:
            tensor = realise(recipe, context)
            view, pointer = view_of(tensor), tensor._use()
            said: list[Any] = [view.is_contiguous, view.is_contiguous_1(row), view.is_contiguous_rows]
            suffixes = ("", "_1", "_rows")
            assert said == [getattr(native, f"ggml_is_contiguous{suffix}")(pointer) for suffix in suffixes]
            assert view.nelements == native.ggml_nelements(pointer)
            assert view.nrows == native.ggml_nrows(pointer)

    agree()


@ROWS
def test_the_sources_declare_the_kernels_that_the_library_has(row: Row) -> None:
    counts = device_of(row).kernel_counts()
    assert counts["declared"] == len(host_names(row))
