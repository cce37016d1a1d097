"""Lifetime of native objects: close is explicit, idempotent, safe in any order and from any thread."""

import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, TypeVar

from ._native import Native
from .errors import ClosedError

Self = TypeVar("Self", bound="Handle")

# One lock for all: it is held for a few Python instructions, never during a native call.
_changed = threading.Condition()


class Handle:
    """Owns one native object, from `_own` to `close`.

    While it is pinned (a native call uses it), `close` waits. Using it afterwards raises ClosedError.
    """

    # Defaults on the class: `close` and `__del__` work on an object whose constructor failed half-way.
    _native: Native
    _pointer: Any = None
    _closing = False
    _pins: tuple[int, ...] = ()
    _parent: "Handle | None" = None
    _children: "weakref.WeakSet[Handle] | None" = None

    def _own(self, native: Native, pointer: Any, parent: "Handle | None" = None) -> None:
        """Take over `pointer`. The parent lives as long as this object, and closes it when it closes."""
        self._native = native
        self._pointer = pointer
        if parent is not None:
            self._parent = parent
            if parent._children is None:
                parent._children = weakref.WeakSet()
            parent._children.add(self)

    def _release(self, pointer: Any) -> None:
        """Free the native object; called once."""

    @property
    def closed(self) -> bool:
        """Whether it is closed, or was never made."""
        return self._pointer is None

    def close(self) -> None:
        """Free it and what was made from it; waits for a running call that uses it. Again does nothing."""
        for child in list(self._children or ()):
            child.close()
        with _changed:
            if self._pointer is None or self._closing:
                return
            if threading.get_ident() in self._pins:
                raise RuntimeError(f"{self._name()} cannot be closed by the call that is using it")
            self._closing = True  # from here on nobody new may use it
            try:
                _changed.wait_for(lambda: not self._pins)
            except BaseException:
                self._closing = False
                raise
        try:
            # In a forked child the object belongs to the parent. While Python exits, the system frees
            # everything and other threads may still compute.
            if not self._native.forked and not sys.is_finalizing():
                self._release(self._pointer)
        finally:
            self._pointer = None

    def _use(self) -> Any:
        """The native pointer. Raises ClosedError, ForkedError."""
        pointer = self._pointer
        if pointer is None or self._closing:
            raise ClosedError(f"{self._name()} is closed")
        if self._native.forked:
            self._native.refuse_after_fork()
        return pointer

    def _check_upstream(self, other: "Handle") -> None:
        """Raises ValueError when the other belongs to another library, whose structs may differ."""
        if other._pointer is not None and other._native is not self._native:
            raise ValueError(
                f"{self._name()} belongs to upstream {self._native.row} in {self._native.folder}, "
                f"{other._name()} to {other._native.row} in {other._native.folder}"
            )

    def _name(self) -> str:
        return f"this {type(self).__name__}"

    def __enter__(self: Self) -> Self:
        self._use()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # Bound as a default: names of the module are gone when Python frees the last objects.
        if self._pointer is not None and not is_finalizing():
            self.close()


class pinned:  # noqa: N801 - used like a function, at every native call: a generator costs thrice as much
    """Keep all handles open while a native call uses them. Entering raises ClosedError when one is not."""

    __slots__ = ("_handles", "_me")

    def __init__(self, handles: Iterable[Handle]) -> None:
        self._handles = tuple(handles)
        self._me = (threading.get_ident(),)

    def __enter__(self) -> None:
        with _changed:
            for handle in self._handles:
                handle._use()
            for handle in self._handles:
                handle._pins += self._me

    def __exit__(self, *exception: object) -> None:
        with _changed:
            awaited = False
            for handle in self._handles:
                own = handle._pins.index(self._me[0])
                handle._pins = handle._pins[:own] + handle._pins[own + 1 :]
                awaited = awaited or handle._closing
            if awaited:
                _changed.notify_all()


def _renew_lock() -> None:
    global _changed
    _changed = threading.Condition()  # another thread of the parent may have held it


os.register_at_fork(after_in_child=_renew_lock)
