"""An examiner for all tests here."""

from collections.abc import Iterator

import pytest

import ggml_metal_py as gm
from ggml_metal_py.fuzz import Examiner


@pytest.fixture(scope="package")
def examiner(device: gm.Device) -> Iterator[Examiner]:
    with Examiner(device) as opened:
        yield opened
