"""Defects of the properties of namespaces."""

import json
from typing import Any

from msgspec import structs

from icecheck.mock_server.commits.default_locations import NAMESPACE_LOCATION
from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import do_after, make_namespace, refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect
from icecheck.mock_server.defects.kit.places import answer_of, request_of
from icecheck.mock_server.defects.kit.requests import Json, sent_json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_answer,
    alter_body,
    answer_status,
    forget_effect,
    refuse_as,
    wrap,
)
from icecheck.mock_server.protocol import problem, replies


@defect(
    "properties-removals-ignored",
    on="updateProperties",
    breaks="updateProperties.remove",
    suffering="ALTER NAMESPACE UNSET PROPERTIES has no effect.",
)
def _removals_ignored(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Removals are answered, and not carried out."""
    outcome = faithful(state, call)
    before, after = (each.namespace(call.namespace) for each in (state, outcome.state))
    kept = (before.properties if before else {}) | (after.properties if after else {})
    return Outcome(outcome.state.with_namespace(call.namespace, kept), outcome.reply)


@defect(
    "properties-report-additions-only",
    on="updateProperties",
    breaks="updateProperties.reports-updated",
    suffering="Clients believe that a replaced value was not replaced.",
)
def _report_additions_only(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Only keys that are new are reported as updated."""
    outcome = faithful(state, call)
    before = state.namespace(call.namespace)
    body = json.loads(outcome.reply.body)
    new = [key for key in body["updated"] if before is None or key not in before.properties]
    return Outcome(outcome.state, replies.json_reply(body | {"updated": new}))


declare(
    "properties-report-request",
    "What was asked to be removed is reported as removed, whether it was there or not.",
    by(
        alter_answer,
        "updateProperties",
        lambda call, body: body | {"removed": sent_json(call).get("removals") or [], "missing": []},
    ),
    breaks="updateProperties.removed-really-existed",
    suffering="Clients report the removal of a misspelled key as done.",
)


@defect(
    "properties-overlap-accepted",
    on=request_of("updateProperties"),
    breaks="updateProperties.422",
    suffering="Nobody knows whether the key was set or removed.",
)
def _overlap_accepted(body: Json) -> Json:
    """A key that is both set and removed is set."""
    updates = body.get("updates") or {}
    kept = [key for key in body.get("removals") or () if key not in updates]
    return body | {"removals": kept}


@defect(
    "properties-overlap-half-done",
    on="updateProperties",
    breaks="updateProperties.overlap-changes-nothing",
    suffering="A refused change is carried out in part.",
)
def _overlap_half_done(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Removals are carried out before the overlap is noticed."""
    try:
        return faithful(state, call)
    except problem.Problem as refused:
        entry = state.namespace(call.namespace)
        if refused.status != 422 or entry is None:
            raise
        removals = sent_json(call)["removals"]
        left = {key: value for key, value in entry.properties.items() if key not in removals}
        changed = state.with_namespace(call.namespace, left)
        return Outcome(changed, replies.problem_reply(refused))


declare_each(
    ("properties-replaced", "updateProperties.others-untouched",
     "A change replaces all properties by the ones it sets.",
     "Setting a comment removes the owner.",
     by(
         do_after,
         "updateProperties",
         lambda _c, _s, call, after: after.with_namespace(
             call.namespace, sent_json(call).get("updates") or {}
         ),
     )),
    ("properties-need-both-members", "updateProperties.members-optional",
     "A change needs both updates and removals.",
     "Clients that leave out what is empty cannot change properties.",
     by(refuse_where, "updateProperties",
        lambda _, call: not {"updates", "removals"} <= sent_json(call).keys())),
    ("properties-report-everything-updated", "updateProperties.reports-updated",
     "Every key that a change touches is reported as updated.",
     "Clients believe that a removed key was set.",
     by(alter_body, "updateProperties",
        lambda body: body | {"updated": [*body["updated"], *body["removed"]]})),
    ("properties-of-nothing", "updateProperties.404",
     "Setting properties of a namespace that does not exist creates it.",
     "A misspelled namespace comes into being.", by(make_namespace, "updateProperties")),
    ("properties-update-forgotten", "updateProperties.set",
     "A change of properties is answered as done, and not stored.",
     "ALTER NAMESPACE SET PROPERTIES has no effect.", by(forget_effect, "updateProperties")),
    ("properties-update-204", "updateProperties.200", "A change of properties is answered 204.",
     "PyIceberg finds no answer to read.", by(answer_status, "updateProperties", 204)),
    ("properties-report-set-keys-missing", "updateProperties.reports-updated",
     "The keys that were set are reported as updated and as missing.",
     "Clients report a change that was made as one that was not possible.",
     by(alter_body, "updateProperties", lambda body: body | {"missing": body["updated"]})),
    ("properties-report-removed-keys-missing", "updateProperties.reports-removed",
     "The keys that were removed are reported as removed and as missing.",
     "Clients warn of properties that were not there, and were.",
     by(alter_body, "updateProperties", lambda body: body | {"missing": body["removed"]})),
    ("properties-report-twice", "updateProperties.reports-updated",
     "The keys that were set are reported once as added and once more as updated.",
     "Clients that count are told of more changes than there were.",
     by(alter_body, "updateProperties", lambda body: body | {"updated": body["updated"] * 2})),
    ("properties-report-no-removals", "updateProperties.reports-removed",
     "Removed keys are not reported.", "Clients report a removal that worked as failed.",
     by(alter_body, "updateProperties", lambda body: body | {"removed": []})),
    ("properties-missing-null", "updateProperties.missing-is-a-list",
     "Nothing missing is reported as null.", "PyIceberg fails after the change was carried out.",
     by(alter_body, "updateProperties", lambda body: body | {"missing": body["missing"] or None})),
    ("properties-malformed-500", "updateProperties.400",
     "A change that cannot be read is answered 500.",
     "A typo is reported as a failure of the server.",
     by(refuse_as, "updateProperties", 400, 500, "InternalServerError")),
)  # fmt: skip


@defect(
    "properties-pretended",
    breaks="updateProperties.406",
    suffering="ALTER NAMESPACE succeeds and has no effect.",
)
def _pretended(registries: Registries) -> None:
    """Properties are not supported, and every change of them is answered as done."""
    forget_effect(registries, "updateProperties")
    for operation_id in ("createNamespace", "loadNamespaceMetadata"):
        alter_body(registries, operation_id, lambda body: body | {"properties": None})


@defect(
    "properties-cut-off",
    on=request_of("updateProperties"),
    breaks="loadNamespaceMetadata.all-properties",
    suffering="Long values come back damaged.",
)
def _cut_off(body: Json) -> Json:
    """Values are stored in a column of 255 characters."""
    values = body.get("updates") or {}
    return body | {"updates": {key: str(value)[:255] for key, value in values.items()}}


@defect(
    "properties-null-when-none",
    on=answer_of("loadNamespaceMetadata"),
    breaks="loadNamespaceMetadata.none-set",
    suffering="PyIceberg refuses the namespace.",
)
def _null_when_none(body: dict[str, Any]) -> dict[str, Any]:
    """No properties of a client are answered as null, as if they were not supported."""
    is_none_set = set(body["properties"]) <= {NAMESPACE_LOCATION}
    return body | {"properties": None} if is_none_set else body


@defect(
    "properties-unsupported-but-empty",
    breaks="loadNamespaceMetadata.unsupported-properties",
    suffering="Clients offer to set properties that cannot be kept.",
)
def _unsupported_but_empty(registries: Registries) -> None:
    """Properties cannot be changed, and yet an empty set of them is answered."""

    def refuse(_faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if state.namespace(call.namespace) is None:
            raise problem.no_such_namespace(call.namespace)
        raise problem.unsupported("Namespace properties are not supported")

    wrap(registries, "updateProperties", refuse)
    alter_body(registries, "loadNamespaceMetadata", lambda body: body | {"properties": {}})


@defect(
    "world-value-of-a-removed-key-is-lost",
    on="updateProperties",
    breaks="world.namespaces",
    suffering="A property that is given another name in one step is gone.",
)
def _moved_value_lost(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """What is removed is joined with what is set by its value: a value under a new key is lost."""
    outcome = faithful(state, call)
    entry, after = state.namespace(call.namespace), outcome.state.namespace(call.namespace)
    if entry is None or after is None:
        return outcome
    body = sent_json(call)
    removed = {entry.properties.get(key) for key in body.get("removals") or []}
    lost = [key for key, value in (body.get("updates") or {}).items() if value in removed]
    kept = {key: value for key, value in after.properties.items() if key not in lost}
    state = outcome.state.with_namespace(call.namespace, kept)
    return Outcome(state, outcome.reply, outcome.effects)


@defect(
    "properties-first-removal-only",
    on=request_of("updateProperties"),
    breaks="updateProperties.remove",
    suffering="ALTER NAMESPACE UNSET PROPERTIES leaves all but one of what it names.",
)
def _first_namespace_property_only(body: Any) -> Any:
    """Of the removals the first one is carried out."""
    removals = body.get("removals") if isinstance(body, dict) else None
    return body | {"removals": removals[:1]} if isinstance(removals, list) else body


@defect(
    "properties-removals-end-at-a-missing-key",
    on="updateProperties",
    breaks="updateProperties.remove",
    suffering="ALTER NAMESPACE UNSET PROPERTIES reports keys as removed that are still there.",
)
def _missing_removal_ends(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The removals after one of a key that does not exist are told and not carried out."""
    outcome = faithful(state, call)
    entry, after = state.namespace(call.namespace), outcome.state.namespace(call.namespace)
    if entry is None or after is None:
        return outcome
    removals = sent_json(call).get("removals") or []
    ends = next((at for at, key in enumerate(removals) if key not in entry.properties), None)
    late = () if ends is None else removals[ends + 1 :]
    left = {key: value for key, value in entry.properties.items() if key in late}
    kept = outcome.state.with_namespace(call.namespace, {**after.properties, **left})
    return structs.replace(outcome, state=kept)


@defect(
    "properties-missing-removal-undoes",
    on="updateProperties",
    breaks="updateProperties.set",
    suffering="ALTER NAMESPACE reports success and has changed nothing.",
)
def _missing_removal_undoes(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A removal that touches no row rolls everything back, and the answer tells of success."""
    outcome = faithful(state, call)
    missing = json.loads(outcome.reply.body)["missing"]
    return structs.replace(outcome, state=state) if missing else outcome
