"""Keeps the objects of a store out of moto's own lists.

moto lists whatever it makes, for as long as the process runs, and a `mock_aws()` of the user closes
all the objects in these lists when it begins and when it ends.
"""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

_CHANGING = threading.Lock()
_MAKING = threading.local()


class _Tracked(list[Any]):
    """One of moto's lists, without what is made during an `untracked` of the same thread."""

    def append(self, made: Any) -> None:
        """Take an object that moto has made."""
        own: list[Any] | None = getattr(_MAKING, "own", None)
        if own is None:
            super().append(made)
        else:
            own.append(made)


@contextlib.contextmanager
def untracked() -> Iterator[None]:
    """Let nothing be listed that moto makes for this thread in the block."""
    from moto.core.model_instances import model_data
    from moto.s3.models import FakeKey

    with _CHANGING:
        for model in model_data["s3"].values():
            listed: list[Any] = getattr(model, "instances_tracked", [])
            # A reset of moto puts new lists there.
            if type(listed) is not _Tracked:
                setattr(model, "instances_tracked", _Tracked(listed))  # noqa: B010 - it is moto's
    outer = getattr(_MAKING, "own", None)
    own: list[Any] = []
    _MAKING.own = own
    try:
        yield
    finally:
        _MAKING.own = outer
        for made in own:
            if isinstance(made, FakeKey):
                # It closes its file when it goes; without this it would warn that nobody did.
                made.disposed = True
