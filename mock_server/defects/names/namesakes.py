"""Defects of similar names, of the same name elsewhere, and of namespaces that are gone."""

from collections.abc import Callable

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import answer_refusal
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.remembering import note_after
from icecheck.mock_server.defects.kit.requests import Levels, Name, rename_ends, sent_name
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.defects.tables.arrivals import tables_in
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem

# ------------------------------------------------------------------------ similar names


@defect(
    "world-drop-takes-who-has-the-old-name",
    breaks="world.tables",
    suffering="Dropping a table that was renamed also drops the one that replaced it.",
)
def _drop_takes_successor(registries: Registries) -> None:
    """A row keeps the name it was made under, and a drop deletes by that one too."""
    former: dict[Name, Name] = {}

    def move(call: Call) -> None:
        source, target = rename_ends(call)
        former[target] = former.pop(source, source)

    def drop(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        old = former.pop((call.namespace, call.name), None)
        if old is None or outcome.state.table(*old) is None:
            return outcome
        return replace(outcome, state=outcome.state.without_table(*old))

    note_after(registries, "renameTable", move)
    wrap(registries, "dropTable", drop)


@defect(
    "world-move-is-refused-for-a-name-at-home",
    on="renameTable",
    breaks="world.tables",
    suffering="A table cannot be moved to a name that is free, because it is taken elsewhere.",
)
def _refused_at_home(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Whether the new name is free is asked of the namespace that the table leaves, too."""
    outcome = faithful(state, call)
    (home, name), (namespace, new) = rename_ends(call)
    if home != namespace and name != new and state.kind_of(home, new) is not None:
        raise problem.already_exists(f"Table already exists: {new}")
    return outcome


@defect(
    "world-view-elsewhere-is-in-the-way",
    on="createTable",
    breaks="world.together",
    suffering="CREATE TABLE fails because a view in another database has the name.",
)
def _view_in_the_way(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Whether a view has the name of a new table is asked without the namespace."""
    outcome = faithful(state, call)
    name = sent_name(call)
    if any(name in entry.views for _, entry in state.namespaces.after(())):
        raise problem.already_exists(f"View with same name already exists: {name}")
    return outcome


@defect(
    "world-purge-takes-the-longer-place",
    on="dropTable",
    breaks="world.tables",
    suffering="DROP TABLE PURGE of a destroys the table beside it whose place is called a_x.",
)
def _purge_by_prefix(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A purge removes all files whose names begin as the table's place, and so the next table."""
    outcome = faithful(state, call)
    entry = state.table(call.namespace, call.name)
    if entry is None or call.query.get("purgeRequested") != "true":
        return outcome
    kept = outcome.state
    for each in list(tables_in(kept)):
        other = kept.table(*each)
        if other is not None and other.metadata.location.startswith(entry.metadata.location):
            kept = kept.without_table(*each)
    return replace(outcome, state=kept)


@defect(
    "world-rename-in-other-letters-is-refused",
    on="renameTable",
    breaks="world.tables",
    suffering="ALTER TABLE t RENAME TO T fails where both can be there.",
)
def _other_letters(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A rename looks for the new name without regard to letters, and finds the table itself."""
    outcome = faithful(state, call)
    (home, name), (namespace, new) = rename_ends(call)
    if home == namespace and name != new and name.lower() == new.lower():
        raise problem.already_exists(f"Table already exists: {new}")
    return outcome


@defect(
    "world-drop-takes-the-namespace-of-its-name",
    on="dropTable",
    breaks="world.tables",
    suffering="Dropping a table a.b destroys all that is in a namespace a.b.",
)
def _drop_by_path(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Everything is kept by its path, and a drop removes what begins with the table's."""
    outcome = faithful(state, call)
    kept, path = outcome.state, (*call.namespace, call.name)
    for namespace, _ in list(kept.namespaces.after(())):
        if namespace[: len(path)] == path:
            kept = kept.without_namespace(namespace)
    return replace(outcome, state=kept)


@defect(
    "world-table-exists-where-a-namespace-is",
    on="tableExists",
    breaks="world.namespaces",
    suffering="CREATE TABLE IF NOT EXISTS makes no table, because a namespace has the name.",
)
def _exists_by_path(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """An existence check finds whatever has the path."""
    if (*call.namespace, call.name) in state.namespaces:
        return Outcome(state, replies.NO_CONTENT)
    return faithful(state, call)


# ---------------------------------------------------------------------- namespaces gone


def _answered_when_gone(
    registries: Registries, operation_id: str, asked: Callable[[Call], Levels], empty: str
) -> None:
    """Answer an empty list for a namespace that was dropped."""
    gone: set[Levels] = set()

    def listing(_: Faithful, state: WarehouseState, call: Call, refused: Problem) -> Outcome:
        if asked(call) not in gone:
            raise refused
        return Outcome(state, replies.json_reply({empty: [], "next-page-token": None}))

    note_after(registries, "dropNamespace", lambda call: gone.add(call.namespace))
    answer_refusal(registries, operation_id, 404, listing)


declare_each(
    ("world-dropped-namespace-lists-no-tables", "world.namespaces",
     "Of a namespace that was dropped the tables are an empty list.",
     "USE of a dropped database succeeds, and it seems to be empty.",
     by(_answered_when_gone, "listTables", lambda call: call.namespace, "identifiers")),
    ("world-dropped-namespace-lists-no-children", "world.namespaces",
     "Of a namespace that was dropped the children are an empty list.",
     "SHOW NAMESPACES IN a dropped database succeeds.",
     by(_answered_when_gone, "listNamespaces",
        lambda call: tuple(call.query.get("parent", "").split("\x1f")), "namespaces")),
)  # fmt: skip
