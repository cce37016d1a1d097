"""Profiles: which GPU softmetal presents. Upstream chooses its kernels by what the GPU says it can do."""

import os
from dataclasses import dataclass, fields
from typing import Any

from ._native import Native, open_native


@dataclass(frozen=True)
class Profile:
    """A GPU that softmetal can claim to be. Sizes are in bytes."""

    name: str
    """What `open(profile=)` and `SOFTMETAL_PROFILE` take: `M1`."""
    device_name: str
    """As Metal calls it, `Apple M1`."""
    apple: int
    """Its highest MTLGPUFamilyApple; 0 for a GPU that is not Apple's."""
    mac2: bool
    """MTLGPUFamilyMac2, and the next one."""
    metal3: bool
    unified_memory: bool
    max_buffer_bytes: int
    working_set_bytes: int
    threadgroup_bytes: int
    max_threads: int
    simd_width: int


def profiles(upstream: str | None = None) -> tuple[Profile, ...]:
    """The profiles of an upstream row's library; none on Apple's own Metal. Raises LibraryNotFound."""
    return profiles_of(open_native(upstream))


def profiles_of(native: Native) -> tuple[Profile, ...]:
    """The profiles that this library knows."""
    found: list[Profile] = []
    if native.has("softmetal_get_profile"):
        while (entry := native.softmetal_get_profile(len(found))) != native.ffi.NULL:
            found.append(_profile(native, entry))
    return tuple(found)


def _profile(native: Native, entry: Any) -> Profile:
    values: dict[str, Any] = {}
    for field in fields(Profile):
        value = getattr(entry, field.name)
        if field.type is str:
            value = native.text(value)
        values[field.name] = bool(value) if field.type is bool else value
    return Profile(**values)


DEFAULT = "M2"
"""softmetal's own (softmetal/device/profile.c)."""

_chosen: dict[str, str] = {}


def choose(native: Native, profile: str | None) -> None:
    """Choose the row's profile, before its first device is made; None takes `SOFTMETAL_PROFILE`.

    Raises ValueError for an unknown one, or when the device exists and looks like another one.
    """
    row = native.row
    if not native.has("softmetal_set_profile"):
        if profile is not None:
            raise ValueError("a profile can only be chosen on softmetal, this is Apple's own Metal")
        return
    if profile is None:
        if row in _chosen:
            return
        profile = os.environ.get("SOFTMETAL_PROFILE") or DEFAULT
    if _chosen.get(row) == profile:
        return
    if native.softmetal_set_profile(profile.encode()) != 0:
        text = native.ffi.new("char[]", 1024)
        native.softmetal_last_error(text, 1024)
        raise ValueError(f"profile {profile!r}: {native.text(text)}")
    _chosen[row] = profile


def chosen(native: Native) -> str | None:
    """The row's profile; None on Apple's own Metal."""
    return _chosen.get(native.row)
