"""The Metal source as upstream embeds it: headers merged into the .metal files, byte for byte.

Upstream's CMake does this with cat and sed (ggml-metal/CMakeLists.txt); a macOS build of the same version
holds the same bytes.
"""

from pathlib import Path

# Headers of the kernels/ folder in the order in which upstream puts them before a source that names them.
KERNEL_HEADERS = ("common.h", "dequantize.h", "quantize.h", "fa_common.metal", "fa_vec_common.metal")


def embedded_sources(src: Path) -> dict[str, bytes]:
    """What upstream finds between the symbols STEM_start and STEM_end, by stem.

    Up to ggml 0.20 that is `ggml_metallib` alone; later one for each kernels/*.metal. Nothing where the
    package has no Metal source.
    """
    common = (src / "ggml-common.h").read_bytes()
    impl = (src / "ggml-metal" / "ggml-metal-impl.h").read_bytes()

    def merge(text: bytes) -> bytes:
        text = _replace_lines(text, b"__embed_ggml-common.h__", common)
        return _replace_lines(text, b'#include "ggml-metal-impl.h"', impl)

    kernels = src / "ggml-metal" / "kernels"
    if kernels.is_dir():
        return {
            f"ggml_metallib_{path.stem.replace('-', '_')}": merge(_with_headers(path))
            for path in sorted(kernels.glob("*.metal"))
            if path.name not in KERNEL_HEADERS
        }
    single = src / "ggml-metal" / "ggml-metal.metal"
    return {"ggml_metallib": merge(single.read_bytes())} if single.is_file() else {}


def _with_headers(path: Path) -> bytes:
    text = path.read_bytes()
    included = [
        path.with_name(name) for name in KERNEL_HEADERS if name == "common.h" or _include(name) in text
    ]
    joined = b"".join(header.read_bytes() for header in included) + text
    for line in (*map(_include, KERNEL_HEADERS), b"#pragma once"):
        joined = _replace_lines(joined, line, b"")
    return joined


def _include(name: str) -> bytes:
    return f'#include "{name}"'.encode()


def _replace_lines(text: bytes, mark: bytes, content: bytes) -> bytes:
    """Whole lines that hold the mark become the content, as with sed's commands r and d."""
    return b"".join(content if mark in line else line for line in text.splitlines(keepends=True))
