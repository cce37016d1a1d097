"""Strategies that draw a getter's arguments, by family.

    @draws("mul_mm")
    def mul_mm(row: Row) -> SearchStrategy[tuple]:

draws the arguments of `library.get_pipeline_mul_mm` in the order of the newest row, tensors as Recipes.
"""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f".{_module.name}", __name__)
