"""softmetal's main part is compiled once for each sanitizer, for all tests of a session."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from native_programs import Builder

from ggml_metal_py.softmetal.toolchain import find_toolchain

MakeProgram = Callable[[Path], Path]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], MakeProgram]:
    """For a sanitizer, what links a test program of native/ with softmetal."""

    @cache
    def compile_softmetal(sanitizer: str) -> MakeProgram:
        if sanitizer == "address" and find_toolchain().kind == "zig":
            pytest.fail("the zig wheel has no runtime of AddressSanitizer: .ci/asan fetches a clang that has")
        builder = Builder(find_toolchain(), tmp_path_factory.mktemp(sanitizer), sanitizer)
        objects = builder.softmetal()
        return lambda source: builder.program(source, objects)

    return compile_softmetal
