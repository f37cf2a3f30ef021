"""Defects of the entity tags of tables."""

import hashlib
import json

from msgspec import structs

from icecheck.mock_server.commits import publication
from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import defect
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.protocol.problem import Problem


def _etag_headers(reply: Reply, tag: str) -> Reply:
    kept = [header for header in reply.headers if header[0] != "etag"]
    return structs.replace(reply, headers=(*kept, ("etag", tag)))


def _tag_of(reply: Reply) -> str:
    return dict(reply.headers).get("etag", "")


def _unconditional(call: Call) -> Call:
    """Return the call without the tag that its client has."""
    headers = {k: v for k, v in call.request.headers.items() if k != "if-none-match"}
    return structs.replace(call, request=structs.replace(call.request, headers=headers))


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
    reply = structs.replace(whole, status=304)
    return structs.replace(outcome, reply=reply)


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
    return structs.replace(outcome, reply=reply)


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
    return structs.replace(outcome, reply=Reply(304))


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
        outcome = faithful(state, _unconditional(call))
        reply = tagged(call, call.name, outcome.reply, call.query.get("snapshots", ""))
        asked = call.request.headers.get("if-none-match")
        if asked is not None:
            reply = publication.not_modified(reply, asked) or reply
        return structs.replace(outcome, reply=reply)

    def made(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        if not _tag_of(outcome.reply):
            return outcome
        reply = tagged(call, str(sent_json(call).get("name")), outcome.reply)
        return structs.replace(outcome, reply=reply)

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
    return structs.replace(outcome, reply=Reply(304))


@defect(
    "etag-of-either-snapshots",
    on="loadTable",
    breaks="etag.of-what-is-asked",
    suffering="A client that knows the referenced snapshots takes them for all.",
)
def _either_snapshots(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Of a tag, only the version is compared, not which snapshots were answered with it."""
    outcome = faithful(state, call)
    tag = _tag_of(outcome.reply)
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
    if "if-none-match" not in call.request.headers or outcome.reply.status != 200:
        return outcome
    query = {**call.query, "snapshots": "refs"}
    return faithful(state, structs.replace(_unconditional(call), query=query))


@defect(
    "etag-of-both-modes",
    breaks="etag.per-snapshots-mode",
    suffering="A cache on the way hands out a part of the snapshots as all of them.",
)
def _of_both_modes(registries: Registries) -> None:
    """The entity tag is of the version, whichever snapshots are answered."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        version = _tag_of(outcome.reply).rpartition("-")[0]
        if not version:
            return outcome
        reply = _etag_headers(outcome.reply, f'{version}"')
        if f'{version}"' == call.request.headers.get("if-none-match"):
            reply = Reply(304, (("etag", f'{version}"'),))
        return structs.replace(outcome, reply=reply)

    wrap(registries, "loadTable", around)


@defect(
    "etag-of-the-log",
    on="loadTable",
    breaks="etag.per-snapshots-mode",
    suffering="A cache on the way hands out a part of the snapshots as all of them.",
)
def _of_the_log(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The entity tag is made of when the table was changed last, and is weak."""
    entry = state.table(call.namespace, call.name)
    outcome = faithful(state, call)
    if entry is None or not _tag_of(outcome.reply):
        return outcome
    tag = f'W/"{entry.metadata.table_uuid}-{entry.metadata.last_updated_ms}-{entry.version}"'
    reply = _etag_headers(outcome.reply, tag)
    if call.request.headers.get("if-none-match") == tag:
        reply = Reply(304, (("etag", tag),))
    return structs.replace(outcome, reply=reply)


# ---- the tags of commits


@defect(
    "etag-of-before-the-commit",
    on="updateTable",
    breaks="etag.of-a-commit",
    suffering="A cache keeps new metadata under the tag of what was there before.",
)
def _of_before(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The answer to a commit has the entity tag of the version that it was made for."""
    before = state.table(call.namespace, call.name)
    outcome = faithful(state, call)
    if before is None:
        return outcome
    reply = _etag_headers(outcome.reply, _tag_of(publication.load_reply(before)))
    return structs.replace(outcome, reply=reply)


@defect(
    "etag-of-a-commit-stays-current",
    breaks="etag.of-a-commit",
    suffering="Who has committed to a table never sees the commits of others.",
)
def _stays_current(registries: Registries) -> None:
    """A tag that was given with a commit is looked up among those, and is found for ever."""
    given: set[str] = set()

    def commit(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        given.add(_tag_of(outcome.reply))
        return outcome

    def load(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        asked = call.request.headers.get("if-none-match")
        outcome = faithful(state, call)
        return structs.replace(outcome, reply=Reply(304)) if asked in given else outcome

    wrap(registries, "updateTable", commit)
    wrap(registries, "loadTable", load)


@defect(
    "etag-of-a-commit-unknown",
    breaks="etag.of-a-commit",
    suffering="Who has committed to a table cannot load it until the cache is cleared.",
)
def _unknown_to_loads(registries: Registries) -> None:
    """Loads know the tags of loads, and refuse the condition of any other."""

    def commit(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        tag = _tag_of(outcome.reply)
        return structs.replace(outcome, reply=_etag_headers(outcome.reply, f'"c{tag[1:]}'))

    def load(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if call.request.headers.get("if-none-match", "").startswith('"c'):
            raise Problem(412, "PreconditionFailedException", "No such tag")
        return faithful(state, call)

    wrap(registries, "updateTable", commit)
    wrap(registries, "loadTable", load)


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

    outcome = faithful(state, _unconditional(call))
    if not _tag_of(outcome.reply):
        return outcome
    tag = tag_of(outcome.reply)
    reply = _etag_headers(outcome.reply, tag)
    if call.request.headers.get("if-none-match") in {tag, "*"}:
        reply = Reply(304, (("etag", tag),))
    return structs.replace(outcome, reply=reply)
