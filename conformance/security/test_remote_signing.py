"""Checks of remote signing: what is signed and for whom, and where clients find the signer.

Nothing that is signed here is ever sent to the object store.
"""

import re
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from icecheck.client.catalog import NO_BODY, Catalog
from icecheck.conformance.kit.other_principals import reading_principal
from icecheck.conformance.security.guarded_routes import FALSE_TOKEN, refused
from icecheck.conformance.security.signing_requests import Signer, signer_of
from icecheck.findings.shared_symptoms import LEAK, SCHEMA
from icecheck.findings.symptoms import Severity, Symptom, declare
from icecheck.judging.check import check, generated_check
from icecheck.objects.reading import not_applicable, object_in
from icecheck.replies.expect import Blocked, Reply, Violation
from icecheck.replies.matching import show

_SIGNED_FOR_NOTHING = declare(
    "signed-for-nothing",
    "Signs requests for a table that does not exist",
    Severity.EXPOSED,
    "everybody: requests are signed for data that belong to nobody",
)
_SIGNED_OUTSIDE = declare(
    "signed-outside",
    "Signs requests for what lies outside of the table",
    Severity.EXPOSED,
    "everybody: whoever may read one table reads and writes the data of all",
    values_in_title=False,
)
_SIGNED_OTHERWISE = declare(
    "signed-otherwise",
    "Signs a request for S3 only where the provider is named",
    Severity.REFUSED,
    "clients that name no provider, as before 1.11: read and write nothing",
)
_CACHING_UNSAID = declare(
    "signature-caching-unsaid",
    "Does not say whether a signature may be kept",
    Severity.SHAPE,
    "Spark, Flink, Trino (Java client 1.11): ask for each request, also where one answer would do",
)
_SIGNER_UNNAMED = declare(
    "signer-unnamed",
    "Turns remote signing on and does not name the signer: {expected}",
    Severity.REFUSED,
    "clients that look for this setting: read and write nothing without a signature",
)
_SIGNER_SILENT = declare(
    "signer-silent",
    "Names a signer that does not sign",
    Severity.REFUSED,
    "Spark, Flink, Trino (Java client): read and write nothing without a signature",
)

_SIGNATURE = re.compile(r"AWS4-|X-Amz-Signature=|^AWS ", re.IGNORECASE)
_COVERED = re.compile(r"SignedHeaders=([a-z0-9;_.-]+)", re.IGNORECASE)
_COPY = "x-amz-copy-source"
_KEEPING = frozenset({"private", "no-cache", "no-store"})
_NOT_THERE = frozenset({403, 404})
"""How it may be refused to sign for a file that is not there."""


def _text_of(reply: Reply) -> list[str]:
    """Return the uri and the values of the headers that an answer has."""
    body = object_in(reply)
    headers = body.get("headers")
    values = headers.values() if isinstance(headers, dict) else ()
    listed = [each for value in values if isinstance(value, list) for each in value]
    return [str(each) for each in (body.get("uri"), *listed)]


def _asked(catalog: Catalog) -> tuple[Signer, Reply]:
    """Return the signer and its answer to an ordinary request.

    Where none is signed for a file that is not there, one for the table's metadata file is sent.
    """
    signer = signer_of(catalog)
    reply = signer.send(catalog, signer.own())
    file, below = signer.table.metadata_location or "", f"{signer.location}/"
    if reply.status in _NOT_THERE and file.startswith(below):
        signer = replace(signer, file=file.removeprefix(below))
        reply = signer.send(catalog, signer.own())
    return signer, reply


def _ordinary(catalog: Catalog) -> tuple[Signer, Reply]:
    """Return what ``_asked`` does; raise Blocked where not even an ordinary request is signed."""
    signer, reply = _asked(catalog)
    if reply.status in _NOT_THERE:
        raise not_applicable(f"a request for a file of the table is answered {reply.status}")
    if not reply.ok:
        reason = f"an ordinary request is answered {reply.status}"
        raise Blocked("signRequest.200", reason, exchange=reply.exchange.ordinal)
    return signer, reply


# ------------------------------------------------------------------------- what is signed


@check("signRequest.succeeds", proves="signRequest.200")
def test_a_request_is_signed(catalog: Catalog) -> None:
    """A request for a file of a table is signed: it is answered 200."""
    _asked(catalog)[1].expect(200)


@check("signRequest.signed")
def test_the_answer_is_what_to_send(catalog: Catalog) -> None:
    """The answer has the uri and the headers to send, and each header has a list of values."""
    _, reply = _ordinary(catalog)
    body = object_in(reply)
    uri, headers = body.get("uri"), body.get("headers")
    if not isinstance(uri, str):
        raise _misshaped(reply, "/uri", "a text", uri)
    if not isinstance(headers, dict):
        raise _misshaped(reply, "/headers", "an object", headers)
    for name, values in headers.items():
        if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
            raise _misshaped(reply, f"/headers/{name}", "a list of texts", type(values).__name__)


def _misshaped(reply: Reply, pointer: str, due: str, found: Any) -> Violation:
    return reply.violation(SCHEMA.of("type"), due, show(found), pointer=pointer)


@check("signRequest.minimal-body")
def test_what_is_required_is_enough(catalog: Catalog) -> None:
    """A request of which only the region, uri, method and headers are told is signed."""
    signer = signer_of(catalog)
    if not _send_minimal(catalog, signer).ok:
        signer, _ = _ordinary(catalog)
        _send_minimal(catalog, signer).expect(200)


def _send_minimal(catalog: Catalog, signer: Signer) -> Reply:
    body = {**signer.own(), "headers": {}}
    del body["provider"]
    return signer.send(catalog, body)


@check("signRequest.provider-optional")
def test_the_provider_is_s3_by_default(catalog: Catalog) -> None:
    """A request that names no provider is signed as one for S3."""
    signer, reply = _ordinary(catalog)
    with_provider = signer.own()
    if not _is_signed(reply):
        raise not_applicable("what is signed for S3 bears no signature of S3")
    del with_provider["provider"]
    unnamed = signer.send(catalog, with_provider)
    if not unnamed.ok:
        unnamed.expect(200, detail="without a provider")
    if not _is_signed(unnamed):
        raise unnamed.violation(_SIGNED_OTHERWISE, "a signature of S3", "none")


def _is_signed(reply: Reply) -> bool:
    return any(_SIGNATURE.search(each) for each in _text_of(reply))


@check("signRequest.cache-control")
def test_the_answer_says_whether_it_may_be_kept(catalog: Catalog) -> None:
    """The answer says in its Cache-Control whether clients may keep it."""
    _, reply = _ordinary(catalog)
    said = reply.header("cache-control")
    directives = {each.partition("=")[0].strip().lower() for each in (said or "").split(",")}
    if directives.isdisjoint(_KEEPING):
        raise reply.violation(_CACHING_UNSAID, "private or no-cache", show(said))


# --------------------------------------------------------------------- what is not signed


@check("signRequest.malformed-refused", proves="signRequest.400")
def test_malformed_requests(catalog: Catalog) -> None:
    """A body that is no JSON object, or lacks a required member, is refused with 400."""
    signer = signer_of(catalog)
    body = signer.own()
    wrong: dict[str, Any] = {"no body": NO_BODY, "no JSON": b"{", "no object": [body]}
    for name in ("region", "uri", "method", "headers"):
        wrong[f"no {name}"] = {key: value for key, value in body.items() if key != name}
    for what, sent in wrong.items():
        signer.send(catalog, sent).expect(400, detail=f"sent {what}")


@check("signRequest.missing-table")
def test_nothing_is_signed_for_no_table(catalog: Catalog) -> None:
    """Nothing is signed for a table that does not exist."""
    reply = _for_no_table(catalog, signer_of(catalog))
    reply.expect_refused(accepted=_SIGNED_FOR_NOTHING)


@check("signRequest.missing-table-is-404")
def test_no_table_is_not_found(catalog: Catalog) -> None:
    """The refusal to sign for a table that does not exist is a 404."""
    signer = signer_of(catalog)
    reply = _for_no_table(catalog, signer)
    if reply.ok:
        ordinal = reply.exchange.ordinal
        raise Blocked("signRequest.missing-table", "it is answered 200", exchange=ordinal)
    if reply.status != 404:
        _ordinary(catalog)
        reply.expect(404)


def _for_no_table(catalog: Catalog, signer: Signer) -> Reply:
    """Ask to sign a request for a file of a table that there never was, in its own place."""
    name = catalog.new_name()
    body = signer.request("GET", f"{signer.beside(name)}/data/icecheck.parquet")
    names = {**signer.names, "table": name}
    path = catalog.session.offer.path(catalog.contract.operations["signRequest"].path, names)
    return signer.send_to(catalog, path, body)


@check("signRequest.outside-the-table")
def test_nothing_outside_of_the_table_is_signed(catalog: Catalog) -> None:
    """A request for an object outside of the table's location is not signed."""
    signer = signer_of(catalog)
    file = "data/icecheck.parquet"
    neighbour = signer.beside(catalog.new_name())
    asked = {
        "an object beside the table": ("GET", f"{neighbour}/{file}"),
        "a new object beside the table": ("PUT", f"{neighbour}/{file}"),
        "a place whose name begins like the table's": ("GET", f"{signer.location}_old/{file}"),
        "another bucket": ("GET", f"s3://icecheck-no-such-bucket/{file}"),
    }
    for what, (method, location) in asked.items():
        reply = signer.send(catalog, signer.request(method, location))
        _expect_unsigned(reply, f"{method} of {what}")


@generated_check("signRequest.reaching-outside", proves="signRequest.outside-the-table")
def test_nothing_that_reaches_outside_is_signed(catalog: Catalog) -> None:
    """A request that reaches outside of the table by a header, a query or a body is not signed."""
    signer = signer_of(catalog)
    bucket, _, key = signer.beside(catalog.new_name()).partition("://")[2].partition("/")
    top = signer.uri(f"s3://{bucket}/").rstrip("/")
    listing = signer.own() | {"uri": f"{top}/?list-type=2&prefix={quote(key, safe='')}%2F"}
    _expect_unsigned(signer.send(catalog, listing), "a list of what is beside the table")
    both = signer.location.partition("://")[2].partition("/")[2], key
    keys = "".join(f"<Object><Key>{each}/data/a.parquet</Key></Object>" for each in both)
    deletion = signer.own("POST") | {"uri": f"{top}/?delete=", "body": f"<Delete>{keys}</Delete>"}
    _expect_unsigned(signer.send(catalog, deletion), "a deletion in the table and beside it")
    del deletion["body"]
    reply = signer.send(catalog, deletion)
    if reply.ok and _covers_any_payload(reply):
        _expect_unsigned(reply, "a deletion of what the request to be signed does not tell")
    copy = signer.own("PUT")
    copy["headers"][_COPY] = [f"/{bucket}/{quote(key)}/data/icecheck.parquet"]
    reply = signer.send(catalog, copy)
    if not reply.ok or _covers_copy(reply):
        _expect_unsigned(reply, "a copy of what is beside the table")


def _covers_copy(reply: Reply) -> bool:
    """Return whether a signature is for a copy: S3 refuses one whose header is not signed."""
    covered = [name for text in _text_of(reply) for name in _COVERED.findall(text)]
    return any(_COPY in names.lower().split(";") for names in covered)


def _covers_any_payload(reply: Reply) -> bool:
    """Return whether what is signed may be sent with any body, as far as the answer says."""
    headers = object_in(reply).get("headers")
    told = {k.lower(): v for k, v in headers.items()} if isinstance(headers, dict) else {}
    return told.get("x-amz-content-sha256") == ["UNSIGNED-PAYLOAD"]


def _expect_unsigned(reply: Reply, what: str) -> None:
    # The response table has 400 for what is invalid and 403 for what is forbidden.
    reply.expect_refused(detail=what, accepted=_SIGNED_OUTSIDE)


@check("signRequest.reader-cannot-write")
def test_nothing_is_written_for_a_reader(catalog: Catalog) -> None:
    """A request that writes is not signed for a caller who may only read."""
    theirs = reading_principal(catalog)
    signer = signer_of(catalog, theirs)
    for method in ("PUT", "DELETE"):
        reply = signer.send(catalog, signer.own(method), theirs)
        if reply.status != 403 and not reply.ok:
            own = signer.send(catalog, signer.own(method), {})
            if own.status == reply.status:
                raise not_applicable(f"{method} is not signed for anybody")
        reply.expect_refused(403, detail=method, accepted=LEAK.of("reader-writes"))


@check("signRequest.bad-token", proves="signRequest.401")
def test_nothing_is_signed_for_a_false_token(catalog: Catalog) -> None:
    """A request that comes with an invalid token is refused with 401."""
    if not catalog.target.token and not catalog.target.credential:
        raise not_applicable("the run was given no credentials")
    signer = signer_of(catalog)
    reply = signer.send(catalog, signer.own(), FALSE_TOKEN)
    if reply.status != 401 and signer.send(catalog, signer.own()).status == reply.status:
        table = signer.table
        loaded = catalog.load_table(table.namespace, table.name, headers=FALSE_TOKEN)
        if not reply.ok or not refused(loaded):
            raise not_applicable("signRequest needs no credentials here")
    if reply.ok:
        detail = "loadTable refuses the token with which signRequest signs"
        raise reply.violation(LEAK.of("false-token"), "401", "a success", detail=detail)
    reply.expect(401, detail="with a made-up token")


# --------------------------------------------------------------- where clients find the signer


@check("loadTable.signer-endpoint")
def test_the_config_names_the_signer(catalog: Catalog) -> None:
    """A table's config that turns remote signing on has a signer.endpoint."""
    signer = signer_of(catalog)
    if "signer.endpoint" not in signer.config:
        raise _of_the_config(catalog, _SIGNER_UNNAMED, "signer.endpoint", "absent")


@check("loadTable.signer-of-older-clients")
def test_older_clients_find_the_signer(catalog: Catalog) -> None:
    """A table's config names the signer by s3.signer.uri or s3.signer.endpoint as well."""
    signer = signer_of(catalog)
    named = signer.addresses()
    # Older clients look there without being told.
    is_default = named.get("signer.endpoint") == signer.default_address
    if "s3.signer.endpoint" not in named and not is_default:
        raise _of_the_config(catalog, _SIGNER_UNNAMED, "s3.signer.endpoint", "absent")


@check("loadTable.signer-endpoint-signs")
def test_the_signer_signs(catalog: Catalog) -> None:
    """Each endpoint at which a table's config tells clients to ask for signatures signs."""
    signer = signer_of(catalog)
    here = {name: each for name, each in signer.addresses().items() if signer.is_here(each)}
    if not here:
        raise not_applicable("requests are signed at another address than the catalog's")
    for address in dict.fromkeys(here.values()):
        detail = "at " + " and ".join(name for name, each in here.items() if each == address)
        path = address[len(signer.base) :]
        other = _other_operation(catalog, path.partition("?")[0])
        if other is not None:
            raise _of_the_config(catalog, _SIGNER_SILENT, "a signer", other, detail)
        reply = signer.send_to(catalog, path, signer.own())
        if not reply.ok:
            signer, _ = _ordinary(catalog)
            reply = signer.send_to(catalog, path, signer.own())
        if not reply.ok:
            raise reply.violation(_SIGNER_SILENT, "a signature", reply.status, detail=detail)


def _other_operation(catalog: Catalog, path: str) -> str | None:
    """Return the operation for whose requests a path is, if that is not the one that signs."""
    found = catalog.session.offer.operation_of(catalog.contract, "POST", path)
    return None if found is None or found[0] == "signRequest" else found[0]


def _of_the_config(
    catalog: Catalog, symptom: Symptom, due: str, found: str, detail: str = ""
) -> Violation:
    """Return the Violation for what the table's config says, which was loaded last."""
    exchange = catalog.exchanges[-1].ordinal
    return Violation(symptom, due, found, detail=detail, pointer="/config", exchange=exchange)
