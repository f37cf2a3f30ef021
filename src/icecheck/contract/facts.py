"""The facts of each operation, as data: a row of `operations.json` for every operation.

The document says these things in prose, or not at all. An operation that is added to the document
needs a row; a missing or incomplete row is reported when the rows are read.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from icecheck.contract.faults import ContractError

PROFILES = (
    "core",
    "read",
    "write",
    "views",
    "register-view",
    "transactions",
    "register",
    "credentials",
    "remote-signing",
    "scan-planning",
    "metrics",
    "pagination",
    "etag",
    "idempotency",
    "oauth2",
    "authorization",
)
"""The profiles that a catalog can conform to; every requirement belongs to one profile."""

PROFILES_SINCE = {"idempotency": "1.11.0", "register-view": "1.11.0"}
"""The profiles that older documents do not have -> the release that brought them."""


class IncompleteFacts(ContractError, LookupError):
    """The rows do not fit the operations of the document; ``faults`` lists all problems."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(["operations.json:", *self.faults]))


class Object(StrEnum):
    """The kind of object that an operation is about."""

    CATALOG = "catalog"
    NAMESPACE = "namespace"
    TABLE = "table"
    VIEW = "view"


class Action(StrEnum):
    """The action of an operation on its object.

    One operation at most creates, lists, loads or drops objects of one kind; of the other actions
    several may be the same.
    """

    AUTHENTICATE = "authenticate"
    CANCEL_PLAN = "cancel-plan"
    COMMIT = "commit"
    COMMIT_TOGETHER = "commit-together"
    CONFIGURE = "configure"
    CREATE = "create"
    DROP = "drop"
    EXISTS = "exists"
    FETCH_PLAN = "fetch-plan"
    FETCH_TASKS = "fetch-tasks"
    LIST = "list"
    LOAD = "load"
    LOAD_CREDENTIALS = "load-credentials"
    PLAN = "plan"
    REGISTER = "register"
    RENAME = "rename"
    REPORT = "report"
    SET_PROPERTIES = "set-properties"
    SIGN = "sign"


class Changes(StrEnum):
    """The effect of a success: no change, a change that no object shows, or changed objects."""

    NOTHING = "nothing"
    ASIDE = "aside"
    OBJECTS = "objects"


class Place(StrEnum):
    """The place where a request names an object.

    PATH: the parameters of the path. PARENT: a namespace in the query. NAMESPACE: the levels in the
    body. NAME: a name in the body, inside of the path's namespace. Of the others, TABLE_CHANGES
    holds the identifiers of a list, and the rest are one identifier each.
    """

    PATH = "path"
    PARENT = "query.parent"
    NAMESPACE = "body.namespace"
    NAME = "body.name"
    IDENTIFIER = "body.identifier"
    SOURCE = "body.source"
    DESTINATION = "body.destination"
    TABLE_CHANGES = "body.table-changes"


class When(StrEnum):
    """The successes that create something: all, those not staged, or those that assert-create."""

    ALWAYS = "always"
    UNLESS_STAGED = "unless-staged"
    IF_CREATE_ASSERTED = "if-create-asserted"


@dataclass(frozen=True, slots=True)
class Creation:
    """The place where a request names what it creates, and when it creates it."""

    place: Place
    when: When


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of an operation that the document's structure does not tell.

    ``profile`` is one of PROFILES. ``default``: a client assumes it where the configuration lists
    no endpoints (L109-L138). ``commits``: its answer may leave the client without knowledge of the
    new state. ``locks``: a server lets one such request at a time work on its state. ``names`` are
    the places where it names objects, ``creates`` and ``removes`` those of the objects that a
    success creates and removes. ``error_types`` maps statuses to the error types of the document's
    prose; where that names only the missing table or view, the namespace may be missing instead,
    and its own type name is right too.
    """

    profile: str
    object: Object
    action: Action
    default: bool
    changes: Changes
    commits: bool
    locks: bool
    names: tuple[Place, ...]
    creates: Creation | None
    removes: Place | None
    error_types: Mapping[str, tuple[str, ...]]

    @property
    def repeatable(self) -> bool:
        """Whether it may be sent twice: no object is changed, and the second answer is the first.

        A second cancellation is none: its plan is unknown then.
        """
        return self.changes is Changes.NOTHING or self.action is Action.REPORT


_NAMES = tuple(field.name for field in fields(Facts))
_CREATING = frozenset({Action.CREATE, Action.REGISTER, Action.RENAME})
_REMOVING = frozenset({Action.DROP, Action.RENAME})
_ONE_EACH = frozenset({Action.CREATE, Action.LIST, Action.LOAD, Action.DROP})


def read_facts(
    rows: Mapping[str, Mapping[str, Any]], methods: Mapping[str, str]
) -> Mapping[str, Facts]:
    """Return operation id -> facts, for the operations in ``methods`` (operation id -> method).

    Raises IncompleteFacts with every row and fact that is missing, unknown or contradictory.
    """
    problems = [f"{id_}: has facts, and is no operation" for id_ in rows if id_ not in methods]
    found: dict[str, Facts] = {}
    for id_, method in methods.items():
        row = rows.get(id_, {})
        faults = [*_faults(row)]
        if not faults:
            found[id_] = _facts(row)
            faults = [*_contradictions(found[id_], method)]
        problems += [f"{id_}: {fault}" for fault in faults]
    problems += _shared_actions(found)
    if problems:
        raise IncompleteFacts(problems)
    return MappingProxyType(found)


def _shared_actions(found: Mapping[str, Facts]) -> Iterator[str]:
    """Yield each operation that has an action of which an object has one, after another."""
    first: dict[tuple[Action, Object], str] = {}
    for id_, facts in found.items():
        if facts.action in _ONE_EACH:
            other = first.setdefault((facts.action, facts.object), id_)
            if other != id_:
                does = f"{other} already has {facts.action} of a {facts.object}"
                yield f"{id_}: {does}: give it an action of its own in contract/facts.py"


def _faults(row: Mapping[str, Any]) -> Iterator[str]:
    for name in _NAMES:
        if name not in row:
            yield f"{name} is missing"
        elif not _fits(name, row[name]):
            yield f"{name} cannot be {row[name]!r}"
    yield from (f"{name} is no fact" for name in row if name not in _NAMES)


def _fits(name: str, value: Any) -> bool:
    match name:
        case "profile":
            return value in PROFILES
        case "object":
            return _is_in(Object, value)
        case "action":
            return _is_in(Action, value)
        case "changes":
            return _is_in(Changes, value)
        case "names":
            return isinstance(value, list) and all(_is_in(Place, each) for each in value)
        case "creates":
            return value is None or (
                isinstance(value, list)
                and len(value) == 2
                and _is_in(Place, value[0])
                and _is_in(When, value[1])
            )
        case "removes":
            return value is None or _is_in(Place, value)
        case "error_types":
            return isinstance(value, dict) and all(isinstance(v, list) for v in value.values())
        case _:
            return isinstance(value, bool)


def _is_in(kind: type[StrEnum], value: Any) -> bool:
    return isinstance(value, str) and value in set(kind)


def _facts(row: Mapping[str, Any]) -> Facts:
    creates, removes = row["creates"], row["removes"]
    return Facts(
        profile=row["profile"],
        object=Object(row["object"]),
        action=Action(row["action"]),
        default=row["default"],
        changes=Changes(row["changes"]),
        commits=row["commits"],
        locks=row["locks"],
        names=tuple(map(Place, row["names"])),
        creates=None if creates is None else Creation(Place(creates[0]), When(creates[1])),
        removes=None if removes is None else Place(removes),
        error_types=MappingProxyType(
            {status: tuple(types) for status, types in row["error_types"].items()}
        ),
    )


def _contradictions(facts: Facts, method: str) -> Iterator[str]:
    """Yield contradictions among the facts of one operation, or with its method."""
    if facts.action in _CREATING and facts.creates is None:
        yield f"creates is missing: to {facts.action} makes something"
    if facts.action in _REMOVING and facts.removes is None:
        yield f"removes is missing: to {facts.action} takes something away"
    places = [facts.removes, facts.creates and facts.creates.place]
    for place in places:
        if place is not None and place not in facts.names:
            yield f"{place} is no place where it names something"
    acts = facts.commits or any(place is not None for place in places)
    if acts and facts.changes is not Changes.OBJECTS:
        yield "it creates, removes or commits, and changes no objects"
    if method in {"GET", "HEAD"} and (facts.changes is not Changes.NOTHING or facts.locks):
        yield f"{method} changes nothing and needs no lock"
    if facts.changes is Changes.OBJECTS and not facts.locks:
        yield "it changes objects without a lock"
