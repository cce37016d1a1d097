"""mul_mat: by one column, by a few, by many; of every type, in stacks that are repeated, of rows apart."""

from collections.abc import Iterator

from ..expression import Call, Leaf, Tree, call, leaf

FLOATS = ("f32", "f16", "bf16")
BLOCKS_32 = ("q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "mxfp4", "iq4_nl")
BLOCKS_128 = ("q1_0",)
BLOCKS_256 = (
    *("q2_k", "q3_k", "q4_k", "q5_k", "q6_k"),
    *("iq2_xxs", "iq2_xs", "iq2_s", "iq3_xxs", "iq3_s", "iq1_s", "iq1_m", "iq4_xs"),
)
QUANTISED = (*BLOCKS_32, *BLOCKS_128, *BLOCKS_256)
ALL_TYPES = (*FLOATS, *QUANTISED)
WITHOUT_KERNELS = ("tq1_0", "tq2_0")
BLOCK = {
    **dict.fromkeys(FLOATS, 1),
    **dict.fromkeys(BLOCKS_32, 32),
    **dict.fromkeys(BLOCKS_128, 128),
    **dict.fromkeys(BLOCKS_256, 256),
}


def cases() -> Iterator[tuple[str, Tree]]:
    for type in ALL_TYPES:
        yield from (("mul_mat", tree) for tree in _vectors(type))
        yield from (("mul_mat", tree) for tree in _few(type))
        yield from (("mul_mat", tree) for tree in _many(type))
        yield from (("mul_mat", tree) for tree in _stacks(type))
    yield from (("mul_mat", tree) for tree in _halves())
    yield from (("mul_mat", tree) for tree in _layouts())
    for type in (*WITHOUT_KERNELS, "i32"):
        for n in (1, 9):
            yield "mul_mat", call("mul_mat", leaf(type, 256, 4), leaf("f32", 256, n))


def _product(type: str, k: int, m: int, n: int) -> Call:
    return call("mul_mat", leaf(type, k, m), leaf("f32", k, n))


def _vectors(type: str) -> Iterator[Call]:
    """One column; or several, where no other kernel takes them: short rows, types without such a kernel."""
    block = BLOCK[type]
    lengths: tuple[int, ...] = (
        1,
        2,
        3,
        4,
        5,
        8,
        16,
        28,
        31,
        32,
        33,
        36,
        63,
        64,
        100,
        127,
        132,
        260,
        512,
        1027,
    )
    if block > 1:
        lengths = tuple(block * blocks for blocks in (1, 2, 3, 4, 5, 9, 17) if block * blocks <= 2304)
    for k in lengths:
        yield _product(type, k, 7, 1)
    k = max(block, 32)
    for m in (1, 2, 3, 4, 5, 8, 16, 17, 31, 33, 65):
        yield _product(type, k, m, 1)
        yield _product(type, k * 3, m, 1)
    for k in (3, 4, 30, 60) if block == 1 else (32,) if block == 32 else ():
        for n in (2, 3, 8, 9, 33):
            yield _product(type, k, 5, n)
    for n in (2, 3, 5):
        yield _product(type, 256 if block == 256 else 3 * block * 32 // min(block, 32), 6, n)


def _few(type: str) -> Iterator[Call]:
    """2 to 8 columns and rows of whole 128s."""
    for n in range(2, 9):
        yield _product(type, 256, 17, n)
        yield _product(type, 768, 9, n)
        if BLOCK[type] < 256:
            yield _product(type, 128, 33, n)
            yield _product(type, 384, 3, n)
    for m in (1, 4, 8, 16, 31):
        yield _product(type, 256, m, 4)
        yield _product(type, 256, m, 2)


def _many(type: str) -> Iterator[Call]:
    """Tiles of 64 x 32."""
    block = BLOCK[type]
    k = max(block, 64)
    for m in (1, 31, 33, 64, 65, 128):
        for n in (9, 32, 33, 64):
            yield _product(type, k, m, n)
    for n in (10, 16, 31, 40, 65):
        yield _product(type, 2 * k, 64, n)
    if block == 1:
        for k in (65, 66, 68, 72, 95, 96, 100, 127, 129, 250):
            yield _product(type, k, 33, 17)
            yield _product(type, k, 64, 32)
    if block == 32:
        yield _product(type, 96, 33, 17)
        yield _product(type, 160, 64, 32)


def _stacks(type: str) -> Iterator[Call]:
    """Matrices of src0 are repeated to those of src1."""
    k = max(BLOCK[type], 128)
    for n in (1, 3, 5, 17):
        yield call("mul_mat", leaf(type, k, 9, 2, 3), leaf("f32", k, n, 2, 3))
        yield call("mul_mat", leaf(type, k, 9, 2, 1), leaf("f32", k, n, 6, 2))
        yield call("mul_mat", leaf(type, k, 9), leaf("f32", k, n, 3, 2))
    if BLOCK[type] <= 32:
        for n in (1, 2, 9):
            yield call("mul_mat", leaf(type, 32, 9, 2, 1), leaf("f32", 32, n, 6, 2))


def _halves() -> Iterator[Call]:
    """src1 of 16 bits: kernels by tiles for every type, by columns for two."""
    for type in ALL_TYPES:
        k = max(BLOCK[type], 64)
        for m, n in ((33, 9), (64, 32), (65, 33)):
            yield call("mul_mat", leaf(type, k, m), leaf("f16", k, n))
        yield call("mul_mat", leaf(type, k, 5, 2), leaf("f16", k, 17, 4, 2))
    for type in ("f16", "bf16"):
        for k in (3, 4, 31, 32, 33, 64, 68, 129, 256):
            for n in (1, 3, 8):
                yield call("mul_mat", leaf(type, k, 7), leaf(type, k, n))
    for a, b, n in (("f32", "f16", 1), ("q8_0", "f16", 1), ("q4_k", "f16", 4), ("f16", "bf16", 1)):
        yield call("mul_mat", leaf(a, 256, 7), leaf(b, 256, n))
    yield call("mul_mat", leaf("bf16", 64, 33), leaf("bf16", 64, 32))


def _layouts() -> Iterator[Call]:
    for type in ("f32", "f16", "bf16", "q8_0", "q4_0"):
        for n in (1, 3, 17):
            yield from (call("mul_mat", a, b) for a, b in _laid_out(type, n))


def _laid_out(type: str, n: int) -> Iterator[tuple[Leaf | Call, Leaf | Call]]:
    b = leaf("f32", 128, n)
    yield call("cut", leaf(type, 192, 11), (128, 9), (32, 1)), b
    yield leaf(type, 128, 9), call("cut", leaf("f32", 136, n + 2), (128, n), (4, 1))
    # As attention does: heads between the values of one token.
    stacked = leaf("f32", 128, n, 4)
    yield call("permute", leaf(type, 128, 4, 9), 0, 2, 1, 3), stacked
    yield leaf(type, 128, 9, 4), call("permute", leaf("f32", 128, 4, n), 0, 2, 1, 3)
    yield call("permute", leaf(type, 128, 2, 9), 0, 2, 1, 3), stacked
    if type in FLOATS:
        yield call("cut", leaf(type, 131, 11), (127, 9), (1, 1)), leaf("f32", 127, n)
        yield leaf(type, 128, 9), call("cut", leaf("f32", 131, n + 2), (128, n), (1, 1))
