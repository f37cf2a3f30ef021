"""Defects of remote signing: too much is signed, too little, or not where clients are told."""

import json
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply, Request
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import refuse_where, see_otherwise
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.places import FaithfulGate, answer_of, gate, request_of
from icecheck.mock_server.defects.kit.requests import Json, sent_json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    alter_request_body,
    answer_status,
    refuse_as,
    with_answer,
    wrap,
)
from icecheck.mock_server.objects.places import place_of
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.security.callers import Security
from icecheck.mock_server.security.settings import SIGNING

_COPY = "x-amz-copy-source"
_PAYLOAD = "x-amz-content-sha256"
_PATH = "/sign"
Config = dict[str, str]


def _answer_header(registries: Registries, value: str | None) -> None:
    """Answer signatures with another Cache-Control, or with None without one."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        kept = tuple(each for each in outcome.reply.headers if each[0] != "cache-control")
        more = () if value is None else (("cache-control", value),)
        return replace(outcome, reply=replace(outcome.reply, headers=(*kept, *more)))

    wrap(registries, SIGNING, around)


def _grant_more(registries: Registries, widened: Callable[[str, Json], str]) -> None:
    """Judge requests as if the table were at the location that `widened` returns.

    It gets the table's own location, and what is asked.
    """

    def seen(state: WarehouseState, call: Call) -> WarehouseState:
        entry = state.table(call.namespace, call.name)
        if entry is None:
            return state
        location = widened(entry.metadata.location, sent_json(call))
        moved = replace(entry, metadata=replace(entry.metadata, location=location))
        return state.with_table(call.namespace, call.name, moved)

    see_otherwise(registries, SIGNING, seen)


def _that_begins_alike(location: str, asked: Json) -> str:
    """Return the location of the directory in a request whose name begins like the table's."""
    place, uri = place_of(location), str(asked.get("uri"))
    beginning = "" if place is None else f"/{place.key}"
    if not beginning or beginning not in uri:
        return location
    return location + uri.partition(beginning)[2].partition("/")[0]


def _judge_as(registries: Registries, method: str, *methods: str) -> None:
    """Judge requests with some methods as if they had another one."""

    def judged(body: Json) -> Json:
        return body | {"method": method} if body.get("method") in methods else body

    alter_request_body(registries, SIGNING, judged)


def _refuse_without(registries: Registries, member: str) -> None:
    """Refuse requests in which a member is missing or empty."""

    def lacks(_state: WarehouseState, call: Call) -> bool:
        body = sent_json(call)
        return bool(body) and not body.get(member)

    refuse_where(registries, SIGNING, lacks)


def _tells_no_host(_state: WarehouseState, call: Call) -> bool:
    headers = sent_json(call).get("headers")
    return isinstance(headers, dict) and "host" not in {name.lower() for name in headers}


def _sign_deletions(registries: Registries, *, told: bool) -> None:
    """Sign every deletion of several objects whose body is told, or each whose body is not."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        asked = sent_json(call)
        if "?delete" not in str(asked.get("uri")) or ("body" in asked) is not told:
            return faithful(state, call)
        headers = {"Authorization": ["AWS4-HMAC-SHA256"], _PAYLOAD: ["UNSIGNED-PAYLOAD"]}
        return Outcome(state, replies.json_reply({"uri": asked.get("uri"), "headers": headers}))

    wrap(registries, SIGNING, around)


def _fill_in(registries: Registries, member: str, value: Any) -> None:
    """Take a value for a member that is missing."""
    alter_request_body(registries, SIGNING, lambda body: {member: value, **body})


def _alter_config(registries: Registries, alter: Callable[[Config], Config]) -> None:
    """Change the config of a loaded table, if it turns remote signing on."""

    def altered(body: Json) -> Json:
        config = body.get("config") or {}
        return body | {"config": alter(config)} if "s3.remote-signing-enabled" in config else body

    alter_body(registries, "loadTable", altered)


def _without(beginning: str) -> Callable[[Config], Config]:
    return lambda config: {k: v for k, v in config.items() if not k.startswith(beginning)}


def _respelled(old: str, new: str) -> Callable[[Config], Config]:
    return lambda config: {k.replace(old, new): v for k, v in config.items()}


def _with_endpoint(alter: Callable[[str], str]) -> Callable[[Config], Config]:
    return lambda config: {
        k: alter(v) if k.endswith("signer.endpoint") else v for k, v in config.items()
    }


@defect(
    "signing-for-a-table-that-is-gone",
    on=SIGNING,
    breaks="signRequest.missing-table",
    suffering="Whoever guesses a name has requests signed for files that belong to nobody.",
)
def _for_nothing(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The table is not looked for where the caller may sign at all."""
    if state.table(call.namespace, call.name) is not None:
        return faithful(state, call)
    asked = sent_json(call)
    return Outcome(state, replies.json_reply({"uri": asked.get("uri"), "headers": {}}))


@defect(
    "signing-without-provider-for-another-store",
    on=SIGNING,
    breaks="signRequest.provider-optional",
    suffering="Clients of before providers were named send requests that S3 refuses.",
)
def _of_another_store(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A request without a provider gets the bearer token of another store."""
    outcome = faithful(state, call)
    if sent_json(call).get("provider") is not None or outcome.reply.status != 200:
        return outcome
    headers = {"Authorization": ["Bearer icecheck-of-another-store"]}
    return with_answer(outcome, json.loads(outcome.reply.body) | {"headers": headers})


@defect(
    "signing-copies-unread",
    on=request_of(SIGNING),
    breaks="signRequest.outside-the-table",
    suffering="A copy into a table reads the data of every other one.",
)
def _copies_unread(body: Json) -> Json:
    """The source of a copy is signed, and not looked at."""
    place, headers = str(body.get("uri")).partition(".com")[2], body.get("headers")
    if not isinstance(headers, dict) or _COPY not in headers:
        return body
    bucket = str(body["uri"]).partition("://")[2].partition(".s3.")[0]
    return body | {"headers": headers | {_COPY: [f"/{bucket}{place}"]}}


@defect(
    "signing-deletions-by-their-first-key",
    on=request_of(SIGNING),
    breaks="signRequest.outside-the-table",
    suffering="A writer of one table deletes the files of all, after one of its own.",
)
def _first_key(body: Json) -> Json:
    """Of the keys in the body of a deletion the first is looked at."""
    first, end, _ = str(body.get("body")).partition("</Object>")
    return body | {"body": f"{first}{end}</Delete>"} if end else body


@defect(
    "signing-for-every-token",
    on=gate,
    breaks="signRequest.401",
    suffering="Strangers read and write the data of tables that they cannot load.",
)
def _for_every_token(faithful: FaithfulGate, request: Request, security: Security) -> Reply | None:
    """The token of a request to be signed is not checked."""
    return None if request.raw_path.endswith(_PATH) else faithful(request, security)


@defect(
    "signing-forbidden-for-strangers",
    on=gate,
    breaks="signRequest.401",
    suffering="Clients give up instead of asking for a new token.",
)
def _forbidden(faithful: FaithfulGate, request: Request, security: Security) -> Reply | None:
    """A request to be signed that comes with a false token is answered 403."""
    refusal = faithful(request, security)
    if refusal is None or not request.raw_path.endswith(_PATH):
        return refusal
    return replies.problem_reply(problem.forbidden("No valid token"))


@defect(
    "signatures-as-texts",
    on=answer_of(SIGNING),
    breaks="signRequest.signed",
    suffering="Java's client cannot read the answer: each header is to be a list.",
)
def _as_texts(body: Json) -> Json:
    """Each header in the answer is one text."""
    return body | {"headers": {k: ", ".join(v) for k, v in body["headers"].items()}}


declare_each(
    ("signature-created", "signRequest.200",
     "A signature is answered 201, as something that was created.",
     "Java's client takes the answer for an error.", by(answer_status, SIGNING, 201)),
    ("signing-only-what-writes", "signRequest.200",
     "Requests that read are refused, as credentials are vended for those.",
     "Nobody can read a table with signatures.",
     by(refuse_where, SIGNING, lambda _, call: sent_json(call).get("method") in {"GET", "HEAD"})),
    ("signatures-without-uri", "signRequest.signed",
     "The answer leaves out the uri, as it was not changed.",
     "Java's client cannot read the answer.",
     by(alter_body, SIGNING, lambda body: {"headers": body["headers"]})),
    ("signing-needs-headers", "signRequest.minimal-body",
     "A request to be signed that has no headers yet is refused.",
     "Clients that let the signer choose every header cannot read.",
     by(_refuse_without, "headers")),
    ("signing-needs-the-host", "signRequest.minimal-body",
     "A request to be signed whose headers do not tell the host is refused.",
     "Clients that leave the host to what sends the request cannot read.",
     by(refuse_where, SIGNING, _tells_no_host)),
    ("signing-needs-provider", "signRequest.provider-optional",
     "A request to be signed is refused without a provider.",
     "Clients of before providers were named cannot read.", by(_refuse_without, "provider")),
    ("signatures-without-cache-control", "signRequest.cache-control",
     "The answer does not say whether it may be kept.",
     "Java's client asks for each part of a file again.", by(_answer_header, None)),
    ("signatures-for-everybody", "signRequest.cache-control",
     "The answer says that it is public for a minute.",
     "A proxy gives the signature of one user to another one.",
     by(_answer_header, "public, max-age=60")),
    ("signing-fails-for-a-table-that-is-gone", "signRequest.missing-table",
     "To sign for a table that does not exist is a server error.",
     "Clients try again and again.", by(refuse_as, SIGNING, 404, 500)),
    ("signing-malformed-for-a-table-that-is-gone", "signRequest.missing-table-is-404",
     "To sign for a table that does not exist is answered 400.",
     "Clients tell of a malformed request.", by(refuse_as, SIGNING, 404, 400)),
    ("signing-forbidden-for-a-table-that-is-gone", "signRequest.missing-table-is-404",
     "To sign for a table that does not exist is answered 403.",
     "Clients tell of a missing permission.", by(refuse_as, SIGNING, 404, 403)),
    ("signing-for-the-whole-namespace", "signRequest.outside-the-table",
     "What is signed for a table is everything beside it too.",
     "Whoever may read one table reads and writes its neighbours.",
     by(_grant_more, lambda location, _: location.rpartition("/")[0])),
    ("signing-for-places-that-begin-alike", "signRequest.outside-the-table",
     "Locations are compared by their beginning, so sales is taken for a part of sale.",
     "Whoever may read one table reads another whose name begins like its own.",
     by(_grant_more, _that_begins_alike)),
    ("signing-bodies-unread", "signRequest.outside-the-table",
     "The keys in the body of a deletion are not looked at.",
     "A writer of one table deletes the files of all.", by(_sign_deletions, told=True)),
    ("signing-deletions-untold", "signRequest.outside-the-table",
     "A deletion whose body is not told is signed, for whatever it will be.",
     "A writer of one table deletes the files of all.", by(_sign_deletions, told=False)),
    ("signing-writes-for-readers", "signRequest.reader-cannot-write",
     "Who may load a table has every request to it signed.",
     "Readers overwrite and delete the data of tables.", by(_judge_as, "GET", "PUT", "DELETE")),
    ("signing-deletions-for-readers", "signRequest.reader-cannot-write",
     "Only PUT counts as writing.",
     "Readers delete the data of tables.", by(_judge_as, "GET", "DELETE")),
    ("signing-unreadable-as-422", "signRequest.400",
     "A request that cannot be signed as it is told is answered 422.",
     "Clients do not know the status, and tell of an unexpected answer.",
     by(refuse_as, SIGNING, 400, 422)),
    ("signing-for-a-region-of-its-own", "signRequest.400",
     "A request without a region is signed for the region of the warehouse.",
     "A client that forgot it is told by S3, later and in other words.",
     by(_fill_in, "region", "us-east-1")),
    ("signing-without-headers", "signRequest.400",
     "A request without headers is signed as one that has none.",
     "A client that forgot them sends what is not signed.", by(_fill_in, "headers", {})),
    ("signer-known-to-older-clients-alone", "loadTable.signer-endpoint",
     "The signer is named for S3 only, as before the document described it.",
     "Clients written by the document do not find it.", by(_alter_config, _without("signer."))),
    ("signer-with-empty-endpoint", "loadTable.signer-endpoint",
     "The endpoint of the signer is empty, as it is below the uri.",
     "Clients ask the catalog's own address, and nothing is signed.",
     by(_alter_config, lambda config: config | {"signer.endpoint": ""})),
    ("signer-unknown-to-older-clients", "loadTable.signer-of-older-clients",
     "The signer is named by the document's names alone.",
     "Java's client up to 1.10 asks at a path that is not served.",
     by(_alter_config, _without("s3.signer."))),
    ("signer-misspelt-for-older-clients", "loadTable.signer-of-older-clients",
     "The names of the signer for older clients are misspelt.",
     "Java's client up to 1.10 asks at a path that is not served.",
     by(_alter_config, _respelled("s3.signer.", "s3.signing."))),
    ("signer-endpoint-without-version", "loadTable.signer-endpoint-signs",
     "The endpoint of the signer begins after the version and the prefix.",
     "Clients ask at a path that is not served.",
     by(_alter_config, _with_endpoint(
         lambda path: f"namespaces/{path.partition('/namespaces/')[2]}"
     ))),
    ("signer-uri-with-version", "loadTable.signer-endpoint-signs",
     "The version is in the uri of the signer, and in its endpoint as well.",
     "Clients ask below /v1/v1, where nothing is served.",
     by(_alter_config, lambda config: {
         k: f"{v}/v1" if k.endswith("signer.uri") else v for k, v in config.items()
     })),
)  # fmt: skip
