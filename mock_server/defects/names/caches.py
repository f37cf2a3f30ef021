"""Defects of caches and rows by name that remain after the object with the name is gone."""

import json
from collections.abc import Callable

from msgspec import structs

from icecheck.mock_server.core.context import Call, Context, Outcome, Registries, Reply
from icecheck.mock_server.core.state import Kind, WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.remembering import answer_again, note_outcome, remembering
from icecheck.mock_server.defects.kit.requests import Json, sent_json, sent_name, with_content
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_call, wrap, wrap_each
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem

Key = tuple[str, tuple[str, ...], str]


def _key(context: Context, call: Call) -> Key:
    return context.warehouse, call.namespace, call.name


def _as_asked(context: Context, _: WarehouseState, call: Call) -> tuple[object, ...]:
    access = call.request.headers.get("x-iceberg-access-delegation")
    return *_key(context, call), call.request.query_string, access


def _keep_answers(
    registries: Registries, operation_id: str, asked: Callable[[Call], bool], changes: str
) -> None:
    """Answer from a cache by name while the name exists, until `changes` empties it."""
    kept: dict[Key, Reply] = {}

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        if asked(call):
            reply = kept.setdefault(_key(faithful.context, call), outcome.reply)
            return structs.replace(outcome, reply=reply)
        return outcome

    wrap(registries, operation_id, around)
    note_outcome(registries, changes, lambda context, _, call, __: kept.pop(_key(context, call), 0))


def _known_as(registries: Registries, kind: Kind, *operation_ids: str) -> None:
    """Answer operations from a cache by name where another kind of object has taken the name."""
    known: dict[Key, Reply] = {}

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        key = _key(faithful.context, call)
        if state.kind_of(call.namespace, call.name) not in {kind, None} and key in known:
            return Outcome(state, known[key])
        outcome = faithful(state, call)
        known[key] = outcome.reply
        return outcome

    wrap_each(registries, operation_ids, around)


def _keep_absence(registries: Registries, operation_id: str, *ended_by: str) -> None:
    """Remember that a name was missing until it is created; a rename does not end that."""
    missing: set[Key] = set()

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if _key(faithful.context, call) in missing:
            raise problem.Problem(404, "NotFoundException", "It was not there before")
        try:
            return faithful(state, call)
        except Problem as refused:
            if refused.status == 404:
                missing.add(_key(faithful.context, call))
            raise

    def ending(context: Context, _state: WarehouseState, call: Call, _outcome: Outcome) -> None:
        missing.discard((context.warehouse, call.namespace, sent_name(call)))

    wrap(registries, operation_id, around)
    for each in ended_by:
        note_outcome(registries, each, ending)


def _keep_presence(registries: Registries, operation_id: str, forgotten_by: str) -> None:
    """Remember that a name exists until `forgotten_by` is called; no other removal ends that."""
    seen: dict[Key, Reply] = {}

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if _key(faithful.context, call) in seen:
            return Outcome(state, seen[_key(faithful.context, call)])
        outcome = faithful(state, call)
        seen[_key(faithful.context, call)] = outcome.reply
        return outcome

    wrap(registries, operation_id, around)
    note_outcome(
        registries, forgotten_by, lambda context, _, call, __: seen.pop(_key(context, call), 0)
    )


@defect(
    "second-table-same-tag",
    breaks="second-life.table",
    suffering="A client goes on reading a table that was dropped, because nothing has changed.",
)
def _same_tag(registries: Registries) -> None:
    """Whoever has an entity tag is told that nothing has changed, until a commit to the name."""
    given: dict[Key, set[str]] = {}

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        tags = given.setdefault(_key(faithful.context, call), set())
        if call.request.headers.get("if-none-match") in tags:
            return structs.replace(outcome, reply=Reply(304, (), b""))
        tags.update(value for name, value in outcome.reply.headers if name.lower() == "etag")
        return outcome

    wrap(registries, "loadTable", around)
    note_outcome(
        registries, "updateTable", lambda context, _, call, __: given.pop(_key(context, call), 0)
    )


@defect(
    "second-table-staged-properties",
    on=remembering(dict, alter_call, "createTable"),
    breaks="second-life.staged",
    suffering="A table has the properties of a CREATE TABLE AS SELECT that was given up.",
)
def _staged_properties(staged: dict[tuple[tuple[str, ...], str], Json], call: Call) -> Call:
    """What was staged waits under its name, and whoever makes a table of that name gets it too."""
    sent = sent_json(call)
    where = (call.namespace, str(sent.get("name")))
    own = sent.get("properties") or {}
    if sent.get("stage-create") is True:
        staged[where] = own
        return call
    body = json.dumps({**sent, "properties": {**staged.pop(where, {}), **own}}).encode()
    return with_content(call, body)


@defect(
    "second-namespace-old-properties",
    breaks="second-life.namespace",
    suffering="A new namespace has the owner and the location of one that was dropped.",
)
def _old_properties(registries: Registries) -> None:
    """A dropped namespace is only marked, and its row taken again with all its properties."""
    dropped: dict[tuple[str, tuple[str, ...]], dict[str, str]] = {}

    def dropping(context: Context, before: WarehouseState, call: Call, _outcome: Outcome) -> None:
        entry = before.namespace(call.namespace)
        dropped[context.warehouse, call.namespace] = {} if entry is None else entry.properties

    def creating(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        namespace = tuple(sent_json(call).get("namespace") or ())
        entry = outcome.state.namespace(namespace)
        if entry is None or (faithful.context.warehouse, namespace) not in dropped:
            return outcome
        properties = dropped[faithful.context.warehouse, namespace] | entry.properties
        kept = outcome.state.with_namespace(namespace, properties)
        body = {"namespace": [*namespace], "properties": properties}
        return Outcome(kept, replies.json_reply(body), outcome.effects)

    note_outcome(registries, "dropNamespace", dropping)
    wrap(registries, "createNamespace", creating)


declare_each(
    ("second-table-cached-refs", "second-life.table",
     "Loads that ask for the referenced snapshots only are cached by name, until a commit.",
     "A table that was dropped and made again is read with its old columns.",
     by(_keep_answers, "loadTable", lambda call: call.query.get("snapshots") == "refs",
        "updateTable")),
    ("second-kind-still-a-table", "second-life.other-kind",
     "Credentials of a table are cached by name, and vended for the view that has it now.",
     "A view is offered as a table, because one had its name.",
     by(_known_as, "table", "loadCredentials", "tableExists")),
    ("second-kind-still-a-view", "second-life.other-kind",
     "A view is answered from a cache by name where a table has taken the name.",
     "A table is read as the view that had its name.", by(_known_as, "view", "loadView")),
    ("second-table-renamed-still-missing", "second-life.table-renamed",
     "That a table is missing is cached, and a rename does not empty the cache.",
     "A renamed table is not found by whoever has looked for it before.",
     by(_keep_absence, "loadTable", "createTable", "registerTable")),
    ("second-table-renamed-still-there", "second-life.table-renamed",
     "That a table exists is cached, and a rename does not empty the cache.",
     "CREATE TABLE IF NOT EXISTS does nothing under the name that a table had.",
     by(_keep_presence, "tableExists", "dropTable")),
    ("second-view-cached", "second-life.view", "Views are cached by name until they are replaced.",
     "A view that was dropped and made again answers with its old query.",
     by(_keep_answers, "loadView", lambda _: True, "replaceView")),
    ("second-view-renamed-still-missing", "second-life.view-renamed",
     "That a view is missing is cached, and a rename does not empty the cache.",
     "A renamed view is not found by whoever has looked for it before.",
     by(_keep_absence, "loadView", "createView")),
    ("second-view-renamed-still-there", "second-life.view-renamed",
     "That a view exists is cached, and a rename does not empty the cache.",
     "CREATE VIEW IF NOT EXISTS does nothing under the name that a view had.",
     by(_keep_presence, "viewExists", "dropView")),
    ("second-namespace-tables-cached", "second-life.namespace",
     "The tables of a namespace that has none are cached, and listed when it is gone.",
     "SHOW TABLES works in a namespace that was dropped.",
     by(_keep_presence, "listTables", "createTable")),
    ("table-cache-survives-drop", "dropTable.gone",
     "Tables are loaded from a cache by name, which commits empty and drops do not.",
     "A table that was dropped and made anew loads with its old schema and data.",
     by(answer_again, "loadTable", _as_asked, "updateTable", "commitTransaction", "registerTable",
        "renameTable")),
    ("list-namespaces-cache-survives-drop", "dropNamespace.gone",
     "Namespaces are listed from a cache, which creations empty and drops do not.",
     "SHOW NAMESPACES shows what was dropped until somebody makes another one.",
     by(answer_again, "listNamespaces",
        lambda context, _, call: (context.warehouse, call.request.query_string),
        "createNamespace")),
)  # fmt: skip
