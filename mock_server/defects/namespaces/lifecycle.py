"""Defects of creating, loading and dropping namespaces."""

import json

import msgspec

from icecheck.mock_server.core.context import Call, Outcome
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import change_and_refuse, do_after, refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.remembering import answer_again, by_name
from icecheck.mock_server.defects.kit.requests import Levels, sent_json, unlisted
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    answer_status,
    forget_effect,
    refuse_as,
)
from icecheck.mock_server.protocol import replies


def _sent_namespace(call: Call) -> Levels:
    return tuple(sent_json(call).get("namespace", ()))


# ------------------------------------------------------------------ createNamespace


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


declare_each(
    ("namespace-answered-dotted", "createNamespace.echo",
     "A created namespace is answered as one level with dots.",
     "PyIceberg takes a namespace of two levels for one with a dot in its name.",
     by(alter_body, "createNamespace",
        lambda body: body | {"namespace": [".".join(body["namespace"])]})),
    ("namespace-needs-properties", "createNamespace.properties-optional",
     "A creation without properties is refused.",
     "Clients that leave out what is empty cannot create namespaces.",
     by(refuse_where, "createNamespace", lambda _, call: "properties" not in sent_json(call))),
    ("namespace-properties-lost", "createNamespace.properties-stored",
     "Properties sent with a creation are answered and not stored.",
     "Comment and owner given at creation are gone.",
     by(do_after, "createNamespace",
        lambda _c, _s, call, after: after.with_namespace(_sent_namespace(call), {}))),
    ("namespace-conflict-writes", "createNamespace.conflict-changes-nothing",
     "A creation is written first and then refused because the namespace exists.",
     "A failed CREATE NAMESPACE changes the owner.",
     by(
         change_and_refuse,
         "createNamespace",
         409,
         lambda _, state, call: state.with_namespace(
             _sent_namespace(call), sent_json(call).get("properties") or {}
         ),
     )),
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
    ("namespace-malformed-written", "createNamespace.400",
     "A list with one object in it is read as that object, and refused once it is written.",
     "A request that was cut off takes effect in part.",
     by(change_and_refuse, "createNamespace", 400,
        lambda faithful, state, call: faithful(state, unlisted(call)).state)),
)  # fmt: skip


# ------------------------------------------- loadNamespaceMetadata and namespaceExists


declare_each(
    ("namespace-loaded-by-last-level", "loadNamespaceMetadata.200",
     "Loading a namespace answers its last level only.",
     "Clients go on with a namespace that does not exist.",
     by(alter_body, "loadNamespaceMetadata",
        lambda body: body | {"namespace": body["namespace"][-1:]})),
    ("namespace-missing-500", "loadNamespaceMetadata.404",
     "Loading a namespace that is not there is answered 500.",
     "CREATE IF NOT EXISTS fails instead of creating.",
     by(refuse_as, "loadNamespaceMetadata", 404, 500, "InternalServerError")),
    ("namespace-head-200", "namespaceExists.204",
     "HEAD on a namespace is answered as GET would be: 200.",
     "PyIceberg does not take 200 for a yes.", by(answer_status, "namespaceExists", 200)),
    ("namespace-head-always-204", "namespaceExists.404", "HEAD finds every namespace.",
     "CREATE IF NOT EXISTS creates nothing.", by(refuse_as, "namespaceExists", 404, 204)),
    ("namespace-head-cached", "namespaceExists.agrees-with-load",
     "HEAD remembers which namespaces it has seen, and never forgets.",
     "A dropped namespace seems to exist until the cache expires.",
     by(answer_again, "namespaceExists", by_name, blindly=True)),
)  # fmt: skip
