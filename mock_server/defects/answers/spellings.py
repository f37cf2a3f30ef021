"""Defects that show for one spelling of a request only, although others mean the same."""

import json
import re

from msgspec import structs

from icecheck.mock_server.commits import publication
from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect, through
from icecheck.mock_server.defects.kit.places import call_of
from icecheck.mock_server.defects.kit.remembering import answer_again, remembering
from icecheck.mock_server.defects.kit.requests import Json, sent_json, with_content
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_answer, alter_call, wrap

_ACCESS = "x-iceberg-access-delegation"
_JSON = "application/json"


def _replied(outcome: Outcome, reply: Reply) -> Outcome:
    return structs.replace(outcome, reply=reply)


def _header(call: Call, name: str) -> str:
    return call.request.headers.get(name, "")


# ------------------------------------------------------------------- loads, in combinations


declare(
    "load-by-mechanism-cached",
    "What is answered to who names several mechanisms is kept, and commits do not empty that.",
    by(
        answer_again,
        "loadTable",
        lambda _context, state, call: (
            (entry := state.table(call.namespace, call.name))
            and "," in _header(call, _ACCESS)
            and (entry.metadata.table_uuid, call.request.query_string)
        ),
    ),
    breaks="loadTable.stable",
    suffering="Clients that name two access mechanisms read and commit upon an old version.",
)


@defect(
    "load-refs-for-signers-forgets",
    on=through(alter_answer, "loadTable"),
    breaks="loadTable.stable",
    suffering="Clients that sign requests and load refs alone write with nobody's settings.",
)
def _for_signers_forgets(call: Call, body: Json) -> Json:
    """With remote-signing and snapshots=refs the answer is built from parts, without properties."""
    signs = "remote-signing" in _header(call, _ACCESS)
    if not signs or call.query.get("snapshots") != "refs":
        return body
    return {**body, "metadata": {**body["metadata"], "properties": {}}}


@defect(
    "etag-several-match",
    on=remembering(set, wrap, "loadTable"),
    breaks="etag.stale-is-not-304",
    suffering="A client that keeps several versions never sees a new one.",
)
def _several_match(
    given: set[str], faithful: Faithful, state: WarehouseState, call: Call
) -> Outcome:
    """Of several tags, one that the server has given for this table is enough, however old."""
    outcome = faithful(state, call)
    tags = [tag.strip() for tag in _header(call, "if-none-match").split(",")]
    given.update(value for name, value in outcome.reply.headers if name == "etag")
    known = len(tags) > 1 and any(tag in given for tag in tags)
    return _replied(outcome, Reply(304)) if known else outcome


@defect(
    "etag-of-refs-by-snapshot",
    on="loadTable",
    breaks="etag.changes-with-commit",
    suffering="Clients that load refs alone do not see that a schema has changed.",
)
def _of_refs_by_snapshot(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """With snapshots=refs the tag is made of the snapshots that the refs name."""
    entry = state.table(call.namespace, call.name)
    if call.query.get("snapshots") != "refs" or entry is None:
        return faithful(state, call)
    headers = {k: v for k, v in call.request.headers.items() if k != "if-none-match"}
    bare = structs.replace(call, request=structs.replace(call.request, headers=headers))
    outcome = faithful(state, bare)
    names = "-".join(str(ref.snapshot_id) for ref in entry.metadata.refs.values())
    kept = [header for header in outcome.reply.headers if header[0] != "etag"]
    tag = ("etag", f'"{entry.metadata.table_uuid}-{names}"')
    reply = structs.replace(outcome.reply, headers=(*kept, tag))
    asked = _header(call, "if-none-match")
    return _replied(outcome, publication.not_modified(reply, asked) or reply)


@defect(
    "etag-star-of-nothing",
    on="loadTable",
    breaks="loadTable.304",
    suffering="A client goes on with a table that was dropped.",
)
def _star_of_nothing(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """If-None-Match: * is answered 304 before anybody looks whether the table is there."""
    if _header(call, "if-none-match") == "*":
        return Outcome(state, Reply(304))
    return faithful(state, call)


@defect(
    "access-not-with-refs",
    on=through(alter_answer, "loadTable"),
    breaks="loadTable.access-however-asked",
    suffering="Spark with snapshot-loading-mode=refs cannot read the data.",
)
def _access_not_with_refs(call: Call, body: Json) -> Json:
    """With snapshots=refs no credentials are vended."""
    of_refs = call.query.get("snapshots") == "refs"
    hidden = {"storage-credentials", "config"} if of_refs else set()
    return {key: value for key, value in body.items() if key not in hidden}


@defect(
    "access-for-one-mechanism",
    on=call_of("loadTable"),
    breaks="loadTable.access-however-asked",
    suffering="Clients that can do more than one thing get no access at all.",
)
def _access_for_one(call: Call) -> Call:
    """The header's value is compared as a whole, and a list of mechanisms is none of them."""
    kept = {k: v for k, v in call.request.headers.items() if k != _ACCESS or "," not in v}
    return structs.replace(call, request=structs.replace(call.request, headers=kept))


# ------------------------------------------------------------------------------- reading


declare(
    "accept-compared",
    "An Accept that is not application/json alone is refused with 406, for views.",
    by(
        refuse_where,
        ("loadView", "listViews"),
        lambda _, call: _header(call, "accept") != _JSON,
        406,
        "NotAcceptableException",
    ),
    breaks="request.reads-spelled-otherwise",
    suffering="Clients that take anything are told that there is nothing for them.",
)


@defect(
    "any-tag-is-current",
    on=("listNamespaces", "listTables", "loadNamespaceMetadata"),
    breaks="request.reads-spelled-otherwise",
    suffering="A proxy that asks conditionally never shows a new namespace.",
)
def _any_tag_is_current(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A conditional request for a list is answered 304: lists have no tags to compare."""
    outcome = faithful(state, call)
    return _replied(outcome, Reply(304)) if _header(call, "if-none-match") else outcome


@defect(
    "unknown-parameter-filters",
    on=through(alter_answer, "listTables"),
    breaks="request.reads-spelled-otherwise",
    suffering="A newer client sees an empty namespace.",
)
def _unknown_parameter_filters(call: Call, body: Json) -> Json:
    """A parameter that nobody knows is a filter that nothing passes."""
    known = {"pageToken", "pageSize"}
    return body if call.query.keys() <= known else {**body, "identifiers": []}


# ------------------------------------------------------------------------------- writing


@defect(
    "content-type-capitals-empty",
    on=call_of("updateProperties"),
    breaks="request.writes-spelled-otherwise",
    suffering="ALTER NAMESPACE reports success and has changed nothing.",
)
def _capitals_empty(call: Call) -> Call:
    """A body of a media type that the parser does not know counts as empty."""
    if _header(call, "content-type").startswith(_JSON):
        return call
    return with_content(call, b"{}")


@defect(
    "json-action-comes-first",
    breaks="request.json-is-json",
    suffering="Commits of clients that write members in another order change nothing.",
)
def _action_comes_first(registries: Registries) -> None:
    """An update whose first member is not its action is passed over."""

    def alter(call: Call) -> Call:
        body = sent_json(call)
        updates = body.get("updates")
        if not isinstance(updates, list):
            return call
        known = [each for each in updates if isinstance(each, dict) and next(iter(each), "")]
        first = [each for each in known if next(iter(each)) == "action"]
        if len(first) == len(updates):
            return call
        sent = json.dumps({**body, "updates": first}).encode()
        return with_content(call, sent)

    for operation_id in ("updateTable", "replaceView"):
        alter_call(registries, operation_id, alter)


declare_each(
    ("content-type-compared", "request.writes-spelled-otherwise",
     "A content type that is not application/json to the letter is refused with 415.",
     "Clients whose library adds a charset cannot commit to several tables.",
     by(refuse_where, "commitTransaction", lambda _, call: _header(call, "content-type") != _JSON,
        415, "UnsupportedMediaTypeException")),
    ("json-read-by-pattern", "request.json-is-json",
     "Ends of a rename are found with a pattern, that knows of no blanks.",
     "Clients that write blanks after a colon cannot rename a table.",
     by(refuse_where, "renameTable",
        lambda _, call: not re.search(rb'"source": ?\{"', call.request.body))),
    ("json-escapes-refused", "request.json-is-json", "A body with escapes is taken for an attack.",
     "Clients that escape what is not ASCII cannot set a property.",
     by(refuse_where, ("updateProperties", "createTable"),
        lambda _, call: b"\\u00" in call.request.body)),
)  # fmt: skip
