"""The address of the object store: an HTTP server of its own, on this machine's loopback."""

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from icecheck.mock_server.core.clock import Clock
from icecheck.mock_server.http.listening import Listening
from icecheck.mock_server.protocol.wire import Reply, Request

if TYPE_CHECKING:
    from icecheck.mock_server.http.asgi import CatalogApplication
    from icecheck.mock_server.objects.store import ObjectStore

_LOOPBACK = "127.0.0.1"


class ObjectDoor:
    """Listens from the first time that its address is asked for."""

    __slots__ = ("_listening", "_lock")

    def __init__(self) -> None:
        self._listening = Listening(_LOOPBACK, 0)
        self._lock = threading.Lock()

    def uri(self, answer: Callable[[Request], Reply]) -> str:
        """Return the address, where `answer` answers every request."""
        from icecheck.mock_server.http.object_app import object_app

        with self._lock:
            if not self._listening.is_on:
                self._listening.start(object_app(answer))
            return self._listening.uri

    def stop(self) -> None:
        """Stop listening, and close all connections."""
        with self._lock:
            self._listening.stop()


def start_together(
    listening: Listening, application: "CatalogApplication", objects: "ObjectStore | None"
) -> None:
    """Listen for a catalog and for its object store; for neither if one of them cannot."""
    with contextlib.ExitStack() as undone:
        listening.start_direct(application)
        undone.callback(listening.stop)
        if objects is not None:
            objects.start()
        undone.pop_all()


def object_store(locations: Sequence[str], key: bytes, clock: Clock) -> "ObjectStore | None":
    """Return the object store of warehouses at these locations; None without any."""
    if not locations:
        return None
    from icecheck.mock_server.objects.store import ObjectStore

    return ObjectStore(locations, key, clock.now_ms, ObjectDoor())
