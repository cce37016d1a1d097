"""How many CPUs there are for us."""

import os


def usable() -> int:
    """CPUs that this process may use, which may be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
