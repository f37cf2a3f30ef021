"""Ways in which servers mishandle the properties of namespaces."""

import json
from typing import Any

from icecheck.mock_server import problem, replies
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import (
    alter_answer,
    alter_body,
    alter_request_body,
    answer_status,
    forget_effect,
    refuse_as,
    sent_json,
    wrap,
)
from icecheck.mock_server.publication import NAMESPACE_LOCATION
from icecheck.mock_server.state import WarehouseState

Body = dict[str, Any]


@defect(
    "properties-update-forgotten",
    breaks="updateProperties.set",
    suffering="ALTER NAMESPACE SET PROPERTIES has no effect.",
)
def _update_forgotten(registries: Registries) -> None:
    """A change of properties is answered as done, and not stored."""
    forget_effect(registries, "updateProperties")


@defect(
    "properties-update-204",
    breaks="updateProperties.200",
    suffering="PyIceberg finds no answer to read.",
)
def _update_204(registries: Registries) -> None:
    """A change of properties is answered 204."""
    answer_status(registries, "updateProperties", 204)


@defect(
    "properties-removals-ignored",
    breaks="updateProperties.remove",
    suffering="ALTER NAMESPACE UNSET PROPERTIES has no effect.",
)
def _removals_ignored(registries: Registries) -> None:
    """Removals are answered, and not carried out."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        before, after = (each.namespace(call.namespace) for each in (state, outcome.state))
        kept = (before.properties if before else {}) | (after.properties if after else {})
        return Outcome(outcome.state.with_namespace(call.namespace, kept), outcome.reply)

    wrap(registries, "updateProperties", around)


@defect(
    "properties-replaced",
    breaks="updateProperties.others-untouched",
    suffering="Setting a comment removes the owner.",
)
def _replaced(registries: Registries) -> None:
    """A change replaces all properties by the ones it sets."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        updates = sent_json(call).get("updates") or {}
        return Outcome(outcome.state.with_namespace(call.namespace, updates), outcome.reply)

    wrap(registries, "updateProperties", around)


@defect(
    "properties-need-both-members",
    breaks="updateProperties.members-optional",
    suffering="Clients that leave out what is empty cannot change properties.",
)
def _need_both_members(registries: Registries) -> None:
    """A change needs both updates and removals."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if not {"updates", "removals"} <= sent_json(call).keys():
            raise problem.bad_request("updates and removals are required")
        return faithful(context, state, call)

    wrap(registries, "updateProperties", around)


@defect(
    "properties-report-additions-only",
    breaks="updateProperties.reports-updated",
    suffering="Clients believe that a replaced value was not replaced.",
)
def _report_additions_only(registries: Registries) -> None:
    """Only keys that are new are reported as updated."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        before = state.namespace(call.namespace)
        body = json.loads(outcome.reply.body)
        new = [key for key in body["updated"] if before is None or key not in before.properties]
        return Outcome(outcome.state, replies.json_reply(body | {"updated": new}))

    wrap(registries, "updateProperties", around)


@defect(
    "properties-report-everything-updated",
    breaks="updateProperties.reports-updated",
    suffering="Clients believe that a removed key was set.",
)
def _report_everything_updated(registries: Registries) -> None:
    """Every key that a change touches is reported as updated."""
    alter_body(
        registries,
        "updateProperties",
        lambda body: body | {"updated": [*body["updated"], *body["removed"]]},
    )


@defect(
    "properties-report-twice",
    breaks="updateProperties.reports-updated",
    suffering="Clients that count are told of more changes than there were.",
)
def _report_twice(registries: Registries) -> None:
    """The keys that were set are reported once as added and once more as updated."""
    alter_body(registries, "updateProperties", lambda body: body | {"updated": body["updated"] * 2})


@defect(
    "properties-report-no-removals",
    breaks="updateProperties.reports-removed",
    suffering="Clients report a removal that worked as failed.",
)
def _report_no_removals(registries: Registries) -> None:
    """Removed keys are not reported."""
    alter_body(registries, "updateProperties", lambda body: body | {"removed": []})


@defect(
    "properties-report-request",
    breaks="updateProperties.removed-really-existed",
    suffering="Clients report the removal of a misspelled key as done.",
)
def _report_request(registries: Registries) -> None:
    """What was asked to be removed is reported as removed, whether it was there or not."""
    alter_answer(
        registries,
        "updateProperties",
        lambda call, body: body | {"removed": sent_json(call).get("removals") or [], "missing": []},
    )


@defect(
    "properties-missing-null",
    breaks="updateProperties.missing-is-a-list",
    suffering="PyIceberg fails after the change was carried out.",
)
def _missing_null(registries: Registries) -> None:
    """Nothing missing is reported as null."""
    alter_body(
        registries, "updateProperties", lambda body: body | {"missing": body["missing"] or None}
    )


@defect(
    "properties-of-nothing",
    breaks="updateProperties.404",
    suffering="A misspelled namespace comes into being.",
)
def _of_nothing(registries: Registries) -> None:
    """Setting properties of a namespace that does not exist creates it."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if state.namespace(call.namespace) is None:
            state = state.with_namespace(call.namespace, {})
        return faithful(context, state, call)

    wrap(registries, "updateProperties", around)


@defect(
    "properties-overlap-accepted",
    breaks="updateProperties.422",
    suffering="Nobody knows whether the key was set or removed.",
)
def _overlap_accepted(registries: Registries) -> None:
    """A key that is both set and removed is set."""

    def without_overlap(body: Body) -> Body:
        updates = body.get("updates") or {}
        kept = [key for key in body.get("removals") or () if key not in updates]
        return body | {"removals": kept}

    alter_request_body(registries, "updateProperties", without_overlap)


@defect(
    "properties-overlap-half-done",
    breaks="updateProperties.overlap-changes-nothing",
    suffering="A refused change is carried out in part.",
)
def _overlap_half_done(registries: Registries) -> None:
    """Removals are carried out before the overlap is noticed."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(context, state, call)
        except problem.Problem as refused:
            entry = state.namespace(call.namespace)
            if refused.status != 422 or entry is None:
                raise
            removals = sent_json(call)["removals"]
            left = {key: value for key, value in entry.properties.items() if key not in removals}
            changed = state.with_namespace(call.namespace, left)
            return Outcome(changed, replies.problem_reply(refused))

    wrap(registries, "updateProperties", around)


@defect(
    "properties-malformed-500",
    breaks="updateProperties.400",
    suffering="A typo is reported as a failure of the server.",
)
def _malformed_500(registries: Registries) -> None:
    """A change that cannot be read is answered 500."""
    refuse_as(registries, "updateProperties", 400, 500, "InternalServerError")


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
    breaks="loadNamespaceMetadata.all-properties",
    suffering="Long values come back damaged.",
)
def _cut_off(registries: Registries) -> None:
    """Values are stored in a column of 255 characters."""

    def cut(body: Body) -> Body:
        values = body.get("updates") or {}
        return body | {"updates": {key: str(value)[:255] for key, value in values.items()}}

    alter_request_body(registries, "updateProperties", cut)


@defect(
    "properties-null-when-none",
    breaks="loadNamespaceMetadata.none-set",
    suffering="PyIceberg refuses the namespace.",
)
def _null_when_none(registries: Registries) -> None:
    """No properties of a client are answered as null, as if they were not supported."""

    def null(body: dict[str, Any]) -> dict[str, Any]:
        is_none_set = set(body["properties"]) <= {NAMESPACE_LOCATION}
        return body | {"properties": None} if is_none_set else body

    alter_body(registries, "loadNamespaceMetadata", null)


@defect(
    "properties-unsupported-but-empty",
    breaks="loadNamespaceMetadata.unsupported-properties",
    suffering="Clients offer to set properties that cannot be kept.",
)
def _unsupported_but_empty(registries: Registries) -> None:
    """Properties cannot be changed, and yet an empty set of them is answered."""

    def around(_faithful: Operation, _: Context, state: WarehouseState, call: Call) -> Outcome:
        if state.namespace(call.namespace) is None:
            raise problem.no_such_namespace(call.namespace)
        raise problem.unsupported("Namespace properties are not supported")

    wrap(registries, "updateProperties", around)


@defect(
    "world-value-of-a-removed-key-is-lost",
    breaks="world.namespaces",
    suffering="A property that is given another name in one step is gone.",
)
def _moved_value_lost(registries: Registries) -> None:
    """What is removed is joined with what is set by its value: a value under a new key is lost."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        entry, after = state.namespace(call.namespace), outcome.state.namespace(call.namespace)
        if entry is None or after is None:
            return outcome
        body = sent_json(call)
        removed = {entry.properties.get(key) for key in body.get("removals") or []}
        lost = [key for key, value in (body.get("updates") or {}).items() if value in removed]
        kept = {key: value for key, value in after.properties.items() if key not in lost}
        state = outcome.state.with_namespace(call.namespace, kept)
        return Outcome(state, outcome.reply, outcome.effects)

    wrap(registries, "updateProperties", around)
