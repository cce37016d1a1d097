"""Files that are only touched when their content changes, so that nothing is built again for nothing."""

import os
from pathlib import Path


def write_if_changed(path: Path, content: bytes | str) -> bool:
    """Write the file, aside first; False when it had that content already."""
    content = content.encode() if isinstance(content, str) else content
    if path.is_file() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.new")
    aside.write_bytes(content)
    os.replace(aside, path)
    return True
