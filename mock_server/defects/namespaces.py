"""Ways in which servers mishandle namespaces."""

import json
from typing import Any

import msgspec

from icecheck.mock_server import problem, replies
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import (
    alter_body,
    answer_status,
    forget_effect,
    refuse_as,
    sent_json,
    wrap,
)
from icecheck.mock_server.problem import Problem
from icecheck.mock_server.state import WarehouseState

Body = dict[str, Any]
Levels = tuple[str, ...]


def _sent_namespace(call: Call) -> Levels:
    return tuple(sent_json(call).get("namespace", ()))


# ------------------------------------------------------------------ createNamespace


@defect(
    "namespace-answered-dotted",
    breaks="createNamespace.echo",
    suffering="PyIceberg takes a namespace of two levels for one with a dot in its name.",
)
def _answered_dotted(registries: Registries) -> None:
    """A created namespace is answered as one level with dots."""
    alter_body(
        registries,
        "createNamespace",
        lambda body: body | {"namespace": [".".join(body["namespace"])]},
    )


@defect(
    "namespace-created-201",
    breaks="createNamespace.200",
    suffering="The Java client takes 201 for an error.",
)
def _created_201(registries: Registries) -> None:
    """A created namespace is answered 201."""
    answer_status(registries, "createNamespace", 201)


@defect(
    "namespace-not-created",
    breaks="createNamespace.exists-afterwards",
    suffering="CREATE NAMESPACE succeeds, and the next statement fails.",
)
def _not_created(registries: Registries) -> None:
    """A creation is answered before it is written, and the write is lost."""
    forget_effect(registries, "createNamespace")


@defect(
    "namespace-needs-properties",
    breaks="createNamespace.properties-optional",
    suffering="Clients that leave out what is empty cannot create namespaces.",
)
def _needs_properties(registries: Registries) -> None:
    """A creation without properties is refused."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if "properties" not in sent_json(call):
            raise problem.bad_request("properties must not be null")
        return faithful(context, state, call)

    wrap(registries, "createNamespace", around)


@defect(
    "namespace-own-properties-untold",
    breaks="createNamespace.tells-all-properties",
    suffering="Whoever keeps what a creation answers never learns when the namespace was made.",
)
def _own_properties_untold(registries: Registries) -> None:
    """The server gives each namespace a property of its own, and answers with what was sent."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        namespace = tuple(json.loads(outcome.reply.body)["namespace"])
        entry = outcome.state.namespace(namespace)
        if entry is None:
            return outcome
        stored = {"created_at": str(context.clock.now_ms())} | entry.properties
        return msgspec.structs.replace(
            outcome, state=outcome.state.with_namespace(namespace, stored)
        )

    wrap(registries, "createNamespace", around)


@defect(
    "namespace-properties-lost",
    breaks="createNamespace.properties-stored",
    suffering="Comment and owner given at creation are gone.",
)
def _properties_lost(registries: Registries) -> None:
    """Properties sent with a creation are answered and not stored."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        return Outcome(outcome.state.with_namespace(_sent_namespace(call), {}), outcome.reply)

    wrap(registries, "createNamespace", around)


@defect(
    "namespace-flattened",
    breaks="createNamespace.nested",
    suffering="CREATE NAMESPACE a.b makes a top-level database called a.b.",
)
def _flattened(registries: Registries) -> None:
    """A namespace of several levels is stored as one level with dots."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        namespace = _sent_namespace(call)
        properties = sent_json(call).get("properties") or {}
        return Outcome(state.with_namespace((".".join(namespace),), properties), outcome.reply)

    wrap(registries, "createNamespace", around)


@defect(
    "namespace-created-twice",
    breaks="createNamespace.409",
    suffering="CREATE NAMESPACE hides that somebody else owns the name.",
)
def _created_twice(registries: Registries) -> None:
    """Creating what exists succeeds and changes nothing."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        entry = state.namespace(_sent_namespace(call))
        if entry is None:
            return faithful(context, state, call)
        body = {"namespace": _sent_namespace(call), "properties": entry.properties}
        return Outcome(state, replies.json_reply(body))

    wrap(registries, "createNamespace", around)


@defect(
    "namespace-conflict-writes",
    breaks="createNamespace.conflict-changes-nothing",
    suffering="A failed CREATE NAMESPACE changes the owner.",
)
def _conflict_writes(registries: Registries) -> None:
    """A creation is written first and then refused because the namespace exists."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(context, state, call)
        except Problem as refused:
            if refused.status != 409:
                raise
            properties = sent_json(call).get("properties") or {}
            changed = state.with_namespace(_sent_namespace(call), properties)
            return Outcome(changed, replies.problem_reply(refused))

    wrap(registries, "createNamespace", around)


@defect(
    "namespace-malformed-500",
    breaks="createNamespace.400",
    suffering="A typo is reported as a failure of the server.",
)
def _malformed_500(registries: Registries) -> None:
    """A body that cannot be read is answered 500."""
    refuse_as(registries, "createNamespace", 400, 500, "InternalServerError")


@defect(
    "namespace-malformed-written",
    breaks="createNamespace.400",
    suffering="A request that was cut off takes effect in part.",
)
def _malformed_written(registries: Registries) -> None:
    """A list with one object in it is read as that object, and refused once it is written."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(context, state, call)
        except Problem as refused:
            if not call.request.body.startswith(b"["):
                raise
            request = msgspec.structs.replace(call.request, body=call.request.body[1:-1])
            outcome = faithful(context, state, msgspec.structs.replace(call, request=request))
            return Outcome(outcome.state, replies.problem_reply(refused))

    wrap(registries, "createNamespace", around)


# ------------------------------------------- loadNamespaceMetadata and namespaceExists


@defect(
    "namespace-loaded-by-last-level",
    breaks="loadNamespaceMetadata.200",
    suffering="Clients go on with a namespace that does not exist.",
)
def _loaded_by_last_level(registries: Registries) -> None:
    """Loading a namespace answers its last level only."""
    alter_body(
        registries,
        "loadNamespaceMetadata",
        lambda body: body | {"namespace": body["namespace"][-1:]},
    )


@defect(
    "namespace-missing-500",
    breaks="loadNamespaceMetadata.404",
    suffering="CREATE IF NOT EXISTS fails instead of creating.",
)
def _missing_500(registries: Registries) -> None:
    """Loading a namespace that is not there is answered 500."""
    refuse_as(registries, "loadNamespaceMetadata", 404, 500, "InternalServerError")


@defect(
    "namespace-head-200",
    breaks="namespaceExists.204",
    suffering="PyIceberg does not take 200 for a yes.",
)
def _head_200(registries: Registries) -> None:
    """HEAD on a namespace is answered as GET would be: 200."""
    answer_status(registries, "namespaceExists", 200)


@defect(
    "namespace-head-always-204",
    breaks="namespaceExists.404",
    suffering="CREATE IF NOT EXISTS creates nothing.",
)
def _head_always_204(registries: Registries) -> None:
    """HEAD finds every namespace."""
    refuse_as(registries, "namespaceExists", 404, 204)


@defect(
    "namespace-head-cached",
    breaks="namespaceExists.agrees-with-load",
    suffering="A dropped namespace seems to exist until the cache expires.",
)
def _head_cached(registries: Registries) -> None:
    """HEAD remembers which namespaces it has seen, and never forgets."""
    seen: set[Levels] = set()

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if call.namespace in seen:
            return Outcome(state, replies.NO_CONTENT)
        outcome = faithful(context, state, call)
        seen.add(call.namespace)
        return outcome

    wrap(registries, "namespaceExists", around)
