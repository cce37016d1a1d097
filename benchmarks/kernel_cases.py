"""What benchmarks/kernels.py measures: ops in the shapes of whisper-tiny and of a 7B llama.

A shape is numpy's. An aim is how many times as long as ggml's CPU backend the device may take, with one
thread each; `sketch` is what the first sketch of softmetal took, on another day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import ggml_metal_py as gm
from ggml_metal_py import ops

Sources = tuple[gm.Tensor, ...]


@dataclass(frozen=True)
class Family:
    """Kernels that share an aim."""

    aim: float
    sketch: str


MATRIX = Family(2, "2.1-2.6")
ELEMENTWISE = Family(4, "4-6")
ATTENTION = Family(5, "4-6")
NORM = Family(10, "27")
VECTOR = Family(15, "6-150")


@dataclass(frozen=True)
class Case:
    """An op: its sources, made once, and a node that can be made of them any number of times."""

    name: str
    family: Family
    sources: Callable[[gm.Context], Sources]
    node: Callable[..., gm.Tensor]


def cases() -> Iterator[Case]:
    """All cases: first Whisper's, then the llama's."""
    yield from _whisper()
    yield from _llama()


def _whisper() -> Iterator[Case]:
    yield _product("f16", 1536, 384, 1500, MATRIX)
    yield _product("f16", 384, 384, 1, VECTOR)
    yield _product("f16", 51864, 384, 1, VECTOR)
    yield Case("norm 1500x384", NORM, _random((1500, 384)), ops.norm)
    yield Case("add 1500x384 + 384", ELEMENTWISE, _random((1500, 384), (384,)), ops.add)
    yield Case("gelu 1500x1536", ELEMENTWISE, _random((1500, 1536)), ops.gelu)
    yield Case("soft_max 6x1500x1500", ELEMENTWISE, _random((6, 1500, 1500)), ops.soft_max)
    yield _attention(heads=6, kv_heads=6, size=64, queries=1500, keys=1500)
    yield _attention(heads=6, kv_heads=6, size=64, queries=1, keys=1500)
    yield _copy("cpy 1500x384 f32 to f16", (1500, 384), "f16")


def _llama() -> Iterator[Case]:
    for type in ("q4_0", "q8_0", "f16"):
        yield _product(type, 4096, 4096, 1, VECTOR)
    for type in ("q4_0", "q8_0", "f16"):
        yield _product(type, 1024, 4096, 128, MATRIX)
    yield Case("rms_norm 64x4096", NORM, _random((64, 4096)), ops.rms_norm)
    yield Case("rope 64x32x128", ELEMENTWISE, _rope_sources, _rope)
    yield Case("soft_max 32x64x512", ELEMENTWISE, _random((32, 64, 512)), ops.soft_max)
    yield _attention(heads=32, kv_heads=8, size=128, queries=64, keys=512)
    yield _attention(heads=32, kv_heads=8, size=128, queries=1, keys=512)
    yield Case("silu 64x11008", ELEMENTWISE, _random((64, 11008)), ops.silu)
    yield Case("swiglu 64x11008", ELEMENTWISE, _random((64, 11008), (64, 11008)), _swiglu)
    yield Case("add 64x4096", ELEMENTWISE, _random((64, 4096), (64, 4096)), ops.add)
    yield Case("mul 64x4096", ELEMENTWISE, _random((64, 4096), (64, 4096)), ops.mul)
    yield Case("get_rows q4_0 64 of 2048x4096", ELEMENTWISE, _rows_sources, ops.get_rows)
    yield _copy("cpy 64x4096 f32 to f16", (64, 4096), "f16")


def _values(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.random.default_rng(len(shape)).standard_normal(shape, dtype=np.float32)


def _random(*shapes: tuple[int, ...]) -> Callable[[gm.Context], Sources]:
    return lambda context: tuple(context.from_numpy(_values(*shape)) for shape in shapes)


def _product(type: str, rows: int, k: int, columns: int, family: Family) -> Case:
    def sources(context: gm.Context) -> Sources:
        return context.from_numpy(_values(rows, k), type), context.from_numpy(_values(columns, k))

    return Case(f"mul_mat {type} {rows}x{k} by {columns}", family, sources, ops.mul_mat)


def _attention(*, heads: int, kv_heads: int, size: int, queries: int, keys: int) -> Case:
    def sources(context: gm.Context) -> Sources:
        q = context.from_numpy(_values(1, heads, queries, size))
        k, v = (context.from_numpy(_values(1, kv_heads, keys, size), "f16") for _ in range(2))
        mask = context.from_numpy(np.zeros((1, 1, queries, keys), np.float32), "f16")
        return q, k, v, mask

    def node(q: gm.Tensor, k: gm.Tensor, v: gm.Tensor, mask: gm.Tensor) -> gm.Tensor:
        return ops.flash_attn_ext(q, k, v, mask, size**-0.5)

    return Case(
        f"flash_attn {heads} heads of {size}, {queries} queries, {keys} keys", ATTENTION, sources, node
    )


def _copy(name: str, shape: tuple[int, ...], type: str) -> Case:
    return Case(name, ELEMENTWISE, _random(shape), lambda a: ops.cpy(a, a.context.new_tensor(type, shape)))


def _rows_sources(context: gm.Context) -> Sources:
    rows = np.arange(64, dtype=np.int32) * 31
    return context.from_numpy(_values(2048, 4096), "q4_0"), context.from_numpy(rows)


def _rope_sources(context: gm.Context) -> Sources:
    return context.from_numpy(_values(64, 32, 128)), context.from_numpy(np.arange(64, dtype=np.int32))


def _rope(a: gm.Tensor, positions: gm.Tensor) -> gm.Tensor:
    return ops.apply("rope", a, positions, 128, 0)


def _swiglu(a: gm.Tensor, b: gm.Tensor) -> gm.Tensor:
    return ops.apply("swiglu_split", a, b)
