"""Defects of dropNamespace: it removes too much or too little."""

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.requests import Json, Levels
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_request_body,
    answer_status,
    forget_effect,
    refuse_as,
    wrap,
)
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem

declare_each(
    ("namespace-drop-200", "dropNamespace.204", "A drop is answered 200.",
     "Strict clients take the drop for failed.", by(answer_status, "dropNamespace", 200)),
    ("namespace-drop-forgotten", "dropNamespace.gone",
     "A drop is answered before it is carried out, and then fails in the background.",
     "DROP NAMESPACE succeeds, and the namespace is still there.",
     by(forget_effect, "dropNamespace")),
    ("namespace-drop-missing-204", "dropNamespace.404", "Dropping what does not exist succeeds.",
     "DROP NAMESPACE hides a misspelled name.", by(refuse_as, "dropNamespace", 404, 204)),
)  # fmt: skip


@defect(
    "namespace-drop-cascades",
    on="dropNamespace",
    breaks="dropNamespace.holds-table",
    suffering="DROP NAMESPACE without CASCADE destroys tables.",
)
def _drop_cascades(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A drop takes the tables along."""
    return faithful(_without_tables(state, call.namespace), call)


@defect(
    "namespace-drop-empties",
    on="dropNamespace",
    breaks="dropNamespace.409",
    suffering="A refused DROP NAMESPACE destroys tables.",
)
def _drop_empties(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A drop removes the tables before it finds out that the namespace is not empty."""
    try:
        return faithful(state, call)
    except Problem as refused:
        if refused.status != 409:
            raise
        emptied = _without_tables(state, call.namespace)
        return Outcome(emptied, replies.problem_reply(refused))


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
    "namespace-drop-by-prefix",
    on="dropNamespace",
    breaks="dropNamespace.others-untouched",
    suffering="DROP NAMESPACE sales removes sales_2025 too.",
)
def _drop_by_prefix(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A drop removes every namespace whose joined name begins alike."""
    outcome = faithful(state, call)
    left = outcome.state
    joined = ".".join(call.namespace)
    for namespace, _ in outcome.state.namespaces.after(None):
        if ".".join(namespace).startswith(joined):
            left = left.without_namespace(namespace)
    return Outcome(left, outcome.reply)


@defect(
    "namespace-drop-like",
    breaks="dropNamespace.others-untouched",
    suffering="DROP NAMESPACE a_b removes axb too.",
)
def _drop_like(registries: Registries) -> None:
    """A drop compares with SQL's LIKE, to which an underscore is any character."""

    def alike(one: str, other: str) -> bool:
        return len(one) == len(other) and all(
            a in {b, "_"} for a, b in zip(one, other, strict=True)
        )

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        left = outcome.state
        joined = ".".join(call.namespace)
        for namespace, _ in outcome.state.namespaces.after(None):
            if alike(joined, ".".join(namespace)):
                left = left.without_namespace(namespace)
        return Outcome(left, outcome.reply)

    wrap(registries, "dropNamespace", around)


@defect(
    "namespace-recreated-with-old-properties",
    breaks="dropNamespace.recreate",
    suffering="A new namespace has the owner of one that was dropped long ago.",
)
def _recreated_with_old_properties(registries: Registries) -> None:
    """A drop only marks the namespace, and creating it again brings its properties back."""
    dropped: dict[Levels, dict[str, str]] = {}

    def remember(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        entry = state.namespace(call.namespace)
        dropped[call.namespace] = {} if entry is None else entry.properties
        return outcome

    def revive(body: Json) -> Json:
        old = dropped.get(tuple(body.get("namespace", ())), {})
        return body | {"properties": old | (body.get("properties") or {})}

    wrap(registries, "dropNamespace", remember)
    alter_request_body(registries, "createNamespace", revive)


def _without_tables(state: WarehouseState, namespace: Levels) -> WarehouseState:
    entry = state.namespace(namespace)
    for name, _ in () if entry is None else entry.tables.after(None):
        state = state.without_table(namespace, name)
    return state
