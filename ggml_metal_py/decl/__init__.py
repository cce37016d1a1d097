"""What the binding declares: the names we bind, the generator, and the native code at the boundary.

Runs at build time. Nothing here is imported by `import ggml_metal_py`.
"""
