"""The line that a launched program leaves behind: what of it ran on the device."""

from __future__ import annotations

import atexit
import json
import os
import sys

from . import counters

WANTED = "GGML_METAL_PY_SUMMARY"
"""Environment variable: `text` or `json` asks for the line at the end of each process that attached."""


def print_at_exit() -> None:
    """Print the line on standard error when this process ends, if the environment asks for it."""
    if os.environ.get(WANTED):
        atexit.register(_print)


def _print() -> None:
    if any(native.forked for native in counters.watched()):
        return  # a child of fork(): what it would tell is its parent's
    ran = counters.read()
    values = {
        "graphs": ran.device_graphs,
        "nodes": {"device": ran.device_nodes, "cpu": ran.cpu_nodes},
        "pipelines": len(ran.dispatches),
    }
    text = (
        f"ggml-metal-py: {ran.device_graphs} graphs and {ran.device_nodes} nodes ran on the Metal device, "
        f"{ran.cpu_nodes} nodes on the CPU backend"
    )
    print(json.dumps(values) if os.environ[WANTED] == "json" else text, file=sys.stderr)
