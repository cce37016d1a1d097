"""Tests of ggml_metal_py.fuzz."""
