"""Tests of ggml_metal_py.check, and of the kernels that it cannot reach."""
