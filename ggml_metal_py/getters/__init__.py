"""The mirrors of `ggml_metal_library_get_pipeline_*`, by family. `library.Library` is all of them."""

from .elementwise import ElementwiseGetters

__all__ = ["AllGetters"]


class AllGetters(
    ElementwiseGetters,
):
    """Every getter of every row."""
