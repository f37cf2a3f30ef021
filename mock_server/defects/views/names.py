"""Defects of renaming views, and of views and tables with the same name."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect
from icecheck.mock_server.defects.kit.requests import Name, rename_end, sent_name
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    answer_status,
    forget_effect,
    refuse_as,
    wrap,
)
from icecheck.mock_server.defects.kit.storing import view_with
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem

_WRONG_KIND = "DROP or SELECT of a mistaken name meets the wrong kind of thing."


def _without(state: WarehouseState, name: Name, *kinds: str) -> WarehouseState:
    if "view" in kinds and state.view(*name) is not None:
        state = state.without_view(*name)
    if "table" in kinds and state.table(*name) is not None:
        state = state.without_table(*name)
    return state


# -------------------------------------------------------------------------- renaming


@defect(
    "view-rename-makes-its-namespace",
    on="renameView",
    breaks="renameView.target-namespace-missing",
    suffering="A misspelled database name makes a new database.",
)
def _makes_its_namespace(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A target namespace that is missing is made along with the rename of a view."""
    namespace, _ = rename_end(call, "destination")
    if namespace and state.namespace(namespace) is None:
        state = state.with_namespace(namespace, {})
    return faithful(state, call)


@defect(
    "view-rename-conflict-writes",
    on="renameView",
    breaks="renameView.conflict-changes-nothing",
    suffering="A refused rename has replaced a view all the same.",
)
def _conflict_writes(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A rename of a view is written first and then refused because the new name is taken."""
    try:
        return faithful(state, call)
    except Problem as refused:
        if refused.status != 409:
            raise
        cleared = _without(state, rename_end(call, "destination"), "view", "table")
        written = faithful(cleared, call)
        return Outcome(written.state, replies.problem_reply(refused))


@defect(
    "view-rename-keeps-old-name",
    on="renameView",
    breaks="renameView.moves",
    suffering="Two names lead to one view, and drift apart.",
)
def _keeps_old_name(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A rename of a view copies it."""
    outcome = faithful(state, call)
    entry = state.view(*(source := rename_end(call, "source")))
    if entry is None:
        return outcome
    return Outcome(outcome.state.with_view(*source, entry), outcome.reply)


def _with_new_uuid(registries: Registries, when: Callable[[Name, Name], bool]) -> None:
    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        source, target = rename_end(call, "source"), rename_end(call, "destination")
        entry = outcome.state.view(*target)
        if entry is None or not when(source, target):
            return outcome
        uuid = faithful.context.identities.new_uuid()
        changed = view_with(entry, replace(entry.metadata, view_uuid=uuid))
        return Outcome(outcome.state.with_view(*target, changed), outcome.reply)

    wrap(registries, "renameView", around)


@defect(
    "view-rename-creates-anew",
    breaks="renameView.same-view",
    suffering="Clients that hold the view open take it for another one.",
)
def _creates_anew(registries: Registries) -> None:
    """A rename creates the view anew under the new name, with another uuid."""
    _with_new_uuid(registries, lambda source, target: True)  # noqa: ARG005 - any rename


declare_each(
    ("view-rename-200", "renameView.204", "A rename of a view is answered 200.",
     "Strict clients take the rename for failed.", by(answer_status, "renameView", 200)),
    ("view-rename-malformed-500", "renameView.400",
     "A rename of a view without source or destination is a null pointer.",
     "A client's mistake is reported as a failure of the server.",
     by(refuse_as, "renameView", 400, 500, "InternalServerError")),
    ("view-rename-missing-204", "renameView.404", "Renaming a view that does not exist succeeds.",
     "ALTER VIEW RENAME hides a misspelled name.", by(refuse_as, "renameView", 404, 204)),
    ("view-rename-conflict-500", "renameView.409", "A violated unique constraint is answered 500.",
     "A name that is taken looks like a failure of the server.",
     by(refuse_as, "renameView", 409, 500, "InternalServerError")),
    ("view-rename-forgotten", "renameView.moves", "A rename of a view is answered and not made.",
     "A renamed view still has its old name, and no other.", by(forget_effect, "renameView")),
    ("view-rename-across-creates-anew", "renameView.across-namespaces",
     "A view that moves to another namespace is created anew there.",
     "Clients that hold the view open take it for another one.",
     by(_with_new_uuid, lambda source, target: source[0] != target[0])),
)  # fmt: skip


@defect(
    "view-rename-unsupported-moves",
    on="renameView",
    breaks="renameView.406",
    suffering="A rename is refused as not supported, and the view has gone.",
)
def _unsupported_moves(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A rename across namespaces is refused as not supported after the view was taken away."""
    outcome = faithful(state, call)
    source, target = rename_end(call, "source"), rename_end(call, "destination")
    if source[0] == target[0]:
        return outcome
    refusal = replies.problem_reply(problem.unsupported("Views stay in their namespace"))
    return Outcome(_without(state, source, "view"), refusal)


# ------------------------------------------------------------- one name space with tables


def _not_looking_at(registries: Registries, operation_id: str, kind: str) -> None:
    """Let an operation take a name that an object of this kind has.

    The operation sees a state without that object, which is put back afterwards.
    """

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        made = operation_id.startswith("create")
        name = (call.namespace, sent_name(call)) if made else rename_end(call, "destination")
        outcome = faithful(_without(state, name, kind), call)
        kept = outcome.state
        if kind == "view" and (view := state.view(*name)) is not None:
            kept = kept.with_view(*name, view)
        if kind == "table" and (table := state.table(*name)) is not None:
            kept = kept.with_table(*name, table)
        return Outcome(kept, outcome.reply, outcome.effects)

    wrap(registries, operation_id, around)


def _declare_not_looking(operation_id: str, kind: str) -> None:
    other = "table" if operation_id.endswith("Table") else "view"

    declare(
        f"{operation_id}-looks-at-no-{kind}".lower(),
        f"{operation_id} only looks whether a {other} has the name, not a {kind}.",
        by(_not_looking_at, operation_id, kind),
        breaks=f"{operation_id}.name-of-a-{kind}-refused",
        suffering=f"The {other} hides a {kind} of the same name, or is hidden by it.",
    )


for _operation_id, _kind in (
    ("createView", "table"),
    ("createTable", "view"),
    ("renameView", "table"),
    ("renameTable", "view"),
):
    _declare_not_looking(_operation_id, _kind)


def _answers_for_both(operation_id: str, other: str, breaks: str) -> None:
    """Declare that an operation that finds nothing falls back on `other`."""

    def install(registries: Registries) -> None:
        sister = registries.operations[other]

        def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
            try:
                return faithful(state, call)
            except Problem as refused:
                if refused.status != 404:
                    raise
                return sister(faithful.context, state, call)

        wrap(registries, operation_id, around)

    declare(
        f"{operation_id}-of-either".lower(),
        f"{operation_id} looks for tables and views alike.",
        install,
        breaks=breaks,
        suffering=_WRONG_KIND,
    )


_answers_for_both("loadView", "loadTable", "loadView.table-is-no-view")
_answers_for_both("loadTable", "loadView", "loadTable.view-is-no-table")
_answers_for_both("viewExists", "tableExists", "viewExists.table-is-no-view")
_answers_for_both("tableExists", "viewExists", "tableExists.view-is-no-table")
_answers_for_both("dropView", "dropTable", "dropView.spares-tables")
_answers_for_both("dropTable", "dropView", "dropTable.spares-views")


@defect(
    "namespace-drop-overlooks-views",
    on="dropNamespace",
    breaks="dropNamespace.views-keep-it",
    suffering="Views disappear with a namespace that looked empty.",
)
def _overlooks_views(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A namespace is empty when it has no tables."""
    entry = state.namespace(call.namespace)
    for name, _ in () if entry is None else tuple(entry.views.after(None)):
        state = state.without_view(call.namespace, name)
    return faithful(state, call)


@defect(
    "view-rename-old-name-reserved",
    breaks="renameView.old-name-free",
    suffering="The name of a view that was renamed can never be used again.",
)
def _old_name_reserved(registries: Registries) -> None:
    """The row with the old name stays in the table of names, which has a unique index."""
    taken: set[Name] = set()

    def renamed(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        taken.add(rename_end(call, "source"))
        return outcome

    def created(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if (call.namespace, sent_name(call)) in taken:
            raise problem.already_exists("View already exists")
        return faithful(state, call)

    wrap(registries, "renameView", renamed)
    wrap(registries, "createView", created)


@defect(
    "view-rename-listed-under-old-name",
    breaks="renameView.moves",
    suffering="SHOW VIEWS shows the old name of a view.",
)
def _listed_under_old_name(registries: Registries) -> None:
    """The list of views is kept apart, and a rename forgets it."""
    before: dict[Name, Name] = {}

    def renamed(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        before[rename_end(call, "destination")] = rename_end(call, "source")
        return outcome

    def listed(body: dict[str, Any]) -> dict[str, Any]:
        old = [before.get((tuple(i["namespace"]), i["name"])) for i in body["identifiers"]]
        shown = [
            {"namespace": [*was[0]], "name": was[1]} if was else now
            for was, now in zip(old, body["identifiers"], strict=True)
        ]
        return body | {"identifiers": shown}

    wrap(registries, "renameView", renamed)
    alter_body(registries, "listViews", listed)


def _made_over_a_view(registries: Registries, operation_id: str) -> None:
    """Let an operation make a table as if no view had its name; both then exist."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        name: Name = (call.namespace, call.name or sent_name(call))
        view = state.view(*name)
        if view is None:
            return faithful(state, call)
        outcome = faithful(state.without_view(*name), call)
        return replace(outcome, state=outcome.state.with_view(*name, view))

    wrap(registries, operation_id, around)


declare_each(
    ("table-committed-over-a-view", "createTable.name-of-a-view-refused",
     "A commit that creates a table does not ask whether a view has its name.", _WRONG_KIND,
     by(_made_over_a_view, "updateTable")),
    ("table-registered-over-a-view", "createTable.name-of-a-view-refused",
     "A registration does not ask whether a view has the table's name.", _WRONG_KIND,
     by(_made_over_a_view, "registerTable")),
)  # fmt: skip
