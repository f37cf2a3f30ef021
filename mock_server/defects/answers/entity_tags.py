"""Defects of the entity tags of tables."""

import hashlib
import json

import msgspec
from msgspec import structs

from icecheck.mock_server.commits import publication
from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import defect
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap


def _etag_headers(reply: Reply, tag: str) -> Reply:
    kept = [header for header in reply.headers if header[0] != "etag"]
    return msgspec.structs.replace(reply, headers=(*kept, ("etag", tag)))


@defect(
    "etag-304-with-body",
    on="loadTable",
    breaks="loadTable.304",
    suffering="The next answer on the connection is read from the wrong place.",
)
def _304_with_body(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A 304 carries the metadata that the client has."""
    outcome = faithful(state, call)
    entry = state.table(call.namespace, call.name)
    if outcome.reply.status != 304 or entry is None:
        return outcome
    whole = publication.load_reply(entry)
    reply = msgspec.structs.replace(whole, status=304)
    return msgspec.structs.replace(outcome, reply=reply)


@defect(
    "etag-of-the-table",
    on="loadTable",
    breaks="etag.changes-with-commit",
    suffering="Clients that cache tables take old metadata for current.",
)
def _etag_of_the_table(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The ETag is the table's uuid."""
    outcome = faithful(state, call)
    entry = state.table(call.namespace, call.name)
    uuid = "" if entry is None else entry.metadata.table_uuid
    reply = _etag_headers(outcome.reply, f'"{uuid}"')
    return msgspec.structs.replace(outcome, reply=reply)


@defect(
    "etag-always-current",
    on="loadTable",
    breaks="etag.stale-is-not-304",
    suffering="Clients that cache tables never see a commit.",
)
def _etag_always_current(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Every If-None-Match is answered 304."""
    outcome = faithful(state, call)
    if "if-none-match" not in call.request.headers:
        return outcome
    return msgspec.structs.replace(outcome, reply=Reply(304))


@defect(
    "etag-counts-commits",
    breaks="second-life.table",
    suffering="A client goes on reading a table that was dropped: what has its name has its tag.",
)
def _etag_counts_commits(registries: Registries) -> None:
    """The ETag is made of the table's name and of a version that begins at 0."""

    def tagged(call: Call, name: str, reply: Reply, query: str = "") -> Reply:
        if not reply.body:
            return reply
        metadata = json.loads(reply.body)["metadata"]
        # As a real server would do: headers take no names beyond ASCII.
        stem = ascii(".".join((*call.namespace, name))).strip("'").replace("\\", "")
        return _etag_headers(reply, f'"{stem}-{len(metadata.get("metadata-log", ()))}{query}"')

    def load(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        headers = {k: v for k, v in call.request.headers.items() if k != "if-none-match"}
        request = msgspec.structs.replace(call.request, headers=headers)
        outcome = faithful(state, msgspec.structs.replace(call, request=request))
        reply = tagged(call, call.name, outcome.reply, call.query.get("snapshots", ""))
        asked = call.request.headers.get("if-none-match")
        if asked is not None:
            reply = publication.not_modified(reply, asked) or reply
        return msgspec.structs.replace(outcome, reply=reply)

    def made(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        if not any(key == "etag" for key, _ in outcome.reply.headers):
            return outcome
        reply = tagged(call, str(sent_json(call).get("name")), outcome.reply)
        return msgspec.structs.replace(outcome, reply=reply)

    wrap(registries, "loadTable", load)
    wrap(registries, "createTable", made)


@defect(
    "etag-not-told-with-304",
    on="loadTable",
    breaks="etag.told-with-not-modified",
    suffering="Clients that hold several versions of a table cannot tell which one is current.",
)
def _304_without_tag(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A 304 comes without the tag of what has not changed."""
    outcome = faithful(state, call)
    if outcome.reply.status != 304:
        return outcome
    return msgspec.structs.replace(outcome, reply=Reply(304))


@defect(
    "etag-of-either-snapshots",
    on="loadTable",
    breaks="etag.of-what-is-asked",
    suffering="A client that knows the referenced snapshots takes them for all.",
)
def _either_snapshots(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Of a tag, only the version is compared, not which snapshots were answered with it."""
    outcome = faithful(state, call)
    tag = dict(outcome.reply.headers).get("etag", "")
    version = "-".join(tag.split("-")[:2])
    if not version or version not in call.request.headers.get("if-none-match", ""):
        return outcome
    return structs.replace(outcome, reply=Reply(304, (("etag", tag),)))


@defect(
    "etag-old-gets-referenced-snapshots",
    on="loadTable",
    breaks="etag.stale-is-not-304",
    suffering="A client that brings its copy up to date loses the history of the table.",
)
def _old_gets_referenced(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A load with an outdated tag is answered from a cache of loads with snapshots=refs."""
    outcome = faithful(state, call)
    headers = dict(call.request.headers)
    if headers.pop("if-none-match", None) is None or outcome.reply.status != 200:
        return outcome
    request = structs.replace(call.request, headers=headers)
    query = {**call.query, "snapshots": "refs"}
    return faithful(state, structs.replace(call, request=request, query=query))


_REFS = ("refs", "metadata-log", "last-updated-ms")


@defect(
    "etag-without-refs",
    on=("loadTable", "createTable", "registerTable"),
    breaks="etag.stale-is-not-304",
    suffering="A tag or branch that was just made is not seen by whoever knows the table.",
)
def _tag_without_refs(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The entity tag is made of all that a table is, but for its refs."""

    def tag_of(reply: Reply) -> str:
        body = json.loads(reply.body)
        body.pop("metadata-location")
        for member in _REFS:
            body["metadata"].pop(member, None)
        return f'"{hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]}"'

    headers = dict(call.request.headers)
    wanted = headers.pop("if-none-match", None)
    unconditional = structs.replace(call.request, headers=headers)
    outcome = faithful(state, structs.replace(call, request=unconditional))
    if "etag" not in dict(outcome.reply.headers):
        return outcome
    tag = tag_of(outcome.reply)
    changed = tuple((n, tag if n == "etag" else v) for n, v in outcome.reply.headers)
    reply = structs.replace(outcome.reply, headers=changed)
    if wanted in {tag, "*"}:
        reply = Reply(304, (("etag", tag),))
    return structs.replace(outcome, reply=reply)
