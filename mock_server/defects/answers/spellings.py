"""Defects that show for one spelling of a request only, although others mean the same."""

import json
import re
from collections.abc import Callable
from typing import Any

from msgspec import structs

from icecheck.mock_server.commits import publication
from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, defect, through
from icecheck.mock_server.defects.kit.places import call_of
from icecheck.mock_server.defects.kit.requests import Json, sent_json, with_content
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_answer, alter_call, wrap
from icecheck.mock_server.protocol import problem
from icecheck.mock_server.protocol.problem import Problem

_ACCESS = "x-iceberg-access-delegation"
_JSON = "application/json"


def _replied(outcome: Outcome, reply: Reply) -> Outcome:
    return structs.replace(outcome, reply=reply)


def _header(call: Call, name: str) -> str:
    return call.request.headers.get(name, "")


def _refuse(
    registries: Registries, operation_ids: tuple[str, ...], unwanted: Callable[[Call], bool],
    status: int, error_type: str,
) -> None:  # fmt: skip
    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if unwanted(call):
            raise Problem(status, error_type, "Not understood")
        return faithful(state, call)

    for operation_id in operation_ids:
        wrap(registries, operation_id, around)


# ------------------------------------------------------------------- loads, in combinations


@defect(
    "load-by-mechanism-cached",
    breaks="loadTable.stable",
    suffering="Clients that name two access mechanisms read and commit upon an old version.",
)
def _by_mechanism_cached(registries: Registries) -> None:
    """What is answered to who names several mechanisms is kept, and commits do not empty that."""
    kept: dict[Any, Reply] = {}

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        if "," not in _header(call, _ACCESS) or outcome.reply.status != 200:
            return outcome
        entry = state.table(call.namespace, call.name)
        key = (None if entry is None else entry.metadata.table_uuid, call.request.query_string)
        return _replied(outcome, kept.setdefault(key, outcome.reply))

    wrap(registries, "loadTable", around)


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
    breaks="etag.stale-is-not-304",
    suffering="A client that keeps several versions never sees a new one.",
)
def _several_match(registries: Registries) -> None:
    """Of several tags, one that the server has given for this table is enough, however old."""
    given: set[str] = set()

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        tags = [tag.strip() for tag in _header(call, "if-none-match").split(",")]
        given.update(value for name, value in outcome.reply.headers if name == "etag")
        known = len(tags) > 1 and any(tag in given for tag in tags)
        return _replied(outcome, Reply(304)) if known else outcome

    wrap(registries, "loadTable", around)


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


@defect(
    "accept-compared",
    breaks="request.reads-spelled-otherwise",
    suffering="Clients that take anything are told that there is nothing for them.",
)
def _accept_compared(registries: Registries) -> None:
    """An Accept that is not application/json alone is refused with 406, for views."""
    unwanted = lambda call: _header(call, "accept") != _JSON  # noqa: E731 - one expression
    _refuse(registries, ("loadView", "listViews"), unwanted, 406, "NotAcceptableException")


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
    breaks="request.reads-spelled-otherwise",
    suffering="A newer client sees an empty namespace.",
)
def _unknown_parameter_filters(registries: Registries) -> None:
    """A parameter that nobody knows is a filter that nothing passes."""
    known = {"pageToken", "pageSize"}

    def alter(call: Call, body: Json) -> Json:
        return body if call.query.keys() <= known else {**body, "identifiers": []}

    alter_answer(registries, "listTables", alter)


# ------------------------------------------------------------------------------- writing


@defect(
    "content-type-compared",
    breaks="request.writes-spelled-otherwise",
    suffering="Clients whose library adds a charset cannot commit to several tables.",
)
def _content_type_compared(registries: Registries) -> None:
    """A content type that is not application/json to the letter is refused with 415."""
    unwanted = lambda call: _header(call, "content-type") != _JSON  # noqa: E731 - as above
    _refuse(registries, ("commitTransaction",), unwanted, 415, "UnsupportedMediaTypeException")


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


@defect(
    "json-read-by-pattern",
    on="renameTable",
    breaks="request.json-is-json",
    suffering="Clients that write blanks after a colon cannot rename a table.",
)
def _read_by_pattern(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Ends of a rename are found with a pattern, that knows of no blanks."""
    if not re.search(rb'"source": ?\{"', call.request.body):
        raise problem.bad_request("No source")
    return faithful(state, call)


declare(
    "json-escapes-refused",
    "A body with escapes is taken for an attack.",
    by(
        _refuse,
        ("updateProperties", "createTable"),
        lambda call: b"\\u00" in call.request.body,
        400,
        "BadRequestException",
    ),
    breaks="request.json-is-json",
    suffering="Clients that escape what is not ASCII cannot set a property.",
)
