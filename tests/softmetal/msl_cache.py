"""One use of the cache with a builder that makes nothing, in a process of its own; for test_msl_cache.py.

    python msl_cache.py ROOT SOURCE FUNCTION [SECONDS [BYTES]]

The builder notes in the file `log` beside ROOT that it began and ended, takes its time, and leaves a file of
that size.
"""

import sys
import time
from pathlib import Path
from typing import Any

from ggml_metal_py.softmetal.msl import cache, store
from ggml_metal_py.softmetal.msl.build import Source, Wanted

VERSION = "00000000000000aa"


def main(root: Path, source: str, function: str, seconds: float = 0, size: int = 0) -> None:
    def note(word: str) -> None:
        with (root.parent / "log").open("a") as log:
            log.write(f"{word} {function}\n")

    def build(
        source: Source,
        folder: Path,
        toolchain: Any,
        work: Path,
        wanted: Wanted,
        *,
        jobs: int,
        shelf: Path | None,
    ) -> None:
        note("began")
        (work / "file").write_bytes(bytes(size))
        time.sleep(seconds)
        store.publish(work / "file", wanted.file(folder, source.key))
        note("ended")

    cache.build_source = build  # type: ignore[assignment]
    cache.version = lambda toolchain: VERSION
    read = Source(source.encode(), {}, "source", root)
    print(cache.build_in_cache(root, read, None, Wanted(function=function)))  # type: ignore[arg-type]


if __name__ == "__main__":
    words = sys.argv[4:]
    main(
        Path(sys.argv[1]),
        sys.argv[2],
        sys.argv[3],
        *(float(w) for w in words[:1]),
        *(int(w) for w in words[1:]),
    )
