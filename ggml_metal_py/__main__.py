"""`python -m ggml_metal_py`: the command line."""

from .cli import main

main(prog_name="ggml-metal-py")
