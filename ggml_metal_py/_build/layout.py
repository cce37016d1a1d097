"""Where a row's files lie: its unpacked sources, its objects, its artifacts."""

import os
from dataclasses import dataclass
from pathlib import Path

from ..softmetal.toolchain import Toolchain
from .manifest import ROOT, Row

SOFTMETAL_OBJECTS = Path("build", "softmetal")
"""softmetal's objects, which every row's library takes; relative to the checkout."""
SOFTMETAL_LOCK = Path("build", ".softmetal.lock")


@dataclass(frozen=True)
class Layout:
    """The folders of one row. Inside the checkout paths are relative to `root`, where the build runs, so
    that no compiled file depends on where the checkout is."""

    row: Row
    root: Path = ROOT

    @property
    def upstream(self) -> Path:
        return Path("build", "upstream", self.row.name)

    @property
    def objects(self) -> Path:
        return Path("build", self.row.name)

    @property
    def lock(self) -> Path:
        """Held by whoever unpacks or builds the row: neither tar nor ninja minds another one."""
        return Path("build", f".{self.row.name}.lock")

    @property
    def generated(self) -> Path:
        """What decl/ generates from the row's headers, and the embedded Metal sources."""
        return self.objects / "generated"

    @property
    def suite(self) -> Path:
        """Upstream's own test program and its objects, for rows that carry it."""
        return self.objects / "check-upstream"

    @property
    def version_header(self) -> Path:
        """Defines GGML_VERSION and GGML_COMMIT."""
        return self.generated / "ggml-version.h"

    @property
    def artifacts(self) -> Path:
        """`ggml_metal_py/lib/ROW`; `GGML_METAL_PY_LIB` overrides the folder before ROW."""
        lib = os.environ.get("GGML_METAL_PY_LIB")
        return (Path(lib).absolute() if lib else Path("ggml_metal_py", "lib")) / self.row.name

    def library_name(self, toolchain: Toolchain) -> str:
        """File name and SONAME of the row's library, in `artifacts`."""
        return f"libggml-metal-py-{self.row.name}.{'dylib' if toolchain.kind == 'apple' else 'so'}"

    @property
    def metallib(self) -> Path | None:
        """The row's compiled Metal library as it was unpacked; it is copied beside the row's library."""
        name = self.row.metallib
        return self.upstream / "metallib" / Path(name).name if name else None

    @property
    def extension_name(self) -> str:
        """File name of the row's cffi extension, in `artifacts`; the module is called `_gmpy_ROW_`."""
        return f"_gmpy_{self.row.identifier}_.abi3.so"
