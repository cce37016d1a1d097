"""Fixtures for all tests. Without a built library they fail with the command that builds it."""

from collections.abc import Iterator

import pytest

import ggml_metal_py as gm


@pytest.fixture(scope="session")
def device() -> Iterator[gm.Device]:
    with gm.open() as opened:
        yield opened


@pytest.fixture
def backend(device: gm.Device) -> Iterator[gm.Backend]:
    with device.backend() as opened:
        yield opened


@pytest.fixture
def context(device: gm.Device) -> Iterator[gm.Context]:
    with device.context() as opened:
        yield opened
