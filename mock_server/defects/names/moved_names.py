"""Defects of services beside the catalog that miss the rename of a table or a view."""

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import answer_refusal, refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare_each
from icecheck.mock_server.defects.kit.remembering import note_after, place_of
from icecheck.mock_server.defects.kit.requests import Name, rename_ends
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_calls, wrap
from icecheck.mock_server.protocol import problem
from icecheck.mock_server.protocol.problem import Problem

_TABLE = "whereabouts.table"
_VIEW = "whereabouts.view"
_LOST = "Whoever renames a table cannot read it any more."


def _know_first_names_only(registries: Registries, operation_id: str) -> None:
    """Let an operation on tables answer 404 under a name that a table got by a rename."""
    unheard_of: set[Name] = set()
    note_after(registries, "renameTable", lambda call: unheard_of.add(rename_ends(call)[1]))
    note_after(registries, "dropTable", lambda call: unheard_of.discard(place_of(call)))

    refuse_where(
        registries,
        operation_id,
        lambda _, call: place_of(call) in unheard_of,
        404,
        "NoSuchTableException",
    )


_BESIDE = ("loadCredentials", "planTableScan", "reportMetrics")


def _spaced(text: str) -> str:
    return text.replace("+", " ")


declare_each(
    ("beside-tables-plus-is-a-space", "roundtrip.table-names",
     "A service beside the catalog decodes paths as forms: a plus in a table's name is a space.",
     "A table can be made and not be read, if there is a plus in its name.",
     by(alter_calls, _BESIDE, lambda call: replace(call, name=_spaced(call.name)))),
    ("beside-tables-plus-is-a-space-in-namespaces", "roundtrip.names-of-parents",
     "A service beside the catalog decodes paths as forms: a plus in a namespace is a space.",
     "A table can be made and not be read, if there is a plus in its namespace's name.",
     by(alter_calls, _BESIDE,
        lambda call: replace(call, namespace=tuple(map(_spaced, call.namespace))))),
)  # fmt: skip


def _answer_from_memory(registries: Registries, operation_id: str) -> None:
    """Let an operation repeat its last answer after the table is gone."""
    seen: dict[Name, Reply] = {}

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            outcome = faithful(state, call)
        except Problem as refused:
            if refused.status != 404 or place_of(call) not in seen:
                raise
            return Outcome(state, seen[place_of(call)])
        seen[place_of(call)] = outcome.reply
        return outcome

    wrap(registries, operation_id, around)


def _conflict_where_it_was(registries: Registries, kind: str, operation_id: str) -> None:
    """Answer 409 to a commit to an object that was dropped under this name."""
    dropped: set[Name] = set()
    note_after(registries, f"drop{kind.capitalize()}", lambda call: dropped.add(place_of(call)))

    def answer(_f: Faithful, _s: WarehouseState, call: Call, refused: Problem) -> Outcome:
        raise problem.commit_failed("changed") if place_of(call) in dropped else refused

    answer_refusal(registries, operation_id, 404, answer)


_RETRIED = "Writers try their commit again and again, to something that is gone."


def _count_where_made(registries: Registries, kind: str, *, gone: bool) -> None:
    """Let dropNamespace count objects in the namespace where they were made.

    Objects that moved in are overlooked; or, if ``gone``, those that moved out still count.
    """
    made_in: dict[Name, tuple[str, ...]] = {}

    def moved(call: Call) -> None:
        source, target = rename_ends(call)
        first = made_in.pop(source, source[0])
        if first != target[0]:
            made_in[target] = first

    def dropped(call: Call) -> None:
        made_in.pop(place_of(call), None)

    note_after(registries, f"rename{kind.capitalize()}", moved)
    note_after(registries, f"drop{kind.capitalize()}", dropped)

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if gone and call.namespace in made_in.values():
            raise problem.namespace_not_empty(call.namespace)
        seen = state
        for namespace, name in made_in:
            if not gone and namespace == call.namespace:
                without = seen.without_table if kind == "table" else seen.without_view
                seen = without(namespace, name)
        return faithful(seen, call)

    wrap(registries, "dropNamespace", around)


_ORPHANED = "What was moved into a namespace goes with it when that is dropped."
_HELD = "A namespace with nothing in it cannot be dropped."


declare_each(
    ("renamed-table-has-no-metrics", _TABLE,
     "Metrics are kept by the name that a table was made with: a renamed one is unknown.",
     "Nobody sees who uses the table.", by(_know_first_names_only, "reportMetrics")),
    ("renamed-table-has-no-plans", _TABLE,
     "Scans are planned by the name that a table was made with: a renamed one is unknown.", _LOST,
     by(_know_first_names_only, "planTableScan")),
    ("credentials-of-a-gone-table", _TABLE,
     "Credentials are kept for a while by name, and are answered though the table is gone.",
     "Whoever had access to a table has it still, to files that should be gone.",
     by(_answer_from_memory, "loadCredentials")),
    ("metrics-of-a-gone-table", _TABLE,
     "Reports are taken for every table that has ever been reported of.",
     "Reports tell of tables that are none.", by(_answer_from_memory, "reportMetrics")),
    ("commit-to-a-dropped-table-is-a-conflict", _TABLE,
     "A commit finds the row of a table that was dropped, with another version: 409, not 404.",
     _RETRIED, by(_conflict_where_it_was, "table", "updateTable")),
    ("commit-to-a-dropped-view-is-a-conflict", _VIEW,
     "A commit finds the row of a view that was dropped, with another version: 409, not 404.",
     _RETRIED, by(_conflict_where_it_was, "view", "replaceView")),
    ("moved-view-does-not-hold-its-namespace", _VIEW,
     "A namespace counts the views that were made in it: one with a moved view is empty.",
     _ORPHANED, by(_count_where_made, "view", gone=False)),
    ("moved-table-holds-its-old-namespace", _TABLE,
     "A namespace counts the tables that were made in it, also when they have moved away.", _HELD,
     by(_count_where_made, "table", gone=True)),
    ("moved-view-holds-its-old-namespace", _VIEW,
     "A namespace counts the views that were made in it, also when they have moved away.", _HELD,
     by(_count_where_made, "view", gone=True)),
)  # fmt: skip
