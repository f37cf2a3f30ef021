"""Checks that a request has the same answer in every spelling that HTTP and JSON allow."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from icecheck.client.catalog import NO_BODY, Catalog
from icecheck.conformance.kit.every_route import (
    OTHERS,
    Asked,
    Own,
    own_objects,
    reads,
    shared_own,
    writes,
)
from icecheck.contract import Action, Object
from icecheck.findings.shared_symptoms import EFFECT_MISSING, SPELLING_CHANGES_THE_ANSWER
from icecheck.judging.check import generated_check
from icecheck.objects.metadata_view import metadata_in
from icecheck.objects.reading import not_applicable, object_in
from icecheck.replies.expect import Reply, Violation

Json = Any

_UNKNOWN_HEADERS = {
    "X-Icecheck-Unknown": 'a, b; c="d"',
    "X-Client-Version": "icecheck 0",
    "Content-Type": "application/json",
    "Cache-Control": "no-cache",
}
_HEADERS: Mapping[str, Mapping[str, str]] = {
    "unknown headers": _UNKNOWN_HEADERS,
    "Accept: */*": {"Accept": "*/*"},
    "Accept with weights": {"Accept": "text/plain;q=0.1, application/json;q=0.9, */*;q=0.2"},
    "an unknown ETag": {"If-None-Match": '"icecheck-of-nothing"'},
    "no compression": {"Accept-Encoding": "identity"},
}
_TOGETHER: Mapping[str, Mapping[str, str]] = {
    "all of the other headers": {
        name: value
        for what, headers in _HEADERS.items()
        if what != "Accept: */*"
        for name, value in headers.items()
    },
    "Accept: */*": _HEADERS["Accept: */*"],
}
_UNKNOWN_QUERY = [("icecheck-unknown", "a b"), ("_", "")]
# Members that may differ between two answers to one request.
_PASSING = frozenset({"config", "storage-credentials", "next-page-token", "plan-id"})
_CONTENT_TYPES = {
    "a charset": "application/json; charset=utf-8",
    "its media type in capitals": "Application/JSON",
}


def _said(asked: Asked, reply: Reply) -> Json:
    """Return the content of an answer without the members that may differ between answers."""
    if not reply.exchange.response_body:
        return None
    if asked.operation_id == "listNamespaces" and not asked.form:
        return asked.lists_it(reply)  # other namespaces may come and go
    return {k: v for k, v in object_in(reply).items() if k not in _PASSING}


def _with_query(asked: Asked) -> Asked:
    query = [*asked.query, *_UNKNOWN_QUERY]
    return Asked(asked.operation_id, asked.names, asked.form, query, asked.body, asked.headers)


_KINDS = (Object.TABLE, Object.VIEW)


@generated_check("request.headers-on-every-route", proves="request.reads-spelled-otherwise")
def test_a_read_is_answered_the_same_however_it_is_spelled(catalog: Catalog) -> None:
    """Unknown headers and tags, and any Accept of JSON, do not change the answer to a read."""
    # Reads with a tag are left out, because an unknown tag is sent as one of the headers.
    every = [each for each in reads(catalog, shared_own(catalog)) if each.form != "If-None-Match"]
    for number, asked in enumerate(every):
        _expect_same_answers(catalog, asked, number)


def _expect_same_answers(catalog: Catalog, asked: Asked, number: int) -> None:
    """Judge the answers to a read in several spellings; the reads take turns at Accept."""
    first = asked.send(catalog)
    if not first.ok:
        return
    due = _said(asked, first)

    def is_same(reply: Reply) -> bool:
        return reply.status == first.status and _said(asked, reply) == due

    what, headers = [*_TOGETHER.items()][number % len(_TOGETHER)]
    together = _with_query(asked).send(catalog, headers)
    if is_same(together):
        return
    refused = 400 <= together.status < 500
    # The document does not say that unknown parameters are accepted.
    if refused and is_same(asked.send(catalog, headers)):
        return
    second = asked.send(catalog)
    if first.status != second.status or due != _said(asked, second):
        return  # the catalog answers the same request differently
    # Each header by itself, so that one of them is named.
    forms = [(each, asked.send(catalog, sent)) for each, sent in _HEADERS.items()]
    forms.append((what, asked.send(catalog, headers)))
    if not refused:
        forms.append(("an unknown parameter", _with_query(asked).send(catalog)))
        forms.append((f"an unknown parameter and {what}", together))
    for form, reply in forms:
        reply.expect(first.status, detail=f"{asked} with {form}")
        # Another client may have changed it meanwhile.
        if _said(asked, reply) != due and _said(asked, asked.send(catalog)) == due:
            raise reply.violation(
                SPELLING_CHANGES_THE_ANSWER,
                "the answer to the same request",
                "another one",
                detail=f"{asked} with {form}",
            )


# ------------------------------------------------------------------------------ writes


@generated_check("request.content-type-on-every-route", proves="request.writes-spelled-otherwise")
def test_a_write_is_carried_out_however_its_content_type_is_spelled(catalog: Catalog) -> None:
    """A content type with a charset or in capitals does not change what a request does."""
    try:
        _expect_media_type_read(
            catalog, "a charset, in capitals", "Application/JSON; charset=utf-8"
        )
    except Violation:
        # Each by itself, so that one of them is named.
        for what, media in _CONTENT_TYPES.items():
            _expect_media_type_read(catalog, what, media)
        raise


def _expect_media_type_read(catalog: Catalog, what: str, media: str) -> None:
    headers = {**_UNKNOWN_HEADERS, "Accept": "*/*", "Content-Type": media}
    _expect_carried_out(catalog, _as_it_is, headers, f"a content type with {what}")


def _as_it_is(asked: Asked) -> Asked:
    return asked


@generated_check("request.json-on-every-route", proves="request.json-is-json")
def test_a_write_is_carried_out_however_its_json_is_written(catalog: Catalog) -> None:
    """The order of members, white space and escapes in JSON do not change what a request does."""
    what = "its members in another order, and spaced out"
    _expect_carried_out(catalog, partial(_rewritten, catalog), {}, what)


def _rewritten(catalog: Catalog, asked: Asked) -> Asked:
    """Return a request whose body has the same content, with its members in reverse order."""
    if asked.body is NO_BODY:
        return asked
    ordinal = catalog.sender.ordinal
    body = catalog.sender.fitted(asked.operation_id, asked.names, asked.body, ordinal)
    sent = _escaped(json.dumps(_turned(body), indent=2)).encode()
    return Asked(asked.operation_id, asked.names, asked.form, asked.query, sent, asked.headers)


def _turned(value: Json) -> Json:
    match value:
        case dict():
            return {key: _turned(each) for key, each in reversed([*value.items()])}
        case list():
            return [_turned(each) for each in value]
        case _:
            return value


def _escaped(text: str) -> str:
    """Replace a letter in some members and values by its JSON escape."""
    return text.replace("icecheck", "\\u0069cecheck").replace('"set-', '"\\u0073et-')


def _expect_carried_out(
    catalog: Catalog, spell: Callable[[Asked], Asked], headers: Mapping[str, str], what: str
) -> None:
    """Judge that every write that succeeds in its plain form takes effect in this spelling."""
    own = own_objects(catalog)
    carried = 0
    plain: dict[str, bool] = {}
    for asked in _in_order(catalog, own):
        reply = spell(asked).send(catalog, headers)
        if not reply.ok:
            plain = plain or _carried_out_plain(catalog)
            if not plain.get(str(asked)):
                continue  # the catalog does not accept this write
            raise reply.violation(
                SPELLING_CHANGES_THE_ANSWER,
                "a success, as without it",
                reply.status,
                detail=f"{asked} with {what}",
            )
        carried += 1
        for read, complaint in _traces(catalog, own, asked):
            if complaint(read):
                raise read.violation(
                    EFFECT_MISSING.of("spelling"),
                    "the effect of the request",
                    "none",
                    detail=f"{asked} with {what}",
                )
    if not carried:
        raise not_applicable("the catalog carries out none of these writes")


def _carried_out_plain(catalog: Catalog) -> dict[str, bool]:
    """Send every write in its plain form, to other objects; return which ones succeed."""
    every = _in_order(catalog, own_objects(catalog))
    return {str(each): each.send(catalog).ok for each in every}


def _in_order(catalog: Catalog, own: Own) -> list[Asked]:
    """Return the writes in a possible order: renames and drops come last."""
    last = frozenset(catalog.contract.by_object(Action.RENAME).values())
    dropping = {catalog.contract.operation_that(Action.DROP, kind) for kind in _KINDS}
    every = [
        each
        for each in writes(catalog, own)
        # A renamed object cannot be dropped under its former name.
        if each.operation_id not in dropping and each.form != "over its own table"
    ]
    every.sort(key=lambda each: each.operation_id in last)
    return [*every, *_drops_of(catalog, every)]


def _drops_of(catalog: Catalog, every: list[Asked]) -> Iterator[Asked]:
    """Yield the drops of the table and the view that the writes have created."""
    for kind in _KINDS:
        creates = catalog.contract.operation_that(Action.CREATE, kind)
        drops = catalog.contract.operation_that(Action.DROP, kind)
        created = [e for e in every if e.operation_id == creates and not e.form]
        if created and catalog.claims(drops):
            names = {**created[0].names, kind: created[0].body["name"]}
            yield Asked(drops, names)


def _traces(
    catalog: Catalog, own: Own, asked: Asked
) -> Iterator[tuple[Reply, Callable[[Reply], bool]]]:
    """Yield reads after a write, each with a predicate that says that the write had no effect."""
    table = own.table
    match asked.operation_id:
        case "createNamespace" if catalog.claims("loadNamespaceMetadata"):
            yield catalog.load_namespace_metadata(tuple(asked.body["namespace"])), _is_missing
        case "updateProperties" if catalog.claims("loadNamespaceMetadata"):
            yield catalog.load_namespace_metadata(own.namespace), _lacks_property
        case "createTable" | "registerTable" if catalog.claims("loadTable"):
            staged = asked.form == "staged"
            reply = catalog.load_table(table.namespace, asked.body["name"])
            yield reply, (_is_there if staged else _is_missing)
        case "updateTable" | "commitTransaction" if catalog.claims("loadTable"):
            yield catalog.load_table(table.namespace, table.name), _lacks_set_property
        case "renameTable" if catalog.claims("loadTable"):
            moved = asked.body["destination"]["name"]
            yield catalog.load_table(table.namespace, moved), _is_missing
            yield catalog.load_table(table.namespace, table.name), _is_there
        case "dropTable" if catalog.claims("loadTable"):
            yield catalog.load_table(table.namespace, str(asked.names["table"])), _is_there
        case "dropView" if catalog.claims("loadView"):
            yield catalog.load_view(table.namespace, str(asked.names["view"])), _is_there
        case "createView" | "registerView" if own.view is not None and catalog.claims("loadView"):
            yield catalog.load_view(own.view.namespace, asked.body["name"]), _is_missing
        case "replaceView" if own.view is not None and catalog.claims("loadView"):
            yield catalog.load_view(own.view.namespace, own.view.name), _lacks_set_property
        case _:
            return


def _is_missing(reply: Reply) -> bool:
    return not reply.ok


def _is_there(reply: Reply) -> bool:
    return reply.ok


def _lacks_property(reply: Reply) -> bool:
    return not reply.ok or OTHERS not in (object_in(reply).get("properties") or {})


def _lacks_set_property(reply: Reply) -> bool:
    return not reply.ok or OTHERS not in (metadata_in(reply).get("properties") or {})
