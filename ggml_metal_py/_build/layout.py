"""Where a row's files lie: its unpacked sources, its objects, its artifacts."""

import os
from dataclasses import dataclass
from pathlib import Path

from .manifest import ROOT, Row


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
    def generated(self) -> Path:
        """What decl/ generates from the row's headers, and the embedded Metal sources."""
        return self.objects / "generated"

    @property
    def artifacts(self) -> Path:
        """`ggml_metal_py/lib/ROW`; `GGML_METAL_PY_LIB` overrides the folder before ROW."""
        lib = os.environ.get("GGML_METAL_PY_LIB")
        return (Path(lib).absolute() if lib else Path("ggml_metal_py", "lib")) / self.row.name
