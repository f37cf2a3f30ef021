"""The routes of the administration, each declared beside the function that answers it."""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import msgspec

from icecheck.mock_server.core.clock import Clock
from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.core.journal import Journal
from icecheck.mock_server.defects.switching import DefectSwitches
from icecheck.mock_server.security.callers import Security
from icecheck.mock_server.serving.faults import Faults
from icecheck.mock_server.serving.gates import Gates
from icecheck.mock_server.serving.opening import ServedDocument
from icecheck.mock_server.serving.states import States
from icecheck.mock_server.serving.warehouses import Warehouses

PREFIX = "/_mock/v1"
"""What every path of the administration begins with; no path of a catalog does."""
WAIT_MS = 2_000
"""How long a route waits unless told otherwise, in milliseconds.

A release of a gate waits twice. Many clients give up after five seconds without an answer: they
should get the 408 before.
"""


class Parts(Protocol):
    """What the administration of one server works on: the same objects as in Python.

    A MockCatalog has them.
    """

    warehouses: Warehouses
    states: States
    journal: Journal
    defects: DefectSwitches
    clock: Clock
    security: Security
    registries: Registries
    faults: Faults
    gates: Gates
    served: ServedDocument

    @property
    def uri(self) -> str:
        """The base address for clients."""


class Asked(msgspec.Struct, frozen=True):
    """A request to one route: the values in its path, its query and its body, already read."""

    names: dict[str, str]
    query: Any = None
    body: Any = None


class Empty(msgspec.Struct, frozen=True):
    """No content."""


class Refusal(Exception):
    """Raised by an action that refuses: with a status, and words that say what to do instead."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


Action: TypeAlias = Callable[[Parts, Asked], Any]


class AdminRoute(msgspec.Struct, frozen=True):
    """One route: its method, its path below `PREFIX`, and the types of what goes in and out.

    `act` returns a value of `answer`, which is sent as JSON with `status`; or a Reply, where it is
    no JSON. `described` is the type of the body in the document, where the action itself says what
    is wrong with one. `refusals` are the statuses of a well-formed request that is refused.
    """

    method: str
    path: str
    act: Action
    words: str
    answer: Any
    status: int
    query: Any
    body: Any
    described: Any
    refusals: tuple[int, ...]
    media_type: str

    @property
    def name(self) -> str:
        """The operationId, in the style of the catalog's document."""
        first, *others = self.act.__name__.split("_")
        return first + "".join(map(str.capitalize, others))


_ROUTES: list[AdminRoute] = []


def route(
    method: str,
    path: str,
    *,
    answer: Any = Empty,
    status: int = 0,
    query: Any = None,
    body: Any = None,
    described: Any = None,
    refusals: tuple[int, ...] = (),
    media_type: str = "application/json",
) -> Callable[[Action], Action]:
    """Declare the function below as the answer to a route; its docstring is what it does."""

    def declare(act: Action) -> Action:
        default = 204 if answer is Empty else 200
        words = " ".join((act.__doc__ or "").split())
        _ROUTES.append(
            AdminRoute(
                method,
                path,
                act,
                words,
                answer,
                status or default,
                query,
                body,
                described or body,
                refusals,
                media_type,
            )
        )
        return act

    return declare


def declared_routes() -> tuple[AdminRoute, ...]:
    """Return the routes of all modules that have been imported."""
    return tuple(_ROUTES)


def no_such(what: str, id_: str) -> Refusal:
    """Return the 404 for something that is not there."""
    return Refusal(404, f"There is no {what} {id_!r}")
