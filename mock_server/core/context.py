"""Inputs and results of an operation, as values: requests, replies, effects, context."""

import threading
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import msgspec

from icecheck.contract import Contract
from icecheck.mock_server.core.clock import Clock
from icecheck.mock_server.core.idempotency_settings import IdempotencySettings
from icecheck.mock_server.core.identity import Identities
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.core.vending_settings import VendingSettings
from icecheck.mock_server.protocol.served_contract import SERVED
from icecheck.mock_server.protocol.wire import Reply, Request
from icecheck.mock_server.storage.files import Files

if TYPE_CHECKING:
    from icecheck.mock_server.objects.store import ObjectStore
    from icecheck.mock_server.planning.plans import Plans
    from icecheck.mock_server.security.callers import Security


__all__ = [
    "Answer",
    "Call",
    "Context",
    "Delay",
    "DoorEffect",
    "Drop",
    "FileEffect",
    "Gate",
    "Hold",
    "KeyedOperation",
    "MakeDirectory",
    "Operation",
    "Outcome",
    "Registries",
    "RemoveFile",
    "RemoveFiles",
    "Reply",
    "Request",
    "RequestGate",
    "TableLocations",
    "Truncate",
    "WarehouseSettings",
    "WriteFile",
]


class Call(msgspec.Struct, frozen=True):
    """A routed request: the operation, the decoded names of its path, and its first query values.

    `namespace` and `name` (of a table or a view) are empty where the path has none; other path
    parameters are in `parameters` under the contract's names.
    """

    operation_id: str
    request: Request
    namespace: tuple[str, ...] = ()
    name: str = ""
    parameters: Mapping[str, str] = {}
    query: Mapping[str, str] = {}

    def warehouse(self, routed: str) -> str:
        """Return the name of the warehouse that it is about; getConfig names it in its query."""
        if self.operation_id == "getConfig":
            return self.query.get("warehouse") or routed
        return routed


class Gate:
    """Holds requests until it is released; after the release it stays open."""

    __slots__ = ("_lock", "_open", "_waiting")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = False
        self._waiting: list[Callable[[], None]] = []

    def when_open(self, callback: Callable[[], None]) -> None:
        """Call back as soon as the gate is open: at once, or from the releasing thread."""
        with self._lock:
            if not self._open:
                self._waiting.append(callback)
                return
        callback()

    def release(self) -> None:
        """Let all waiting and all later requests pass."""
        with self._lock:
            self._open = True
            waiting, self._waiting = self._waiting, []
        for callback in waiting:
            callback()


class WriteFile(msgspec.Struct, frozen=True):
    """Write a file before the new state is published; a failure refuses the request."""

    location: str
    content: bytes


class MakeDirectory(msgspec.Struct, frozen=True):
    """Make sure that a directory exists, and these in it, before the new state is published."""

    location: str
    names: tuple[str, ...] = ()


class RemoveFile(msgspec.Struct, frozen=True):
    """Remove a file once the new state is published; a missing file is no failure."""

    location: str


class Delay(msgspec.Struct, frozen=True):
    """Send the answer later."""

    milliseconds: int


class Hold(msgspec.Struct, frozen=True):
    """Send the answer when the gate is released."""

    gate: Gate


class Drop(msgspec.Struct, frozen=True):
    """Close the connection instead of answering."""


class Truncate(msgspec.Struct, frozen=True):
    """Close the connection after the head and this many bytes of the body."""

    body_bytes: int


class RemoveFiles(msgspec.Struct, frozen=True):
    """Remove files once the new state is published; the list is computed then, without the lock."""

    find: Callable[[Files], Iterable[str]]


FileEffect: TypeAlias = WriteFile | MakeDirectory | RemoveFile | RemoveFiles
DoorEffect: TypeAlias = Delay | Hold | Drop | Truncate


class Outcome(msgspec.Struct, frozen=True):
    """The result of an operation: the state to publish, the answer, and further effects.

    `plain` is the answer without credentials, where some were vended with it.
    """

    state: WarehouseState
    reply: Reply
    effects: tuple[FileEffect | DoorEffect, ...] = ()
    plain: Reply | None = None


class Answer(msgspec.Struct, frozen=True):
    """The reply of the core, with the effects that only the HTTP layer can carry out."""

    reply: Reply
    effects: tuple[DoorEffect, ...] = ()


class Operation(Protocol):
    """The pure function behind one operationId; raises Problem to refuse."""

    def __call__(self, context: "Context", state: WarehouseState, call: Call, /) -> Outcome:
        """Return the outcome of a call."""


class KeyedOperation(Protocol):
    """What becomes of an operation's request with an idempotency key; raises Problem to refuse."""

    def __call__(
        self, operation: Operation, context: "Context", state: WarehouseState, call: Call, /
    ) -> Outcome:
        """Return the outcome of a call."""


RequestGate: TypeAlias = "Callable[[Request, Security], Reply | None]"


class Registries(msgspec.Struct, frozen=True):
    """The behaviour of one server, by name: replace or remove an entry to misbehave.

    `operations` by operationId; `updates` by action: (update, draft) -> None; `assertions` by type:
    (assertion, metadata or None) -> None; `gates`: (request, callers that are let in) -> the
    refusal of a request before it is routed, or None. `view_updates` and `view_assertions` are
    those of replaceView: six actions have the same name for tables and for views. `keyed` are the
    operations for which an idempotency key has a meaning, by operationId, and that meaning.
    """

    operations: MutableMapping[str, Operation]
    updates: MutableMapping[str, Callable[[Any, Any], None]]
    assertions: MutableMapping[str, Callable[[Any, Any], None]]
    gates: MutableMapping[str, RequestGate]
    view_updates: MutableMapping[str, Callable[[Any, Any], None]]
    view_assertions: MutableMapping[str, Callable[[Any, Any], None]]
    keyed: MutableMapping[str, KeyedOperation]


class TableLocations(StrEnum):
    """The locations of tables and views that are created without one, below their namespace's.

    UNIQUE: the name and a part of the uuid. BY_NAME: the name, where nothing else is or was.
    """

    UNIQUE = "unique"
    BY_NAME = "by-name"


class WarehouseSettings(msgspec.Struct, frozen=True):
    """The settings of a warehouse that getConfig sends; the prefix may be empty.

    `signs`: requests to its tables are signed, where the document has that.
    """

    prefix: str
    defaults: Mapping[str, str]
    overrides: Mapping[str, str]
    signs: bool = False


class Context(msgspec.Struct, frozen=True):
    """The means of an operation besides the state: time, identities, files, behaviour, ...

    `settings_of` takes the name that a client sends, and raises Problem 400 for a name that it
    cannot have. `vending` None: the tables of this warehouse come without credentials. `objects`
    is the server's object store, if this warehouse is there. `is_kept`: the state outlives the
    server, and what it holds in memory does not. `contract` is of the document that is served;
    `idempotency` None: keys have no meaning. `separator` is what getConfig announces to stand
    between the levels of a namespace, as it stands in a path, or None.
    """

    clock: Clock
    identities: Identities
    files: Files
    registries: Registries
    settings_of: Callable[[str | None], WarehouseSettings]
    plans: "Plans"
    security: "Security"
    vending: VendingSettings | None
    warehouse: str
    location: str
    table_locations: TableLocations
    page_size_max: int
    objects: "ObjectStore | None" = None
    is_kept: bool = False
    contract: Contract = SERVED
    idempotency: IdempotencySettings | None = None
    separator: str | None = None
