"""`python -m ggml_metal_py.dropin SCRIPT|COMMAND|-m MODULE [ARGS]`"""

from __future__ import annotations

import sys

from .launch import CommandNotFound, run

USAGE = "usage: python -m ggml_metal_py.dropin SCRIPT|COMMAND|-m MODULE [ARGS]"


def main() -> None:
    """Run the command of sys.argv. A wrong call exits with status 2, all else with the command's own."""
    command = sys.argv[1:]
    if command in ([], ["-m"]):
        _fail(USAGE)
    try:
        run(command)
    except CommandNotFound as error:
        _fail(str(error))


def _fail(message: str) -> None:
    print(message, file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
