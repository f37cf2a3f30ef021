"""Defects of creating, loading and dropping namespaces."""

import json

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect
from icecheck.mock_server.defects.kit.requests import Levels, sent_json, with_content
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    answer_status,
    forget_effect,
    refuse_as,
    wrap,
)
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem


def _sent_namespace(call: Call) -> Levels:
    return tuple(sent_json(call).get("namespace", ()))


# ------------------------------------------------------------------ createNamespace


declare(
    "namespace-answered-dotted",
    "A created namespace is answered as one level with dots.",
    by(
        alter_body,
        "createNamespace",
        lambda body: body | {"namespace": [".".join(body["namespace"])]},
    ),
    breaks="createNamespace.echo",
    suffering="PyIceberg takes a namespace of two levels for one with a dot in its name.",
)


@defect(
    "namespace-needs-properties",
    on="createNamespace",
    breaks="createNamespace.properties-optional",
    suffering="Clients that leave out what is empty cannot create namespaces.",
)
def _needs_properties(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A creation without properties is refused."""
    if "properties" not in sent_json(call):
        raise problem.bad_request("properties must not be null")
    return faithful(state, call)


@defect(
    "namespace-own-properties-untold",
    on="createNamespace",
    breaks="createNamespace.tells-all-properties",
    suffering="Whoever keeps what a creation answers never learns when the namespace was made.",
)
def _own_properties_untold(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The server gives each namespace a property of its own, and answers with what was sent."""
    outcome = faithful(state, call)
    namespace = tuple(json.loads(outcome.reply.body)["namespace"])
    entry = outcome.state.namespace(namespace)
    if entry is None:
        return outcome
    stored = {"created_at": str(faithful.context.clock.now_ms())} | entry.properties
    return msgspec.structs.replace(outcome, state=outcome.state.with_namespace(namespace, stored))


@defect(
    "namespace-properties-lost",
    on="createNamespace",
    breaks="createNamespace.properties-stored",
    suffering="Comment and owner given at creation are gone.",
)
def _properties_lost(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Properties sent with a creation are answered and not stored."""
    outcome = faithful(state, call)
    return Outcome(outcome.state.with_namespace(_sent_namespace(call), {}), outcome.reply)


@defect(
    "namespace-flattened",
    on="createNamespace",
    breaks="createNamespace.nested",
    suffering="CREATE NAMESPACE a.b makes a top-level database called a.b.",
)
def _flattened(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A namespace of several levels is stored as one level with dots."""
    outcome = faithful(state, call)
    namespace = _sent_namespace(call)
    properties = sent_json(call).get("properties") or {}
    return Outcome(state.with_namespace((".".join(namespace),), properties), outcome.reply)


@defect(
    "namespace-created-twice",
    on="createNamespace",
    breaks="createNamespace.409",
    suffering="CREATE NAMESPACE hides that somebody else owns the name.",
)
def _created_twice(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Creating what exists succeeds and changes nothing."""
    entry = state.namespace(_sent_namespace(call))
    if entry is None:
        return faithful(state, call)
    body = {"namespace": _sent_namespace(call), "properties": entry.properties}
    return Outcome(state, replies.json_reply(body))


@defect(
    "namespace-conflict-writes",
    on="createNamespace",
    breaks="createNamespace.conflict-changes-nothing",
    suffering="A failed CREATE NAMESPACE changes the owner.",
)
def _conflict_writes(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A creation is written first and then refused because the namespace exists."""
    try:
        return faithful(state, call)
    except Problem as refused:
        if refused.status != 409:
            raise
        properties = sent_json(call).get("properties") or {}
        changed = state.with_namespace(_sent_namespace(call), properties)
        return Outcome(changed, replies.problem_reply(refused))


declare_each(
    ("namespace-created-201", "createNamespace.200", "A created namespace is answered 201.",
     "The Java client takes 201 for an error.", by(answer_status, "createNamespace", 201)),
    ("namespace-not-created", "createNamespace.exists-afterwards",
     "A creation is answered before it is written, and the write is lost.",
     "CREATE NAMESPACE succeeds, and the next statement fails.",
     by(forget_effect, "createNamespace")),
    ("namespace-malformed-500", "createNamespace.400",
     "A body that cannot be read is answered 500.",
     "A typo is reported as a failure of the server.",
     by(refuse_as, "createNamespace", 400, 500, "InternalServerError")),
)  # fmt: skip


@defect(
    "namespace-malformed-written",
    on="createNamespace",
    breaks="createNamespace.400",
    suffering="A request that was cut off takes effect in part.",
)
def _malformed_written(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A list with one object in it is read as that object, and refused once it is written."""
    try:
        return faithful(state, call)
    except Problem as refused:
        if not call.request.body.startswith(b"["):
            raise
        outcome = faithful(state, with_content(call, call.request.body[1:-1]))
        return Outcome(outcome.state, replies.problem_reply(refused))


# ------------------------------------------- loadNamespaceMetadata and namespaceExists


declare(
    "namespace-loaded-by-last-level",
    "Loading a namespace answers its last level only.",
    by(
        alter_body,
        "loadNamespaceMetadata",
        lambda body: body | {"namespace": body["namespace"][-1:]},
    ),
    breaks="loadNamespaceMetadata.200",
    suffering="Clients go on with a namespace that does not exist.",
)

declare_each(
    ("namespace-missing-500", "loadNamespaceMetadata.404",
     "Loading a namespace that is not there is answered 500.",
     "CREATE IF NOT EXISTS fails instead of creating.",
     by(refuse_as, "loadNamespaceMetadata", 404, 500, "InternalServerError")),
    ("namespace-head-200", "namespaceExists.204",
     "HEAD on a namespace is answered as GET would be: 200.",
     "PyIceberg does not take 200 for a yes.", by(answer_status, "namespaceExists", 200)),
    ("namespace-head-always-204", "namespaceExists.404", "HEAD finds every namespace.",
     "CREATE IF NOT EXISTS creates nothing.", by(refuse_as, "namespaceExists", 404, 204)),
)  # fmt: skip


@defect(
    "namespace-head-cached",
    breaks="namespaceExists.agrees-with-load",
    suffering="A dropped namespace seems to exist until the cache expires.",
)
def _head_cached(registries: Registries) -> None:
    """HEAD remembers which namespaces it has seen, and never forgets."""
    seen: set[Levels] = set()

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if call.namespace in seen:
            return Outcome(state, replies.NO_CONTENT)
        outcome = faithful(state, call)
        seen.add(call.namespace)
        return outcome

    wrap(registries, "namespaceExists", around)
