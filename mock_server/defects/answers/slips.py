"""Small slips: refused requests with effects, 0 taken for no value, caches by name."""

import base64
import hashlib
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from msgspec import structs

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import defect
from icecheck.mock_server.defects.kit.places import call_of, request_of
from icecheck.mock_server.defects.kit.requests import Json, with_content
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.security.token_requests import bearer_of

_SIGNATURE_BYTES = 12  # before the name in a token of the faithful server
_ZEROS = {
    "assert-current-schema-id": "current_schema_id",
    "assert-default-spec-id": "default_spec_id",
    "assert-default-sort-order-id": "default_sort_order_id",
}
_REFS = ("refs", "metadata-log", "last-updated-ms")


# ---------------------------------------------------------------------------- listings


@defect(
    "pages-nested-rows-count",
    on="listNamespaces",
    breaks="listNamespaces.pages-cover-all",
    suffering="SHOW NAMESPACES stops at the first namespace that has others in it.",
)
def _nested_rows_count(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A page of namespaces is a number of rows, nested ones too, and a short page the last one."""
    outcome = faithful(state, call)
    if not call.query.get("pageToken", "x"):  # the first page
        body = json.loads(outcome.reply.body)
        listed = [tuple(each) for each in body["namespaces"]]
        if any(next(state.children(each), None) for each in listed):
            reply = replies.json_reply({**body, "next-page-token": None})
            return structs.replace(outcome, reply=reply)
    return outcome


@defect(
    "pages-tokens-are-ascii",
    on=("listNamespaces", "listTables", "listViews"),
    breaks="listTables.pages-cover-all",
    suffering="A list ends with an error after the first table with a letter beyond ASCII.",
)
def _tokens_are_ascii(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A token made after a name with letters beyond ASCII is refused."""
    try:
        token = base64.urlsafe_b64decode(call.query.get("pageToken", ""))
    except ValueError:
        token = b""
    if not token[_SIGNATURE_BYTES:].isascii():
        raise problem.bad_request("Malformed page token")
    return faithful(state, call)


# ------------------------------------------------------------------- names and removal


@defect(
    "namespace-refused-drop-empties-properties",
    on="dropNamespace",
    breaks="dropNamespace.refusal-changes-nothing",
    suffering="Owner and location of a namespace are gone after a drop that did not happen.",
)
def _refused_drop_empties_properties(
    faithful: Faithful, state: WarehouseState, call: Call
) -> Outcome:
    """A drop deletes the properties first, and meets the tables only then."""
    try:
        return faithful(state, call)
    except Problem as refused:
        if refused.status != 409:
            raise
        emptied = state.with_namespace(call.namespace, {})
        return Outcome(emptied, replies.problem_reply(refused))


@defect(
    "staged-name-of-dropped-table-taken",
    breaks="assertion.assert-create.satisfied",
    suffering="CREATE TABLE AS SELECT after DROP TABLE fails for ever.",
)
def _dropped_names_stay_taken(registries: Registries) -> None:
    """A create transaction finds the row of a dropped table under its name."""
    dropped: set[Any] = set()

    def noting(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        dropped.add((faithful.context.warehouse, call.namespace, call.name))
        return outcome

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        creates = state.table(call.namespace, call.name) is None
        if creates and (faithful.context.warehouse, call.namespace, call.name) in dropped:
            raise problem.commit_failed("Requirement failed: table already exists")
        return outcome

    wrap(registries, "dropTable", noting)
    wrap(registries, "updateTable", around)


@defect(
    "rename-decodes-destination",
    on=request_of("renameTable"),
    breaks="renameTable.204",
    suffering="A table is renamed to a name that nobody chose, and not found under its own.",
)
def _rename_decodes_destination(body: Json) -> Json:
    """The new name in the body is percent-decoded, as names in a path are."""
    target = body.get("destination")
    if not isinstance(target, dict) or not isinstance(target.get("name"), str):
        return body
    return {**body, "destination": {**target, "name": unquote(target["name"])}}


@defect(
    "drop-purges-when-told-not-to",
    on=call_of("dropTable"),
    breaks="dropTable.keeps-files-without-purge",
    suffering="A table that is only unregistered loses its data.",
)
def _purges_when_told_not_to(call: Call) -> Call:
    """The text "false" of purgeRequested is a true value."""
    if call.query.get("purgeRequested") != "false":
        return call
    return structs.replace(call, query={**call.query, "purgeRequested": "true"})


# ----------------------------------------------------------------------------- commits


@defect(
    "assertions-of-zero-hold",
    breaks="assertion.assert-current-schema-id.violated",
    suffering="Whoever evolves a table from its first schema overwrites what others did since.",
)
def _zero_holds(registries: Registries) -> None:
    """A requirement that an id be 0 counts as one without an id."""

    def unless_zero(type_: str, member: str) -> Callable[[Any, TableMetadata | None], None]:
        faithful = registries.assertions[type_]

        def check(assertion: Any, metadata: TableMetadata | None) -> None:
            if metadata is None or getattr(assertion, member):
                faithful(assertion, metadata)

        return check

    for type_, member in _ZEROS.items():
        registries.assertions[type_] = unless_zero(type_, member)


@defect(
    "transaction-assert-only-changes-skipped",
    on=request_of("commitTransaction"),
    breaks="transaction.atomic-on-failed-requirement",
    suffering="A table that was only read has changed, and the transaction commits all the same.",
)
def _assert_only_changes_skipped(body: Json) -> Json:
    """A change without updates is left out of a transaction, its requirements with it."""
    changes = body.get("table-changes")
    if not isinstance(changes, list) or not all(isinstance(each, dict) for each in changes):
        return body
    return {**body, "table-changes": [c for c in changes if c.get("updates") != []] or changes}


@defect(
    "etag-without-refs",
    breaks="etag.stale-is-not-304",
    suffering="A tag or branch that was just made is not seen by whoever knows the table.",
)
def _tag_without_refs(registries: Registries) -> None:
    """The entity tag is made of all that a table is, but for its refs."""

    def tag_of(reply: Reply) -> str:
        body = json.loads(reply.body)
        body.pop("metadata-location")
        for member in _REFS:
            body["metadata"].pop(member, None)
        return f'"{hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]}"'

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
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

    for operation_id in ("loadTable", "createTable", "registerTable"):
        wrap(registries, operation_id, around)


# ---------------------------------------------------------------------------- answers


@defect(
    "credentials-by-name",
    breaks="loadCredentials.covers-the-table",
    suffering="A table that was made anew cannot be read: its keys are for another place.",
)
def _credentials_by_name(registries: Registries) -> None:
    """Credentials are cached by a table's name, and outlive the table."""
    cache: dict[Any, Reply] = {}

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        key = (faithful.context.warehouse, call.namespace, call.name)
        return structs.replace(outcome, reply=cache.setdefault(key, outcome.reply))

    wrap(registries, "loadCredentials", around)


@defect(
    "oauth-exchange-falls-back-to-bearer",
    on="getToken",
    breaks="getToken.subject-is-judged",
    suffering="A user whose session is over goes on with the rights of the client.",
)
def _exchange_falls_back(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Instead of a subject token that is none, the token in the header is exchanged."""
    outcome = faithful(state, call)
    form = dict(parse_qsl(call.request.body.decode(errors="replace")))
    bearer = bearer_of(call.request)
    if outcome.reply.status != 400 or bearer is None or "subject_token" not in form:
        return outcome
    again = urlencode({**form, "subject_token": bearer}).encode()
    renewed = faithful(state, with_content(call, again))
    return renewed if renewed.reply.status == 200 else outcome


@defect(
    "plan-lt-eq-as-lt",
    on=request_of("planTableScan"),
    breaks="planTableScan.filter",
    suffering="Rows with the greatest value that was asked for are missing from the result.",
)
def _lt_eq_as_lt(body: Json) -> Json:
    """Files are looked for that are below a number, where below or at it was asked for."""
    filter_ = body.get("filter")
    if not isinstance(filter_, dict) or filter_.get("type") != "lt-eq":
        return body
    return {**body, "filter": {**filter_, "type": "lt"}}


@defect(
    "error-body-pasted-together",
    breaks="error.envelope",
    suffering="A name with a quotation mark in it: the client reports an error in the error.",
)
def _error_body_pasted(registries: Registries) -> None:
    """An error's message is put between quotation marks as it is."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(state, call)
        except Problem as refused:
            members = f'"message":"{refused.message}","type":"{refused.type}"'
            body = f'{{"error":{{{members},"code":{refused.status}}}}}'.encode()
            return Outcome(state, Reply(refused.status, replies.JSON_CONTENT, body))

    for operation_id in set(registries.operations) - {"getToken"}:
        wrap(registries, operation_id, around)
