"""Devices: what a Metal device of ggml is and can do (upstream: ggml-metal-device.h, ggml-backend.h)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ._handle import Handle
from ._native import Native, open_native
from .errors import GgmlAbort, GgmlMetalError
from .profile import choose, chosen, profiles_of

if TYPE_CHECKING:
    from . import checked as checked_mode
    from .backend import Backend
    from .encoder import Encoder
    from .library import Library
    from .tensor import Context, Tensor


@dataclass(frozen=True)
class DeviceProps:
    """`struct ggml_metal_device_props`. Sizes are in bytes; a field that the row does not have is None."""

    name: str | None
    """As ggml calls it, `MTL0`."""
    desc: str | None
    """As Metal calls it, `Apple M2`."""
    device: int | None
    device_id: int | None
    """`enum ggml_metal_device_id`."""
    max_buffer_size: int | None
    max_working_set_size: int | None
    max_theadgroup_memory_size: int | None
    has_simdgroup_reduction: bool | None
    has_simdgroup_mm: bool | None
    has_unified_memory: bool | None
    has_bfloat: bool | None
    has_tensor: bool | None
    use_residency_sets: bool | None
    use_shared_buffers: bool | None
    supports_gpu_family_apple7: bool | None
    op_offload_min_batch_size: int | None


def open(
    upstream: str | None = None,
    name: str | None = None,
    *,
    profile: str | None = None,
    checked: bool = False,
) -> "Device":
    """Open the Metal device of an upstream row.

    `upstream` is a row of vendor/upstreams.toml; None takes `GGML_METAL_PY_UPSTREAM`, else the default.
    `name` picks one of several devices: `Metal` and `MTL` mean the first one, `MTL1` the second; every
    upstream's names are accepted. `profile` is the GPU that softmetal presents, one of `profiles()` such as
    `M1`; None takes `SOFTMETAL_PROFILE`, else M2. It can only be chosen before the first device of the row is
    opened. `checked` makes softmetal look at every access to memory that kernels make, see checked.py; it
    holds for all devices of the row as long as this one is open.

    Raises LibraryNotFound when the library or its kernels are missing, ValueError for an unknown name or
    profile, ForkedError in the child of a process that opened it.
    """
    native = open_native(upstream)
    choose(native, profile)
    return Device(native, name, checked=checked)


def info(upstream: str | None = None, profile: str | None = None) -> dict[str, Any]:
    """What is open, as plain values: upstream, ggml_version, device, profiles, kernels, getters.

    `profiles` names those that `open` takes; `kernels` counts the library's kernels and those that need no
    compiler any more; `getters` counts upstream's `ggml_metal_library_get_pipeline_*` and those that Library
    mirrors.
    """
    with open(upstream, profile=profile) as device:
        return device.info()


class Device(Handle):
    """A Metal device. Closing it closes everything that was made from it."""

    _checked: "checked_mode.Mode | None" = None

    def __init__(self, native: Native, name: str | None = None, *, checked: bool = False) -> None:
        self._library: Library | None = None
        native.gmpy_collect_errors()
        try:
            registry = native.gmpy_metal_reg()
            devices = [
                native.ggml_backend_reg_dev_get(registry, i)
                for i in range(native.ggml_backend_reg_dev_count(registry))
            ]
        except GgmlAbort as error:
            raise GgmlMetalError(f"Metal has no usable device: {error}") from error
        finally:
            errors = native.take_errors()
        if not devices:
            raise GgmlMetalError(f"Metal has no usable device: {errors or 'none was found'}")
        self._own(native, _pick(native, devices, name))
        # Upstream keeps a device whose library failed to load, and fails at every later use.
        metal_device = self._metal_device()
        if native.ggml_metal_device_get_library(metal_device) == native.ffi.NULL:
            self._pointer = None
            raise native.not_found(f"the device has no kernels: {errors or 'opened without them before'}")

        if checked:
            from .checked import Mode

            self._checked = Mode(native)

    def _release(self, pointer: Any) -> None:
        if self._checked is not None:
            self._checked.leave()

    @property
    def checked(self) -> bool:
        """Whether it was opened in checked mode."""
        return self._checked is not None

    def _metal_device(self) -> Any:
        # ggml_metal_device_get() would make another device: the registry's own is in its context.
        return self._native.ffi.cast("struct ggml_metal_device *", self._use().context)

    # ---- what it is

    @property
    def name(self) -> str:
        """ggml's name: `MTL0`, `Metal` in older versions."""
        return self._native.text(self._native.ggml_backend_dev_name(self._use()))

    @property
    def description(self) -> str:
        """Metal's name: `Apple M2`."""
        return self._native.text(self._native.ggml_backend_dev_description(self._use()))

    @property
    def upstream(self) -> str:
        """The upstream row."""
        return self._native.row

    @property
    def ggml_version(self) -> str:
        """Version of the ggml inside: `0.13.1`."""
        return self._native.text(self._native.ggml_version())

    @property
    def memory(self) -> tuple[int, int]:
        """Free and total bytes that the device may use."""
        free, total = self._native.ffi.new("size_t[2]"), self._native.ffi.new("size_t[2]")
        self._native.ggml_backend_dev_memory(self._use(), free, total)
        return int(free[0]), int(total[0])

    @property
    def props(self) -> DeviceProps:
        """The device's properties (ggml_metal_device_get_props)."""
        props = self._native.ggml_metal_device_get_props(self._metal_device())
        values: dict[str, Any] = {}
        for field in fields(DeviceProps):
            value = getattr(props, field.name, None)
            is_text = isinstance(value, self._native.ffi.CData)
            values[field.name] = self._native.text(value) if is_text else value
        return DeviceProps(**values)

    def info(self) -> dict[str, Any]:
        """See `info()` of this module."""
        from .library import Library

        getters = self._native.functions("ggml_metal_library_get_pipeline_")
        mirrored = [name for name in getters if hasattr(Library, name.removeprefix("ggml_metal_library_"))]
        props = self.props
        return {
            "upstream": self.upstream,
            "ggml_version": self.ggml_version,
            "device": {
                **{field.name: getattr(props, field.name) for field in fields(props)},
                "name": self.name,
                "description": self.description,
                "profile": self.profile,
                "memory_total": self.memory[1],
            },
            "profiles": [profile.name for profile in profiles_of(self._native)],
            "kernels": self.kernel_counts(),
            "getters": {"declared": len(getters), "mirrored": len(mirrored)},
        }

    @property
    def profile(self) -> str | None:
        """The GPU that softmetal presents; None on Apple's own Metal."""
        return chosen(self._native)

    def kernel_counts(self) -> dict[str, int | None]:
        """`declared` and `prebuilt` kernels; None on Apple's own Metal, where nobody can tell."""
        declared, prebuilt = self._native.kernel_counts() or (None, None)
        return {"declared": declared, "prebuilt": prebuilt}

    # ---- what it can do

    def supports_op(self, tensor: "Tensor") -> bool:
        """Whether the device can compute this op result with its types and shapes."""
        self._check_upstream(tensor.context)
        return bool(self._native.ggml_backend_dev_supports_op(self._use(), tensor._use()))

    @property
    def library(self) -> "Library":
        """The device's own kernels (ggml_metal_device_get_library)."""
        from .library import Library

        self._use()
        if self._library is None or self._library.closed:
            self._library = Library.of_device(self)
        return self._library

    def library_from_source(self, source: str) -> "Library":
        """Compile Metal source; see Library.from_source."""
        from .library import Library

        return Library.from_source(self, source)

    def context(self, tensors: int = 1024) -> "Context":
        """An empty Context with room for that many tensors."""
        from .tensor import Context

        return Context(self, tensors)

    def backend(self) -> "Backend":
        """A Backend that runs graphs on this device."""
        from .backend import Backend

        return Backend(self)

    def cpu_backend(self, threads: int = 1) -> "Backend":
        """A Backend that runs graphs on ggml's CPU code, to compare with."""
        from .backend import Backend

        return Backend.on_cpu(self, threads)

    def encoder(self, concurrent: bool = False) -> "Encoder":
        """An Encoder for dispatching pipelines by hand; `concurrent` lets the device overlap dispatches."""
        from .encoder import Encoder

        return Encoder(self, concurrent)

    def kargs(self, name: str, /, **fields: Any) -> bytes:
        """The kernels' argument struct `ggml_metal_kargs_NAME` as bytes; fields not given are zero.

        Field names and meanings are upstream's (ggml-metal-impl.h); an array field takes a sequence. Raises
        ValueError, naming the known ones, for a struct or field that the row lacks or a value that does not
        fit, TypeError.
        """
        from .kargs import pack

        return pack(self._native, name, fields)

    def __repr__(self) -> str:
        return "<Device, closed>" if self.closed else f"<Device {self.name}: {self.description}>"


def _pick(native: Native, devices: list[Any], name: str | None) -> Any:
    """The device of that name, whatever the row calls it: `Metal` in older rows is `MTL0` in newer ones."""
    if name is None:
        return devices[0]
    named: Mapping[str, Any] = {
        alias.lower(): device
        for i, device in reversed(list(enumerate(devices)))
        for alias in (
            f"MTL{i}",
            f"Metal{i}",
            *(("MTL", "Metal") if i == 0 else ()),
            native.text(native.ggml_backend_dev_name(device)),
        )
    }
    if name.lower() not in named:
        known = ", ".join(native.text(native.ggml_backend_dev_name(device)) for device in devices)
        raise ValueError(f"there is no Metal device {name!r}; devices: {known}")
    return named[name.lower()]
