"""Defects of renaming views, and of views and tables with the same name."""

from collections.abc import Callable

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import Kind, WarehouseState
from icecheck.mock_server.defects.kit.changing import (
    do_after,
    make_namespace,
    put_back,
    refuse_where,
    see_otherwise,
    without,
    without_all,
    write_and_refuse,
)
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect
from icecheck.mock_server.defects.kit.remembering import (
    by_body,
    by_source,
    list_under_old_name,
    refuse_later,
)
from icecheck.mock_server.defects.kit.requests import Name, rename_end, sent_json, sent_name
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    answer_status,
    forget_effect,
    refuse_as,
    wrap,
)
from icecheck.mock_server.defects.kit.storing import view_with
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem

_DESTROYED = "CREATE of a mistaken name destroys something else."
_WRONG_KIND = "DROP or SELECT of a mistaken name meets the wrong kind of thing."


# -------------------------------------------------------------------------- renaming


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


declare_each(
    ("view-rename-makes-its-namespace", "renameView.target-namespace-missing",
     "A target namespace that is missing is made along with the rename of a view.",
     "A misspelled database name makes a new database.",
     by(make_namespace, "renameView", lambda call: rename_end(call, "destination")[0])),
    ("view-rename-conflict-writes", "renameView.conflict-changes-nothing",
     "A rename of a view is written first and then refused because the new name is taken.",
     "A refused rename has replaced a view all the same.",
     by(write_and_refuse, "renameView",
        lambda state, call: without(state, rename_end(call, "destination"), "view", "table"))),
    ("view-rename-keeps-old-name", "renameView.moves", "A rename of a view copies it.",
     "Two names lead to one view, and drift apart.",
     by(do_after, "renameView",
        lambda _, before, call, after: put_back(after, before, rename_end(call, "source")))),
    ("view-rename-creates-anew", "renameView.same-view",
     "A rename creates the view anew under the new name, with another uuid.",
     "Clients that hold the view open take it for another one.",
     by(_with_new_uuid, lambda _source, _target: True)),
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
    return Outcome(without(state, source, "view"), refusal)


# ------------------------------------------------------------- one name space with tables


def _not_looking_at(
    registries: Registries,
    operation_id: str,
    kind: Kind,
    *,
    spares: bool = True,
    across_only: bool = False,
) -> None:
    """Let an operation take a name that an object of this kind has; both then exist, or the new.

    With `across_only` a rename does so from another namespace, and no other way.
    """

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        renames = operation_id.startswith("rename")
        made = (call.namespace, call.name or sent_name(call))
        name = rename_end(call, "destination") if renames else made
        if across_only and name[0] == rename_end(call, "source")[0]:
            return faithful(state, call)
        outcome = faithful(without(state, name, kind), call)
        if without(state, name, kind) is state or not spares:
            return outcome
        return replace(outcome, state=put_back(outcome.state, state, name))

    wrap(registries, operation_id, around)


def _declare_not_looking(operation_id: str, kind: Kind) -> None:
    other = "table" if operation_id.endswith("Table") else "view"

    declare(
        f"{operation_id}-looks-at-no-{kind}".lower(),
        f"{operation_id} only looks whether a {other} has the name, not a {kind}.",
        by(_not_looking_at, operation_id, kind),
        breaks=f"{operation_id}.name-of-a-{kind}-refused",
        suffering=f"The {other} hides a {kind} of the same name, or is hidden by it.",
    )


for _operation_id in (
    "createView", "createTable", "renameView", "renameTable", "registerView", "registerTable",
):  # fmt: skip
    _declare_not_looking(_operation_id, "table" if _operation_id.endswith("View") else "view")


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


def _holds_views_only(state: WarehouseState, call: Call) -> bool:
    entry = state.namespace(call.namespace)
    return entry is not None and bool(entry.views) and not entry.tables


_answers_for_both("loadView", "loadTable", "loadView.table-is-no-view")
_answers_for_both("loadTable", "loadView", "loadTable.view-is-no-table")
_answers_for_both("viewExists", "tableExists", "viewExists.table-is-no-view")
_answers_for_both("tableExists", "viewExists", "tableExists.view-is-no-table")
_answers_for_both("dropView", "dropTable", "dropView.spares-tables")
_answers_for_both("dropTable", "dropView", "dropTable.spares-views")


declare_each(
    ("view-rename-across-onto-a-table", "renameView.name-of-a-table-refused",
     "A view that moves to another namespace is put there before names are compared.", _DESTROYED,
     by(_not_looking_at, "renameView", "table", spares=False, across_only=True)),
    ("table-rename-across-onto-a-view", "renameTable.name-of-a-view-refused",
     "Whether a view has the name is looked up in the namespace that a table is moved from.",
     _WRONG_KIND, by(_not_looking_at, "renameTable", "view", across_only=True)),
    ("namespace-drop-with-views-400", "dropNamespace.views-keep-it",
     "A namespace that holds a view and no table is a bad request to drop.",
     "Clients do not learn that the namespace is not empty.",
     by(refuse_where, "dropNamespace", _holds_views_only)),
    ("namespace-drop-overlooks-views", "dropNamespace.view-kept",
     "A namespace is empty when it has no tables.",
     "Views disappear with a namespace that looked empty.",
     by(see_otherwise, "dropNamespace",
        lambda state, call: without_all(state, call.namespace, "view"))),
    ("view-rename-old-name-reserved", "renameView.old-name-free",
     "The row with the old name stays in the table of names, which has a unique index.",
     "The name of a view that was renamed can never be used again.",
     by(refuse_later, ("renameView", by_source), ("createView", by_body))),
    ("view-rename-listed-under-old-name", "renameView.moves",
     "The list of views is kept apart, and a rename forgets it.",
     "SHOW VIEWS shows the old name of a view.",
     by(list_under_old_name, "renameView", "listViews")),
    ("table-committed-over-a-view", "createTable.name-of-a-view-refused",
     "A commit that creates a table does not ask whether a view has its name.", _WRONG_KIND,
     by(_not_looking_at, "updateTable", "view")),
    ("table-registered-over-a-view", "createTable.name-of-a-view-refused",
     "A registration does not ask whether a view has the table's name.", _WRONG_KIND,
     by(_not_looking_at, "registerTable", "view")),
    ("table-in-place-of-a-view", "createTable.spares-views",
     "The names of tables and views are one key, and a creation writes it.", _DESTROYED,
     by(_not_looking_at, "createTable", "view", spares=False)),
    ("table-committed-in-place-of-a-view", "createTable.spares-views",
     "The names of tables and views are one key, and a commit that creates a table writes it.",
     _DESTROYED, by(_not_looking_at, "updateTable", "view", spares=False)),
    ("view-registered-in-place-of-a-table", "registerView.name-of-a-table-refused",
     "The names of tables and views are one key, and the registration of a view writes it.",
     _DESTROYED, by(_not_looking_at, "registerView", "table", spares=False)),
    ("table-registered-over-a-view-400", "registerTable.name-of-a-view-refused",
     "That a view has the name is answered 400 to the registration of a table.",
     "Clients do not learn that the name is taken.",
     by(refuse_where, "registerTable",
        lambda state, call: state.view(call.namespace, sent_name(call)) is not None)),
    ("view-in-place-of-a-table", "createView.spares-tables",
     "The names of tables and views are one key, and the creation of a view writes it.",
     _DESTROYED, by(_not_looking_at, "createView", "table", spares=False)),
)  # fmt: skip


@defect(
    "register-overwrites-views",
    on="registerTable",
    breaks="createTable.spares-views",
    suffering="Restoring a table under a mistaken name destroys a view.",
)
def _overwrites_views(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A registration with overwrite takes the place of whatever has the name."""
    if sent_json(call).get("overwrite"):
        state = without(state, (call.namespace, sent_name(call)), "view")
    return faithful(state, call)
