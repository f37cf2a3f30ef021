"""The steps of a history as data: an action on one of a few numbered objects.

Every step can be taken in every state; the model predicts whether it succeeds. Namespaces and
tables are numbered, and get names of the run's own when a history runs.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = [
    "AddColumn",
    "AddSnapshot",
    "CommitProperties",
    "CommitStale",
    "CommitStep",
    "CreateNamespace",
    "CreateTable",
    "DropNamespace",
    "DropTable",
    "ListTables",
    "LoadNamespace",
    "LoadTable",
    "MoveTable",
    "NamespaceStep",
    "RegisterBack",
    "RemoveRef",
    "SetRef",
    "StageCreate",
    "Step",
    "TableStep",
    "UpdateProperties",
    "from_json",
    "in_words",
    "operations_of",
    "to_json",
]


@dataclass(frozen=True, slots=True)
class CreateNamespace:
    """Create a namespace, with one property ``owner``."""

    namespace: int
    owner: str


@dataclass(frozen=True, slots=True)
class DropNamespace:
    """Drop a namespace."""

    namespace: int


@dataclass(frozen=True, slots=True)
class LoadNamespace:
    """Load a namespace's properties."""

    namespace: int


@dataclass(frozen=True, slots=True)
class UpdateProperties:
    """Set one property of a namespace and remove another; both may be the same."""

    namespace: int
    set_key: str
    value: str
    remove_key: str


@dataclass(frozen=True, slots=True)
class ListTables:
    """List the tables of a namespace."""

    namespace: int


@dataclass(frozen=True, slots=True)
class CreateTable:
    """Create a table of one column, with one property ``owner``."""

    namespace: int
    table: int
    owner: str


@dataclass(frozen=True, slots=True)
class StageCreate:
    """Stage the creation of a table, and never commit it."""

    namespace: int
    table: int


@dataclass(frozen=True, slots=True)
class LoadTable:
    """Load a table."""

    namespace: int
    table: int


@dataclass(frozen=True, slots=True)
class CommitProperties:
    """Commit one property of a table and the removal of another."""

    namespace: int
    table: int
    set_key: str
    value: str
    remove_key: str


@dataclass(frozen=True, slots=True)
class CommitStale:
    """Commit a property with a wrong requirement on the table's UUID."""

    namespace: int
    table: int


@dataclass(frozen=True, slots=True)
class AddColumn:
    """Add a column and make the new schema the current one."""

    namespace: int
    table: int


@dataclass(frozen=True, slots=True)
class AddSnapshot:
    """Add a metadata-only snapshot and point ``main`` at it."""

    namespace: int
    table: int


@dataclass(frozen=True, slots=True)
class SetRef:
    """Point a branch or tag at the newest snapshot, or without any at one that never existed."""

    namespace: int
    table: int
    ref: str
    kind: str


@dataclass(frozen=True, slots=True)
class RemoveRef:
    """Remove a branch or tag."""

    namespace: int
    table: int
    ref: str


@dataclass(frozen=True, slots=True)
class MoveTable:
    """Rename a table, perhaps into another namespace or to its own name."""

    namespace: int
    table: int
    to_namespace: int
    to_table: int


@dataclass(frozen=True, slots=True)
class DropTable:
    """Drop a table without purge."""

    namespace: int
    table: int


@dataclass(frozen=True, slots=True)
class RegisterBack:
    """Drop a table without purge and register its last metadata file again."""

    namespace: int
    table: int


NamespaceStep = CreateNamespace | DropNamespace | LoadNamespace | UpdateProperties | ListTables
CommitStep = CommitProperties | CommitStale | AddColumn | AddSnapshot | SetRef | RemoveRef
TableStep = LoadTable | DropTable | RegisterBack | CommitStep
Step = NamespaceStep | TableStep | CreateTable | StageCreate | MoveTable

_OPERATIONS: dict[type[Any], tuple[str, ...]] = {
    CreateNamespace: ("createNamespace",),
    DropNamespace: ("dropNamespace",),
    LoadNamespace: ("loadNamespaceMetadata",),
    UpdateProperties: ("updateProperties",),
    ListTables: ("listTables",),
    CreateTable: ("createTable",),
    StageCreate: ("createTable",),
    LoadTable: ("loadTable",),
    CommitProperties: ("updateTable",),
    CommitStale: ("updateTable",),
    AddColumn: ("updateTable",),
    AddSnapshot: ("updateTable",),
    SetRef: ("updateTable",),
    RemoveRef: ("updateTable",),
    MoveTable: ("renameTable",),
    DropTable: ("dropTable",),
    RegisterBack: ("loadTable", "dropTable", "registerTable"),
}
_WORDS: dict[type[Any], str] = {
    CreateNamespace: "create namespace n{namespace} owned by {owner}",
    DropNamespace: "drop namespace n{namespace}",
    LoadNamespace: "load namespace n{namespace}",
    UpdateProperties: "set {set_key}={value} and remove {remove_key} on n{namespace}",
    ListTables: "list the tables of n{namespace}",
    CreateTable: "create table n{namespace}.t{table} owned by {owner}",
    StageCreate: "stage the creation of n{namespace}.t{table}",
    LoadTable: "load n{namespace}.t{table}",
    CommitProperties: "commit {set_key}={value} and no {remove_key} to n{namespace}.t{table}",
    CommitStale: "commit to n{namespace}.t{table} asserting another UUID",
    AddColumn: "add a column to n{namespace}.t{table}",
    AddSnapshot: "add a snapshot to n{namespace}.t{table}",
    SetRef: "set {kind} {ref} of n{namespace}.t{table}",
    RemoveRef: "remove ref {ref} of n{namespace}.t{table}",
    MoveTable: "rename n{namespace}.t{table} to n{to_namespace}.t{to_table}",
    DropTable: "drop n{namespace}.t{table}",
    RegisterBack: "drop n{namespace}.t{table} and register it again",
}
_KINDS = {kind.__name__: kind for kind in _OPERATIONS}


def operations_of(step: Step) -> tuple[str, ...]:
    """Return the operations a step needs, as operationIds."""
    return _OPERATIONS[type(step)]


def to_json(steps: Sequence[Step]) -> str:
    """Return steps as one line of JSON for ``from_json``."""
    rows = [{"step": type(s).__name__, **dataclasses.asdict(s)} for s in steps]
    return json.dumps(rows, separators=(",", ":"))


def from_json(text: str) -> tuple[Step, ...]:
    """Return the steps in a text; raise ValueError if the text is no list of steps."""
    match json.loads(text):
        case [*rows] if all(isinstance(row, dict) for row in rows):
            return tuple(_step(row) for row in rows)
    raise ValueError("a history is a list of steps")


def _step(row: Mapping[str, Any]) -> Step:
    members = dict(row)
    kind = _KINDS.get(members.pop("step", ""))
    if kind is None:
        raise ValueError(f"no such step: {row!r}; steps are {sorted(_KINDS)}")
    try:
        step: Step = kind(**members)
    except TypeError as error:
        raise ValueError(f"{row!r}: {error}") from None
    return step


def in_words(step: Step) -> str:
    """Return a step as a short phrase; ``n0`` is the first namespace, ``n0.t1`` a table in it."""
    return _WORDS[type(step)].format_map(dataclasses.asdict(step))
