"""Draws for matrix products by tiles."""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..draws import Arguments, Draw, blocks_near, draws, leaf, near, one_of
from ..recipes import Recipe, changed, op, tensor
from ..rows import Row
from ..tensor_types import types_of

# ne02, ne03 and how often src1 repeats them; the last ones are around what fits into 16 bits.
BATCHES = one_of(
    *[(1, 1, 1, 1)] * 10,
    (1, 1, 2, 1),
    (2, 3, 1, 1),
    (2, 1, 4, 3),
    (3, 2, 2, 5),
    (1, 1, 2**15 - 1, 1),
    (1, 1, 2**15, 1),
    (2, 1, 2**14, 1),
    (1, 1, 1, 2**15 - 1),
    (1, 1, 1, 2**15),
    (1, 2**15, 1, 1),
)
SRC1_TYPES = one_of(*["f32"] * 12, "f16", "f16", "bf16", "i32")
# A third of them have the kernels that depend on the length of rows; those without kernels are rare.
SRC0_WITHOUT = {"i8", "i16", "i32", "i64", "f64", "q8_1", "q8_K", "tq1_0"}


def source_types(row: Row) -> SearchStrategy[str]:
    types = types_of(row)
    with_kernels = [type for type in types if type not in SRC0_WITHOUT]
    return one_of(*["f32", "f16", "bf16"] * 8, *types, *with_kernels * 2)


def product(
    draw: Draw, row: Row, rows_a: SearchStrategy[int], rows_b: SearchStrategy[int], *ks: int
) -> Recipe:
    """A mul_mat of any types; ks are the row lengths of interest."""
    type = draw(source_types(row))
    k, m, n = draw(blocks_near(type, *ks)), draw(rows_a), draw(rows_b)
    ne02, ne03, r2, r3 = draw(BATCHES)
    a = leaf(draw, type, (k, m, ne02, ne03), rows=True)
    b = leaf(draw, draw(SRC1_TYPES), (k, n, ne02 * r2, ne03 * r3))
    return op("mul_mat", a, b)


def product_of_experts(draw: Draw, row: Row, *ks: int) -> Recipe:
    """A mul_mat_id: experts, how many of them each token uses, tokens."""
    type = draw(source_types(row))
    k, m = draw(blocks_near(type, *ks)), draw(near())
    experts, used, places, tokens = draw(one_of((4, 2, 1, 3), (1, 1, 1, 1), (8, 6, 3, 2), (128, 8, 8, 33)))
    a = leaf(draw, type, (k, m, experts), rows=True)
    b = leaf(draw, draw(SRC1_TYPES), (k, places, tokens))
    return op("mul_mat_id", a, b, tensor("i32", used, tokens))


@draws("mul_mm")
def mul_mm(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        return (product(draw, row, near(64, 128), near(32, 64, 128), 32, 64, 1024),)

    return arguments()


@draws("mul_mm_id")
def mul_mm_id(row: Row) -> SearchStrategy[Arguments]:
    @st.composite
    def arguments(draw: Draw) -> Arguments:
        made = product_of_experts(draw, row, 32, 64)
        precision = draw(one_of(None, 0, 10, 9))
        return (made if precision is None else changed(made, params={3: precision}),)

    return arguments()


@draws("mul_mm_id_map0")
def mul_mm_id_map0(row: Row) -> SearchStrategy[Arguments]:
    experts = near(16, 32, 64, 128, 256, 512, 1024)
    return st.tuples(experts, one_of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16, 17, 22, 31, 32, 33, 64))


@draws("mul_mm_id_amax")
def mul_mm_id_amax(row: Row) -> SearchStrategy[Arguments]:
    return st.just(())


@draws("mul_mm_id_amax_part")
def mul_mm_id_amax_part(row: Row) -> SearchStrategy[Arguments]:
    return st.just(())
