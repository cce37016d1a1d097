"""A pytest plugin: fixtures `metal_device`, `metal_backend`, `metal_context`, markers, `--metal-checked`.

Without a library, tests that use them fail and say what builds it; they are never skipped. Nothing is loaded
before the first of them runs.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ..backend import Backend
    from ..device import Device
    from ..tensor import Context

_MARKERS = (
    "metal_upstream(row): the upstream row that `metal_device` opens for this test",
    "metal_fuzz: draws cases by hypothesis and runs them on the device; may take long",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options."""
    group = parser.getgroup("metal", "ggml's Metal backend (ggml_metal_py)")
    group.addoption(
        "--metal-checked",
        action="store_true",
        help="open `metal_device` in checked mode: a kernel's faults of memory and order fail the test",
    )
    group.addoption("--metal-upstream", metavar="ROW", help="the upstream row that `metal_device` opens")


def pytest_configure(config: pytest.Config) -> None:
    """Markers."""
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)


@pytest.fixture
def metal_device(request: pytest.FixtureRequest) -> "Iterator[Device]":
    """A device of ggml's Metal backend. The test fails, and says why, when there is none."""
    import ggml_metal_py as gm

    marker = request.node.get_closest_marker("metal_upstream")
    row = marker.args[0] if marker else request.config.getoption("--metal-upstream")
    try:
        opened = gm.open(row, checked=request.config.getoption("--metal-checked"))
    except (gm.GgmlMetalError, ValueError) as error:
        pytest.fail(f"metal_device: {error}", pytrace=False)
    with opened:
        yield opened


@pytest.fixture
def metal_backend(metal_device: "Device") -> "Iterator[Backend]":
    """A Backend of `metal_device`. With --metal-checked the test fails for what kernels do wrong."""
    if not metal_device.checked:
        with metal_device.backend() as backend:
            yield backend
        return
    from .checked_backend import CheckedBackend

    with CheckedBackend(metal_device) as checked:
        yield checked
    if checked.reports:
        pytest.fail("\n".join(map(str, checked.reports)), pytrace=False)


@pytest.fixture
def metal_context(metal_device: "Device") -> "Iterator[Context]":
    """An empty Context of `metal_device`."""
    with metal_device.context() as context:
        yield context
