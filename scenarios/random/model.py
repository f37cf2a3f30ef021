"""A small reference model of namespaces and tables.

It knows what the document promises for each step in each state: the correct statuses and the state
after them. Where the document leaves a choice, the prediction has every allowed answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from icecheck.scenarios.random.steps import (
    AddColumn,
    AddSnapshot,
    CommitProperties,
    CommitStale,
    CommitStep,
    CreateNamespace,
    CreateTable,
    DropNamespace,
    DropTable,
    ListTables,
    LoadNamespace,
    LoadTable,
    MoveTable,
    NamespaceStep,
    RegisterBack,
    RemoveRef,
    SetRef,
    StageCreate,
    Step,
    TableStep,
    UpdateProperties,
)

__all__ = ["MAIN", "OWNER", "Allowed", "CatalogModel", "NamespaceModel", "TableModel", "predict"]

MAIN = "main"
OWNER = "icecheck.owner"
"""The property that namespaces and tables are created with."""


@dataclass(frozen=True, slots=True)
class TableModel:
    """The expected state of a table: identity, properties, columns, snapshots and refs.

    ``identity`` is counted from 1. ``origin`` is the namespace and table number of its creation,
    where its files may still lie; ``snapshots`` is the number of snapshots ever added, and the
    ordinal of the newest one; ``refs`` is ref name -> (ordinal of its snapshot, branch or tag).
    """

    identity: int
    origin: tuple[int, int] = (-1, -1)
    properties: Mapping[str, str] = field(default_factory=dict)
    columns: int = 1
    snapshots: int = 0
    refs: Mapping[str, tuple[int, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NamespaceModel:
    """The expected state of a namespace: its properties, and its tables by number."""

    properties: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[int, TableModel] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CatalogModel:
    """The existing namespaces by number; ``created`` counts the tables ever created.

    ``renames`` are the kinds of rename that the catalog has carried out: across namespaces (True)
    and within one (False).
    """

    namespaces: Mapping[int, NamespaceModel] = field(default_factory=dict)
    created: int = 0
    renames: frozenset[bool] = frozenset()

    def table(self, namespace: int, table: int) -> TableModel | None:
        """Return a table, or None if it or its namespace does not exist."""
        found = self.namespaces.get(namespace)
        return None if found is None else found.tables.get(table)

    def lies_at(self, namespace: int, table: int) -> bool:
        """Return whether an existing table was created under these numbers."""
        held = [t for n in self.namespaces.values() for t in n.tables.values()]
        return any(t.origin == (namespace, table) for t in held)

    def with_table(self, namespace: int, table: int, value: TableModel | None) -> "CatalogModel":
        """Return the catalog with a table in an existing namespace, or without it (None)."""
        before = self.namespaces[namespace]
        tables = {k: v for k, v in before.tables.items() if k != table}
        if value is not None:
            tables[table] = value
        return self.with_namespace(namespace, replace(before, tables=tables))

    def with_namespace(self, namespace: int, value: NamespaceModel | None) -> "CatalogModel":
        """Return the catalog with a namespace, or without it (None)."""
        kept = {k: v for k, v in self.namespaces.items() if k != namespace}
        if value is not None:
            kept[namespace] = value
        return replace(self, namespaces=kept)


@dataclass(frozen=True, slots=True)
class Allowed:
    """One allowed answer: its statuses, and the state after it."""

    statuses: tuple[int, ...]
    after: CatalogModel


def predict(model: CatalogModel, step: Step) -> tuple[Allowed, ...]:
    """Return the allowed answers to a step, the expected one first."""
    match step:
        case (
            CreateNamespace()
            | DropNamespace()
            | LoadNamespace()
            | UpdateProperties()
            | ListTables()
        ):
            return _namespace_step(model, step)
        case CreateTable() | StageCreate():
            return _create(model, step)
        case MoveTable():
            return _move(model, step)
        case _:
            return _table_step(model, step)


def _namespace_step(model: CatalogModel, step: NamespaceStep) -> tuple[Allowed, ...]:
    found = model.namespaces.get(step.namespace)
    match step:
        case CreateNamespace(n, owner):
            if found is not None:
                return (Allowed((409,), model),)
            made = NamespaceModel(properties={OWNER: owner})
            return (Allowed((200,), model.with_namespace(n, made)),)
        case DropNamespace(n):
            if found is not None and found.tables:
                return (Allowed((409,), model),)
            return _if(found is not None, model, 204, model.with_namespace(n, None))
        case LoadNamespace() | ListTables():
            return _if(found is not None, model, 200, model)
        case UpdateProperties(n, key, value, removed):
            if key == removed:
                # For a missing namespace both statuses are correct.
                return (Allowed((422,) if found is not None else (422, 404), model),)
            if found is None:
                return (Allowed((404,), model),)
            kept = {k: v for k, v in found.properties.items() if k != removed}
            changed = replace(found, properties={**kept, key: value})
            return (Allowed((200,), model.with_namespace(n, changed)),)


def _create(model: CatalogModel, step: CreateTable | StageCreate) -> tuple[Allowed, ...]:
    found = model.namespaces.get(step.namespace)
    if found is not None and step.table in found.tables:
        return (Allowed((409,), model),)
    match step:
        case StageCreate():
            # Nothing is created yet: a catalog may check the namespace only at the commit.
            return (Allowed((200,) if found is not None else (404, 200), model),)
        case CreateTable(n, t, owner):
            if found is None:
                return (Allowed((404,), model),)
            made = TableModel(identity=model.created + 1, origin=(n, t), properties={OWNER: owner})
            after = replace(model, created=made.identity)
            created = Allowed((200,), after.with_table(n, t, made))
            # The files of a renamed table may lie at the location of the new one.
            return (created, Allowed((400, 403, 422), model)) if model.lies_at(n, t) else (created,)


def _move(model: CatalogModel, step: MoveTable) -> tuple[Allowed, ...]:
    table = model.table(step.namespace, step.table)
    there = model.namespaces.get(step.to_namespace)
    across = step.namespace != step.to_namespace
    # A catalog need not support renames, or renames between namespaces (L1271); a catalog that has
    # done one supports that kind.
    unsupported = () if across in model.renames else (Allowed((406,), model),)
    if not across and step.table == step.to_table:
        # The document does not say whether a table may be renamed to its own name; a catalog that
        # refuses this may do so before it notices that the table is missing.
        return (Allowed((204, 409, 400, 406) if table is not None else (404, 400, 406), model),)
    if table is None or there is None:
        occupied = there is not None and step.to_table in there.tables
        return (Allowed((404, 409) if occupied else (404,), model), *unsupported)
    if step.to_table in there.tables:
        return (Allowed((409,), model), *unsupported)
    gone = model.with_table(step.namespace, step.table, None)
    moved = gone.with_table(step.to_namespace, step.to_table, table)
    moved = replace(moved, renames=model.renames | {across})
    return (Allowed((204,), moved), *unsupported)


def _table_step(model: CatalogModel, step: TableStep) -> tuple[Allowed, ...]:
    """Return the allowed answers to a step that needs a table: 404 without one."""
    table = model.table(step.namespace, step.table)
    if table is None:
        return (Allowed((404,), model),)
    without = model.with_table(step.namespace, step.table, None)
    match step:
        case LoadTable():
            return (Allowed((200,), model),)
        case DropTable():
            return (Allowed((204,), without),)
        case RegisterBack():
            # A catalog that deletes files at once has nothing to register; in one that deletes them
            # later the location may be taken. Any status may say so, unless the name is the reason.
            refused = (400, 403, 404, 406, 409, 422, 500)
            return (Allowed((200,), model), Allowed(refused, without))
        case _:
            return _commit_step(model, step, table)


def _commit_step(model: CatalogModel, step: CommitStep, table: TableModel) -> tuple[Allowed, ...]:
    def done(changed: TableModel) -> Allowed:
        return Allowed((200,), model.with_table(step.namespace, step.table, changed))

    match step:
        case CommitStale():
            return (Allowed((409,), model),)
        case CommitProperties(set_key=key, value=value, remove_key=removed):
            # Updates apply in order: a property that is set and then removed is gone.
            properties = {**table.properties, key: value}
            properties.pop(removed, None)
            return (done(replace(table, properties=properties)),)
        case AddColumn():
            return (done(replace(table, columns=table.columns + 1)),)
        case AddSnapshot():
            newest = table.snapshots + 1
            refs = {**table.refs, MAIN: (newest, "branch")}
            return (done(replace(table, snapshots=newest, refs=refs)),)
        case SetRef() if table.snapshots == 0:
            return (_refusal(model),)
        case SetRef(ref=ref, kind=kind):
            refs = {**table.refs, ref: (table.snapshots, kind)}
            return (done(replace(table, refs=refs)),)
        case RemoveRef(ref=ref):
            kept = {k: v for k, v in table.refs.items() if k != ref}
            removal = done(replace(table, refs=kept))
            # The document does not say whether a missing ref can be removed.
            return (removal,) if ref in table.refs else (removal, _refusal(model))


def _refusal(model: CatalogModel) -> Allowed:
    """Return the refusal of an impossible commit: not 409, because it has no requirements."""
    return Allowed((400, 404, 406, 422), model)


def _if(
    exists: bool,
    model: CatalogModel,
    status: int,
    after: CatalogModel,
) -> tuple[Allowed, ...]:
    return (Allowed((status,), after),) if exists else (Allowed((404,), model),)
