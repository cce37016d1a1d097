"""The rules of every getter, by family, from upstream's text. Nothing here calls the library."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f".{_module.name}", __name__)
