"""Runs a history against a catalog and compares every answer with the model's prediction."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.findings.statuses import ANY_4XX, Statuses
from icecheck.findings.symptoms import NOT_AS_ACKNOWLEDGED, Severity, declare
from icecheck.findings.verdict import Finding
from icecheck.replies.expect import Reply, Violation, find
from icecheck.scenarios.random.model import MAIN, OWNER, Allowed, CatalogModel, TableModel, predict
from icecheck.scenarios.random.observing import (
    SNAPSHOT_ID_BASE,
    Difference,
    Knowledge,
    differences,
    shown_by,
)
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
    RegisterBack,
    RemoveRef,
    SetRef,
    StageCreate,
    Step,
    TableStep,
    UpdateProperties,
    in_words,
)
from icecheck.targets.target import Namespace

__all__ = ["Divergence", "Names", "play", "tidy"]

_EFFECT = declare(
    "effect",
    "Accepted changes lead to another state: {what}",
    Severity.FALSE_OR_LOST,
    NOT_AS_ACKNOWLEDGED,
)

NO_SUCH_SNAPSHOT = 4_242_424_242
ANOTHER_UUID = "00000000-0000-4000-8000-000000000000"


@dataclass(frozen=True, slots=True)
class Divergence:
    """A difference between catalog and model: the index of the step, and the finding."""

    index: int
    finding: Finding


class Names:
    """The names for a history's numbers; each run of a history has new ones."""

    def __init__(self, catalog: Catalog, steps: Sequence[Step]) -> None:
        namespaces = sorted({n for step in steps for n in _namespaces_of(step)})
        tables = sorted({t for step in steps for t in _tables_of(step)})
        self.namespaces = {n: catalog.new_namespace_name() for n in namespaces}
        self.tables = {t: catalog.new_name() for t in tables}


class _Player:
    """Runs one history: its names, the state of the model, and the answers so far."""

    def __init__(self, catalog: Catalog, names: Names, *, keeps_properties: bool) -> None:
        self.catalog = catalog
        self.names = names
        self.keeps_properties = keeps_properties
        self.model = CatalogModel()
        self.uuids: dict[int, str] = {}
        self.metadata: dict[tuple[int, int], Mapping[str, Any]] = {}

    def take(self, index: int, step: Step) -> Divergence | None:
        """Take one step, and update the model by the answer."""
        allowed = predict(self.model, step)
        try:
            reply = self._do(step)
        except Violation as violation:
            return _from_violation(index, step, violation)
        if reply is None:
            return None
        chosen = next((a for a in allowed if _answers(reply, a)), None)
        if chosen is None:
            wrong = reply.wrong_status(_due(allowed[0].statuses), detail=in_words(step))
            return Divergence(index, wrong.finding)
        self.model = chosen.after
        if not reply.ok:
            return None
        try:
            self._learn(step, reply)
            return _first(index, step, shown_by(step, reply, self._known()))
        except Violation as violation:
            return _from_violation(index, step, violation)

    def compare(self, index: int, step: Step) -> Divergence | None:
        """Compare what the catalog shows with the model."""
        try:
            return _first(index, step, differences(self.catalog, self._known()))
        except Violation as violation:
            return _from_violation(index, step, violation)

    def _known(self) -> Knowledge:
        return Knowledge(self.names, self.model, self.uuids, self.keeps_properties)

    def _learn(self, step: Step, reply: Reply) -> None:
        """Keep a new table's UUID, and the metadata on which the next commit is based."""
        match step:
            case CreateTable(n, t):
                identity = self.model.created
                self.uuids[identity] = str(find(reply.json(), ("metadata", "table-uuid")))
                self._remember((n, t), reply)
            case (
                LoadTable(n, t)
                | CommitProperties(n, t)
                | AddColumn(n, t)
                | AddSnapshot(n, t)
                | SetRef(n, t)
                | RemoveRef(n, t)
                | RegisterBack(n, t)
            ):
                self._remember((n, t), reply)
            case MoveTable():
                source = (step.namespace, step.table)
                target = (step.to_namespace, step.to_table)
                if source in self.metadata:
                    self.metadata[target] = self.metadata[source]

    def _remember(self, place: tuple[int, int], reply: Reply) -> None:
        metadata = find(reply.json(), ("metadata",))
        if isinstance(metadata, dict):
            self.metadata[place] = metadata

    def _do(self, step: Step) -> Reply | None:
        """Send the request of a step; return None if it cannot be sent."""
        catalog = self.catalog
        match step:
            case CreateNamespace(n, owner):
                properties = {OWNER: owner} if self.keeps_properties else {}
                return catalog.create_namespace(self._namespace(n), properties)
            case DropNamespace(n):
                return catalog.drop_namespace(self._namespace(n))
            case LoadNamespace(n):
                return catalog.load_namespace_metadata(self._namespace(n))
            case UpdateProperties(n, key, value, removed):
                return catalog.update_properties(
                    self._namespace(n), updates={key: value}, removals=[removed]
                )
            case ListTables(n):
                return catalog.list_tables(self._namespace(n))
            case MoveTable(n, t, to_n, to_t):
                source = (self._namespace(n), self.names.tables[t])
                return catalog.rename_table(
                    source, (self._namespace(to_n), self.names.tables[to_t])
                )
            case _:
                return self._do_with_table(step)

    def _do_with_table(self, step: TableStep | CreateTable | StageCreate) -> Reply | None:
        namespace, name = self._namespace(step.namespace), self.names.tables[step.table]
        match step:
            case CreateTable(owner=owner):
                body = bodies.create_table_body(
                    name, table_schema=_schema(1), properties={OWNER: owner}
                )
                return self.catalog.create_table(namespace, body)
            case StageCreate():
                body = bodies.create_table_body(name, table_schema=_schema(1), stage_create=True)
                return self.catalog.create_table(namespace, body)
            case LoadTable():
                return self.catalog.load_table(namespace, name)
            case DropTable():
                return self.catalog.drop_table(namespace, name)
            case RegisterBack():
                return self._register_back(step)
            case _:
                updates, requirements = self._commit(step)
                return self.catalog.update_table(namespace, name, updates, requirements)

    def _commit(self, step: CommitStep) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the updates and requirements of a step that commits."""
        table = self.model.table(step.namespace, step.table)
        match step:
            case CommitProperties(set_key=key, value=value, remove_key=removed):
                return [
                    {"action": "set-properties", "updates": {key: value}},
                    {"action": "remove-properties", "removals": [removed]},
                ], []
            case CommitStale():
                stale = [{"type": "assert-table-uuid", "uuid": ANOTHER_UUID}]
                return [{"action": "set-properties", "updates": {OWNER: "stale"}}], stale
            case AddColumn():
                columns = table.columns if table is not None else 1
                return [
                    {"action": "add-schema", "schema": _schema(columns + 1)},
                    {"action": "set-current-schema", "schema-id": -1},
                ], [{"type": "assert-last-assigned-field-id", "last-assigned-field-id": columns}]
            case AddSnapshot():
                return self._add_snapshot(step, table), []
            case SetRef(ref=ref, kind=kind):
                newest = _snapshot_id(table.snapshots) if table is not None else 0
                known = table is not None and table.snapshots > 0
                return [bodies.snapshot_ref(newest if known else NO_SUCH_SNAPSHOT, ref, kind)], []
            case RemoveRef(ref=ref):
                return [{"action": "remove-snapshot-ref", "ref-name": ref}], []

    def _add_snapshot(self, step: AddSnapshot, table: TableModel | None) -> list[dict[str, Any]]:
        metadata = self.metadata.get((step.namespace, step.table), {})
        ordinal, parent = 1, None
        if table is not None:
            ordinal = table.snapshots + 1
            parent = _snapshot_id(table.refs[MAIN][0]) if MAIN in table.refs else None
        added = bodies.snapshot(metadata, 1, parent=parent)
        added["snapshot-id"] = _snapshot_id(ordinal)
        return [
            {"action": "add-snapshot", "snapshot": added},
            bodies.snapshot_ref(_snapshot_id(ordinal)),
        ]

    def _register_back(self, step: RegisterBack) -> Reply | None:
        namespace, name = self._namespace(step.namespace), self.names.tables[step.table]
        loaded = self.catalog.load_table(namespace, name)
        if self.model.table(step.namespace, step.table) is None:
            return loaded
        location = find(loaded.expect(200).json(), ("metadata-location",))
        if not isinstance(location, str):
            return None
        dropped = self.catalog.drop_table(namespace, name)
        if not dropped.ok:
            raise dropped.wrong_status(Statuses.of(204))
        reply = self.catalog.register_table(namespace, name, location)
        if not reply.ok and self._registers(namespace, location):
            detail = "the same file is registered under a name that was never used"
            raise reply.wrong_status(Statuses.of(200), detail=detail)
        return reply

    def _registers(self, namespace: Namespace, location: str) -> bool:
        """Return whether the file is accepted under a new name, so that the name was the reason."""
        return self.catalog.register_table(namespace, self.catalog.new_name(), location).ok

    def _namespace(self, number: int) -> Namespace:
        return self.names.namespaces[number]


def play(
    catalog: Catalog,
    steps: Sequence[Step],
    *,
    compare_every: int = 6,
    keeps_properties: bool = True,
) -> Divergence | None:
    """Run a history under new names; return the first difference from the model, or None.

    Answers are compared at once; the catalog's state every ``compare_every`` steps and at the end.
    Raises Unreachable when the catalog gives no answer, which proves nothing.
    """
    player = _Player(catalog, Names(catalog, steps), keeps_properties=keeps_properties)
    for index, step in enumerate(steps):
        found = player.take(index, step)
        due = (index + 1) % compare_every == 0 or index + 1 == len(steps)
        if found is None and due:
            found = player.compare(index, step)
        if found is not None:
            return found
    return None


def tidy(catalog: Catalog) -> None:
    """Drop the objects of the histories so far; ``undo`` removes what is left."""
    for entry in catalog.ledger.newest_first():
        if entry.kind == "table":
            catalog.drop_table(entry.namespace, entry.name)
        else:
            catalog.drop_namespace(entry.namespace)


def _answers(reply: Reply, allowed: Allowed) -> bool:
    """Return whether an answer is allowed; other checks judge which 2xx it must be."""
    return reply.status in allowed.statuses or (
        reply.ok and any(200 <= status < 300 for status in allowed.statuses)
    )


def _due(statuses: Sequence[int]) -> Statuses:
    any_refusal = len(statuses) > 3 and all(400 <= status < 500 for status in statuses)
    return ANY_4XX if any_refusal else Statuses.of(*statuses)


def _namespaces_of(step: Step) -> tuple[int, ...]:
    moved = (step.to_namespace,) if isinstance(step, MoveTable) else ()
    return (step.namespace, *moved)


def _tables_of(step: Step) -> tuple[int, ...]:
    table = getattr(step, "table", None)
    moved = (step.to_table,) if isinstance(step, MoveTable) else ()
    return (*(() if table is None else (table,)), *moved)


def _schema(columns: int) -> dict[str, Any]:
    return bodies.schema(*[bodies.struct_field(i, f"c{i}", "long") for i in range(1, columns + 1)])


def _snapshot_id(ordinal: int) -> int:
    return SNAPSHOT_ID_BASE + ordinal


def _first(index: int, step: Step, found: Iterator[Difference]) -> Divergence | None:
    difference = next(found, None)
    return None if difference is None else _from_difference(index, step, difference)


def _from_difference(index: int, step: Step, found: Difference) -> Divergence:
    finding = Finding(
        _EFFECT.of(found.what),
        found.expected,
        found.actual,
        f"{found.where}, seen after: {in_words(step)}",
        exchange=found.exchange,
        answered=found.answered,
    )
    return Divergence(index, finding)


def _from_violation(index: int, step: Step, violation: Violation) -> Divergence:
    return Divergence(index, replace(violation.finding, detail=in_words(step), pointer=""))
