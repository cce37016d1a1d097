"""Which names of the upstream headers are bound. The only list to edit when something new is needed.

Prototypes, struct layouts and enum values are not repeated here: the generator reads them from the row's
own headers. A name that a row does not have is left out, and using it raises NotInUpstream.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Header:
    """One header and the functions bound from it, as fnmatch patterns.

    `guarded` functions may reach GGML_ASSERT or GGML_ABORT and are called through the abort guard.
    """

    name: str
    functions: tuple[str, ...]
    skip: tuple[str, ...] = ()
    guarded: bool = True
    softmetal_only: bool = False


HEADERS = (
    Header(
        "ggml.h",
        functions=("ggml_*",),
        skip=(
            # ours: the guard owns the abort callback and the log callback
            "ggml_abort",
            "ggml_set_abort_callback",
            "ggml_log_*",
            # a Python callback would run on a native thread
            "ggml_map_custom*",
            "ggml_custom_*",
            # write to stdout or to a FILE
            "ggml_print_*",
            "ggml_graph_print",
            "ggml_graph_dump_dot",
            "ggml_fopen",
        ),
    ),
    Header(
        "ggml-alloc.h",
        functions=(
            "ggml_backend_alloc_ctx_tensors*",
            "ggml_gallocr_new",
            "ggml_gallocr_free",
            "ggml_gallocr_reserve",
            "ggml_gallocr_alloc_graph",
            "ggml_gallocr_get_buffer_size",
        ),
    ),
    Header(
        "ggml-backend.h",
        functions=(
            "ggml_backend_buft_*",
            "ggml_backend_buffer_*",
            "ggml_backend_name",
            "ggml_backend_free",
            "ggml_backend_synchronize",
            "ggml_backend_graph_compute",
            "ggml_backend_graph_compute_async",
            "ggml_backend_get_default_buffer_type",
            "ggml_backend_tensor_set",
            "ggml_backend_tensor_alloc",
            "ggml_backend_tensor_get",
            "ggml_backend_tensor_memset",
            "ggml_backend_tensor_copy",
            "ggml_backend_view_init",
            "ggml_backend_dev_name",
            "ggml_backend_dev_description",
            "ggml_backend_dev_memory",
            "ggml_backend_dev_type",
            "ggml_backend_dev_init",
            "ggml_backend_dev_buffer_type",
            "ggml_backend_dev_supports_op",
            "ggml_backend_dev_supports_buft",
            "ggml_backend_reg_name",
            "ggml_backend_reg_dev_count",
            "ggml_backend_reg_dev_get",
        ),
    ),
    Header("ggml-backend-impl.h", functions=()),
    Header(
        "ggml-cpu.h",
        functions=("ggml_backend_cpu_reg", "ggml_backend_cpu_set_n_threads", "ggml_cpu_has_*"),
    ),
    Header("ggml-metal.h", functions=("ggml_backend_is_metal", "ggml_backend_metal_supports_family")),
    Header(
        "ggml-metal-device.h",
        functions=("ggml_metal_*",),
        # The registry owns the devices: making one more by hand would never be freed, and freeing the
        # registry's own would leave it dangling.
        skip=("ggml_metal_device_init", "ggml_metal_device_get", "ggml_metal_device_free"),
    ),
    # With its folder: whisper.rn has an old file of that name beside it, which nothing uses.
    Header("ggml-metal/ggml-metal-impl.h", functions=()),
    Header("softmetal.h", functions=("softmetal_*",), guarded=False, softmetal_only=True),
    Header("module.h", functions=("gmpy_*",), guarded=False),
    Header("graph_check.h", functions=("gmpy_*",)),
    Header("pipelines.h", functions=("gmpy_*",)),
    Header("encode.h", functions=("gmpy_*",)),
    Header("command_buffer.h", functions=("gmpy_*",)),
    Header("guard.h", functions=("gmpy_*",), guarded=False),
)

# Structs whose fields Python reads or writes; None takes all fields. Every other struct stays opaque,
# except those that a bound function takes or returns by value.
STRUCTS: dict[str, tuple[str, ...] | None] = {
    "ggml_tensor": None,
    "ggml_init_params": None,
    "ggml_type_traits": ("type_name", "blck_size", "type_size", "is_quantized", "to_float", "from_float_ref"),
    "ggml_backend_device": ("context",),
    "ggml_backend_buffer": ("context",),
    "ggml_metal_device_props": None,
    "ggml_metal_pipeline_with_params": None,
    "ggml_metal_buffer_id": None,
    "gmpy_counters": None,
    "gmpy_constant": None,
    "gmpy_dispatch": None,
    "gmpy_pipeline_record": None,
    "softmetal_profile": None,
    "softmetal_party": None,
    "softmetal_report": None,
    "softmetal_stats": None,
}

# Typedefs that no bound prototype mentions, as fnmatch patterns: the argument structs of the kernels.
TYPEDEFS = ("ggml_metal_kargs_*",)

# Enums that no bound prototype mentions by itself.
ENUMS = (
    "ggml_status",
    "ggml_log_level",
    "ggml_backend_dev_type",
    "gmpy_constant_type",
    "gmpy_failure",
    "gmpy_graph_problem",
    "softmetal_access",
    "softmetal_fault",
)

# Macros with an integer value.
CONSTANTS = (
    "GGML_MAX_DIMS",
    "GGML_MAX_SRC",
    "GGML_MAX_NAME",
    "GGML_MAX_OP_PARAMS",
    "GGML_DEFAULT_GRAPH_SIZE",
    "GGML_ROPE_TYPE_NEOX",
    "GGML_ROPE_TYPE_MROPE",
    "GGML_ROPE_TYPE_VISION",
    "GGML_ROPE_TYPE_IMROPE",
)
