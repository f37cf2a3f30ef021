"""Defects that change objects which the request does not name."""

from collections import defaultdict

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Context, Outcome, Registries, Reply
from icecheck.mock_server.core.state import Kind, WarehouseState
from icecheck.mock_server.defects.kit.changing import do_after, without
from icecheck.mock_server.defects.kit.declaring import by, declare, defect, through
from icecheck.mock_server.defects.kit.remembering import note_after, note_outcome, place_of
from icecheck.mock_server.defects.kit.requests import (
    Json,
    Levels,
    Name,
    rename_ends,
    sent_json,
    sent_name,
    with_members,
)
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_answer, wrap
from icecheck.mock_server.defects.kit.storing import with_metadata
from icecheck.mock_server.protocol.problem import Problem


def _renamed(registries: Registries, operation_id: str) -> dict[Name, Name]:
    """Return a map from new name to former name, which every rename extends."""
    renamed: dict[Name, Name] = {}

    def move(call: Call) -> None:
        source, target = rename_ends(call)
        renamed[target] = source

    note_after(registries, operation_id, move)
    return renamed


def _sent_namespace(call: Call) -> Levels:
    return tuple(sent_json(call).get("namespace") or ())


# -------------------------------------------------------------------------- namespaces


@defect(
    "world-child-takes-what-was-changed",
    breaks="world.namespaces",
    suffering="A new database has the owner that another one was given.",
)
def _child_takes(registries: Registries) -> None:
    """A namespace that is made in one whose properties were changed has these properties too."""
    changed: dict[Levels, Json] = defaultdict(dict)

    def note(call: Call) -> None:
        changed[call.namespace] |= sent_json(call).get("updates") or {}

    def make(_c: Context, _s: WarehouseState, call: Call, after: WarehouseState) -> WarehouseState:
        namespace = _sent_namespace(call)
        entry = after.namespace(namespace)
        inherited = changed.get(namespace[:-1], {})
        return after.with_namespace(namespace, inherited | (entry.properties if entry else {}))

    note_after(registries, "updateProperties", note)
    do_after(registries, "createNamespace", make)


@defect(
    "world-old-children-are-listed-again",
    breaks="world.namespaces",
    suffering="A new database lists schemas that were dropped with the old one.",
)
def _old_children(registries: Registries) -> None:
    """The list of children is kept by their parent's name, and back when that is made again."""
    dropped: set[Levels] = set()
    again: set[Levels] = set()

    def make(call: Call) -> None:
        again.update({_sent_namespace(call)} & dropped)

    def listed(call: Call, body: Json) -> Json:
        parent = tuple((call.query.get("parent") or "").split("\x1f"))
        old = [[*each] for each in sorted(dropped) if each[:-1] == parent and parent in again]
        shown = body["namespaces"]
        return body | {"namespaces": [*shown, *(each for each in old if each not in shown)]}

    note_after(registries, "dropNamespace", lambda call: dropped.add(call.namespace))
    note_after(registries, "createNamespace", make)
    alter_answer(registries, "listNamespaces", listed)


@defect(
    "world-drop-clears-the-namesake",
    on=through(do_after, "dropNamespace"),
    breaks="world.namespaces",
    suffering="DROP NAMESPACE b takes the properties of a.b away.",
)
def _clears_the_namesake(
    _c: Context, _s: WarehouseState, call: Call, after: WarehouseState
) -> WarehouseState:
    """Properties are kept by the last part of a namespace's name, and removed so."""
    for namespace, _ in [*after.namespaces.after()]:
        if namespace[-1] == call.namespace[-1]:
            after = after.with_namespace(namespace, {})
    return after


@defect(
    "world-later-pages-of-all-below",
    breaks="world.namespaces",
    suffering="SHOW NAMESPACES lists the schemas of another database after its first page.",
)
def _later_pages(registries: Registries) -> None:
    """From the second page on, the children of all namespaces that begin alike are listed."""
    known: set[Levels] = set()

    def note(_c: Context, _s: WarehouseState, _call: Call, outcome: Outcome) -> None:
        known.clear()
        known.update(namespace for namespace, _ in outcome.state.namespaces.after())

    def listed(call: Call, body: Json) -> Json:
        if not call.query.get("pageToken") or body.get("next-page-token") is not None:
            return body
        parent = tuple((call.query.get("parent") or "").split("\x1f"))
        below = [[*each] for each in sorted(known) if each[: len(parent)] == parent]
        deeper = [each for each in below if len(each) == len(parent) + 2]
        return body | {"namespaces": [*body["namespaces"], *deeper]}

    for operation_id in ("createNamespace", "dropNamespace"):
        note_outcome(registries, operation_id, note)
    alter_answer(registries, "listNamespaces", listed)


# ------------------------------------------------------------------------------ tables


def _goes_with_its_old_namespace(registries: Registries, kind: Kind) -> None:
    """Remove, with a namespace, the objects that were renamed out of it."""
    made: dict[Name, Levels] = {}

    def move(call: Call) -> None:
        source, target = rename_ends(call)
        made[target] = made.pop(source, source[0])

    def drop(_c: Context, _s: WarehouseState, call: Call, after: WarehouseState) -> WarehouseState:
        for name, namespace in made.items():
            if namespace == call.namespace:
                after = without(after, name, kind)
        return after

    note_after(registries, "renameTable" if kind == "table" else "renameView", move)
    do_after(registries, "dropNamespace", drop)


declare(
    "world-moved-table-goes-with-its-old-namespace",
    "A drop removes the tables that were made in the namespace, wherever they are now.",
    by(_goes_with_its_old_namespace, "table"),
    breaks="world.tables",
    suffering="Tables that were moved out of a database are lost when it is dropped.",
)


@defect(
    "world-registration-brings-the-old-name-back",
    breaks="world.tables",
    suffering="A table that was registered elsewhere is there twice, and each is written to.",
)
def _old_name_back(registries: Registries) -> None:
    """A dropped row with the same file is made valid again when the file is registered."""
    dropped: dict[str, Name] = {}

    def drop(_c: Context, was: WarehouseState, call: Call, _outcome: Outcome) -> None:
        if entry := was.table(*place_of(call)):
            dropped[entry.metadata_location] = place_of(call)

    def back(_c: Context, _s: WarehouseState, call: Call, after: WarehouseState) -> WarehouseState:
        name = dropped.get(str(sent_json(call).get("metadata-location")))
        entry = after.table(call.namespace, sent_name(call))
        if name is None or entry is None or after.namespace(name[0]) is None:
            return after
        return after if after.kind_of(*name) else after.with_table(*name, entry)

    note_outcome(registries, "dropTable", drop)
    do_after(registries, "registerTable", back)


@defect(
    "world-rename-finds-old-properties",
    breaks="world.tables",
    suffering="The new version of a table has the settings of the old one.",
)
def _old_properties(registries: Registries) -> None:
    """Properties are kept by name: what is renamed to a dropped table's name has that one's."""
    dropped: dict[Name, dict[str, str]] = {}

    def drop(_c: Context, was: WarehouseState, call: Call, _outcome: Outcome) -> None:
        if entry := was.table(*place_of(call)):
            dropped[place_of(call)] = entry.metadata.properties

    def move(
        context: Context, _s: WarehouseState, call: Call, after: WarehouseState
    ) -> WarehouseState:
        _, target = rename_ends(call)
        entry = after.table(*target)
        if entry is None or target not in dropped:
            return after
        metadata = replace(entry.metadata, properties=dropped[target])
        return after.with_table(*target, with_metadata(context, entry, metadata))

    note_outcome(registries, "dropTable", drop)
    do_after(registries, "renameTable", move)


@defect(
    "world-old-name-is-not-modified",
    breaks="world.tables",
    suffering="A client that has a table cached does not notice that it was moved away.",
)
def _not_modified(registries: Registries) -> None:
    """A conditional load under a name that a table was moved from finds the tag, and says 304."""
    tags: dict[Name, set[str]] = defaultdict(set)
    left: set[Name] = set()

    def move(call: Call) -> None:
        source, target = rename_ends(call)
        left.add(source)
        left.discard(target)

    def load(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        name = place_of(call)
        asked = call.request.headers.get("if-none-match")
        try:
            outcome = faithful(state, call)
        except Problem:
            if name in left and asked in tags[name]:
                return Outcome(state, Reply(304))
            raise
        tags[name].update(value for key, value in outcome.reply.headers if key == "etag")
        return outcome

    note_after(registries, "renameTable", move)
    wrap(registries, "loadTable", load)


# ------------------------------------------------------------------------------- views


@defect(
    "world-view-commit-brings-the-old-name-back",
    breaks="world.views",
    suffering="A view that was renamed and then replaced is there under both names.",
)
def _view_old_name(registries: Registries) -> None:
    """A commit to a view is written under the name that it was made with, too."""
    renamed = _renamed(registries, "renameView")

    def write(_c: Context, _s: WarehouseState, call: Call, after: WarehouseState) -> WarehouseState:
        source = renamed.get((call.namespace, call.name))
        entry = after.view(call.namespace, call.name)
        if source is None or entry is None or after.namespace(source[0]) is None:
            return after
        return after if after.kind_of(*source) else after.with_view(*source, entry)

    do_after(registries, "replaceView", write)


@defect(
    "world-namesakes-share-a-change",
    on="replaceView",
    breaks="world.views",
    suffering="ALTER VIEW in one database changes the view of the same name in all.",
)
def _namesakes(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Properties of views are set by the view's name, in whatever namespace."""
    outcome = faithful(state, call)
    updates = sent_json(call).get("updates") or []
    named = [each for each in updates if each.get("action") == "set-properties"]
    if not named:
        return outcome
    alike = with_members(call, updates=named, requirements=[])
    after = outcome.state
    for namespace, entry in [*after.namespaces.after()]:
        if namespace != call.namespace and call.name in entry.views:
            after = faithful(after, replace(alike, namespace=namespace)).state
    return replace(outcome, state=after)


declare(
    "world-dropped-namespace-takes-moved-views",
    "A drop removes the views that were made in the namespace, wherever they are now.",
    by(_goes_with_its_old_namespace, "view"),
    breaks="world.views",
    suffering="Views that were moved out of a database are lost when it is dropped.",
)


@defect(
    "world-dropped-namespace-takes-new-views",
    breaks="world.views",
    suffering="CREATE VIEW in a database that was dropped seems to succeed, and the view is lost.",
)
def _known_namespaces(registries: Registries) -> None:
    """A creation asks once for each namespace whether there is one."""
    known: set[Levels] = set()

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if call.namespace in known and call.namespace not in state.namespaces:
            made = faithful(state.with_namespace(call.namespace, {}), call)
            return replace(made, state=state)
        outcome = faithful(state, call)
        known.add(call.namespace)
        return outcome

    wrap(registries, "createView", around)


# ----------------------------------------------------------------- tables and views together


@defect(
    "world-transaction-brings-the-old-name-back",
    breaks="world.together",
    suffering="A table that was moved is there twice after a transaction.",
)
def _transaction_old_name(registries: Registries) -> None:
    """A transaction writes what it changes under the names that tables were made with, too."""
    renamed = _renamed(registries, "renameTable")

    def write(_c: Context, _s: WarehouseState, call: Call, after: WarehouseState) -> WarehouseState:
        for change in sent_json(call).get("table-changes") or ():
            identifier = change.get("identifier") or {}
            name = (tuple(identifier.get("namespace") or ()), str(identifier.get("name")))
            entry, source = after.table(*name), renamed.get(name)
            if entry is not None and source is not None and after.namespace(source[0]):
                after = after.with_table(*source, entry)
        return after

    do_after(registries, "commitTransaction", write)


@defect(
    "world-removal-of-a-property-removes-views",
    on=through(do_after, "updateProperties"),
    breaks="world.together",
    suffering="ALTER NAMESPACE UNSET makes the views of a database disappear.",
)
def _removes_views(
    _c: Context, _s: WarehouseState, call: Call, after: WarehouseState
) -> WarehouseState:
    """A property is removed by writing the namespace anew, with its tables but not its views."""
    entry = after.namespace(call.namespace)
    if entry is None or not sent_json(call).get("removals"):
        return after
    for name, _ in [*entry.views.after()]:
        after = after.without_view(call.namespace, name)
    return after
