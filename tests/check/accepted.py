"""The ops that a device accepts."""

from collections.abc import Iterator

import ggml_metal_py as gm

KINDS = {"UNARY": "GGML_UNARY_OP_COUNT", "GLU": "GGML_GLU_OP_COUNT"}


def accepted(device: gm.Device) -> Iterator[str]:
    """Ops by ggml's names, of functions of one value and gated ones which one: what supports_op says yes to,
    asked with structs of our own, for some types."""
    native = device._native
    for number, name in enumerate(native.op_names):
        for kind in range(getattr(native, KINDS[name]) if name in KINDS else 1):
            for source, result in (("f32", "f32"), ("f16", "f16"), ("i32", "i64"), ("q4_0", "f32")):
                with device.context(16) as context:
                    tensor = context.new_tensor(result, (32, 32))
                    struct = tensor._use()
                    for i in range(7):
                        struct.src[i] = context.new_tensor(source, (32, 32))._use()
                    struct.op, struct.op_params[0] = number, kind if name in KINDS else 0
                    if device.supports_op(tensor):
                        yield native.text(native.ggml_op_desc(struct))
