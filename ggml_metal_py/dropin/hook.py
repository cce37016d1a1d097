"""Attaches to a host at the moment its extension module is imported.

Imported in every Python that a launched command starts, so it stays light: nothing native, no numpy.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType

from .hosts import HOSTS


def install() -> None:
    """Attach to every known host: now when it is imported already, else when it will be."""
    modules = {host.module for host in HOSTS}
    if modules & sys.modules.keys():
        _attach()
    if not any(isinstance(finder, _HostFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _HostFinder(modules))


def _attach() -> None:
    from . import summary
    from .attaching import attach

    attach()
    summary.print_at_exit()


class _HostFinder(importlib.abc.MetaPathFinder):
    """Finds host modules where the other finders do, with a loader that attaches afterwards."""

    def __init__(self, modules: set[str]) -> None:
        self.modules = modules

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in self.modules:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _AttachingLoader(spec.loader)
                return spec
        return None


class _AttachingLoader(importlib.abc.Loader):
    def __init__(self, loader: importlib.abc.Loader) -> None:
        self.loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.loader.exec_module(module)
        _attach()

    def __getattr__(self, name: str) -> object:
        return getattr(self.loader, name)  # get_filename, get_data...: what resource readers ask for
