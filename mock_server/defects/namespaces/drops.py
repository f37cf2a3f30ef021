"""Defects of dropNamespace: it removes too much or too little."""

import re
from collections.abc import Callable
from typing import Any

from icecheck.mock_server.core.context import Call, Context, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import (
    change_and_refuse,
    do_after,
    see_otherwise,
    without_all,
)
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.remembering import note_outcome
from icecheck.mock_server.defects.kit.requests import Json, Levels
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_request_body,
    answer_status,
    forget_effect,
    refuse_as,
)
from icecheck.mock_server.protocol import problem, replies


def _drop_where(registries: Registries, alike: Callable[[str, str], Any]) -> None:
    """Drop every namespace for which `alike` holds of the joined names of the dropped and it."""

    def done(_c: Context, _s: WarehouseState, call: Call, left: WarehouseState) -> WarehouseState:
        for namespace, _ in [*left.namespaces.after(None)]:
            if alike(".".join(call.namespace), ".".join(namespace)):
                left = left.without_namespace(namespace)
        return left

    do_after(registries, "dropNamespace", done)


@defect(
    "namespace-drop-orphans",
    on="dropNamespace",
    breaks="dropNamespace.holds-namespace",
    suffering="Namespaces below the dropped one can no longer be found.",
)
def _drop_orphans(_faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A drop looks for tables and views only, not for namespaces."""
    entry = state.namespace(call.namespace)
    if entry is None:
        raise problem.no_such_namespace(call.namespace)
    if entry.tables or entry.views:
        raise problem.namespace_not_empty(call.namespace)
    return Outcome(state.without_namespace(call.namespace), replies.NO_CONTENT)


@defect(
    "namespace-drop-takes-inner",
    on="dropNamespace",
    breaks="dropNamespace.inner-kept",
    suffering="DROP NAMESPACE without CASCADE drops the namespaces below.",
)
def _drop_takes_inner(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A drop takes along the empty namespaces below."""
    left = state
    for namespace, entry in state.namespaces.after(None):
        below = len(namespace) > len(call.namespace)
        if below and namespace[: len(call.namespace)] == call.namespace:
            if entry.tables or entry.views:
                return faithful(state, call)
            left = left.without_namespace(namespace)
    return faithful(left, call)


@defect(
    "namespace-recreated-with-old-properties",
    breaks="dropNamespace.recreate",
    suffering="A new namespace has the owner of one that was dropped long ago.",
)
def _recreated_with_old_properties(registries: Registries) -> None:
    """A drop only marks the namespace, and creating it again brings its properties back."""
    dropped: dict[Levels, dict[str, str]] = {}

    def remember(_c: Context, before: WarehouseState, call: Call, _outcome: Outcome) -> None:
        entry = before.namespace(call.namespace)
        dropped[call.namespace] = {} if entry is None else entry.properties

    def revive(body: Json) -> Json:
        old = dropped.get(tuple(body.get("namespace", ())), {})
        return body | {"properties": old | (body.get("properties") or {})}

    note_outcome(registries, "dropNamespace", remember)
    alter_request_body(registries, "createNamespace", revive)


declare_each(
    ("namespace-drop-200", "dropNamespace.204", "A drop is answered 200.",
     "Strict clients take the drop for failed.", by(answer_status, "dropNamespace", 200)),
    ("namespace-drop-forgotten", "dropNamespace.gone",
     "A drop is answered before it is carried out, and then fails in the background.",
     "DROP NAMESPACE succeeds, and the namespace is still there.",
     by(forget_effect, "dropNamespace")),
    ("namespace-drop-missing-204", "dropNamespace.404", "Dropping what does not exist succeeds.",
     "DROP NAMESPACE hides a misspelled name.", by(refuse_as, "dropNamespace", 404, 204)),
    ("namespace-drop-cascades", "dropNamespace.holds-table", "A drop takes the tables along.",
     "DROP NAMESPACE without CASCADE destroys tables.",
     by(see_otherwise, "dropNamespace",
        lambda state, call: without_all(state, call.namespace, "table"))),
    ("namespace-drop-empties", "dropNamespace.409",
     "A drop removes the tables before it finds out that the namespace is not empty.",
     "A refused DROP NAMESPACE destroys tables.",
     by(change_and_refuse, "dropNamespace", 409,
        lambda _, state, call: without_all(state, call.namespace, "table"))),
    ("namespace-drop-by-prefix", "dropNamespace.others-untouched",
     "A drop removes every namespace whose joined name begins alike.",
     "DROP NAMESPACE sales removes sales_2025 too.",
     by(_drop_where, lambda dropped, other: other.startswith(dropped))),
    ("namespace-drop-like", "dropNamespace.others-untouched",
     "A drop compares with SQL's LIKE, to which an underscore is any character.",
     "DROP NAMESPACE a_b removes axb too.",
     by(_drop_where,
        lambda dropped, other: re.fullmatch(re.escape(dropped).replace("_", "."), other))),
    ("namespace-refused-drop-empties-properties", "dropNamespace.refusal-changes-nothing",
     "A drop deletes the properties first, and meets the tables only then.",
     "Owner and location of a namespace are gone after a drop that did not happen.",
     by(change_and_refuse, "dropNamespace", 409,
        lambda _, state, call: state.with_namespace(call.namespace, {}))),
)  # fmt: skip
