"""Run by Python's `site` in every Python that a command launched by ggml_metal_py.dropin starts.

The launcher puts this file's folder in front of PYTHONPATH. It shadows a sitecustomize of the user's,
which is therefore run first.
"""

import importlib
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _here]

_ours = sys.modules.pop("sitecustomize", None)
try:
    importlib.import_module("sitecustomize")  # the user's own, now that our folder is off the path
except ModuleNotFoundError as error:
    if error.name != "sitecustomize":
        raise
finally:
    if _ours is not None:
        sys.modules.setdefault("sitecustomize", _ours)

try:
    from ggml_metal_py.dropin import hook
except ModuleNotFoundError:
    pass  # another interpreter, where ggml_metal_py is not installed
else:
    hook.install()
