"""Errors: their body, what they say about themselves, and what must not be one."""

from icecheck import bodies
from icecheck.check import check
from icecheck.client import Catalog
from icecheck.conformance.arranging import require
from icecheck.conformance.reading import expect_levels, not_applicable, object_in
from icecheck.expect import ABSENT, Blocked, Reply, find, show

_MEMBERS = {"message": str, "type": str, "code": int}


@check("error.envelope", proves="error.envelope")
def test_an_error_has_message_type_and_code(catalog: Catalog) -> None:
    """The body of an error is one object `error` with message, type and code."""
    require(catalog, "loadNamespaceMetadata")
    reply = catalog.load_namespace_metadata(catalog.new_namespace_name()).expect(404)
    if not reply.exchange.claims_json:
        raise not_applicable("the error does not claim to be JSON")
    body = reply.json()
    for member, kind in _MEMBERS.items():
        value = find(body, ("error", member))
        if not isinstance(value, kind):
            symptom = "schema:required" if value is ABSENT else "schema:type"
            expected = "an integer" if kind is int else "a string"
            raise reply.violation(symptom, expected, show(value), pointer=f"/error/{member}")


@check("http.json-content-type", proves="http.json-content-type")
def test_bodies_say_that_they_are_json(catalog: Catalog) -> None:
    """An answer with a JSON body says application/json, a success as well as an error."""
    table = catalog.some_table()
    _expect_json(catalog.load_table(table.namespace, table.name).expect(200))
    _expect_json(catalog.load_table(table.namespace, catalog.new_name()).expect(404))


@check("error.type-of-missing-namespace", proves="error.type-of-missing-namespace")
def test_a_missing_namespace_is_told_from_a_missing_table(catalog: Catalog) -> None:
    """Where a table is put into a missing namespace, the error's type says namespace."""
    table = catalog.given_table()
    missing = catalog.new_namespace_name()
    body = bodies.create_table_body(catalog.new_name())
    _expect_no_such_namespace(catalog.create_table(missing, body))
    if table.metadata_location is not None:
        name = catalog.new_name()
        _expect_no_such_namespace(catalog.register_table(missing, name, table.metadata_location))


@check("error.unknown-members", proves="error.unknown-members")
def test_unknown_members_of_a_request_are_ignored(catalog: Catalog) -> None:
    """A request with members that the document does not define is carried out all the same."""
    more = {"icecheck-unknown": {"a": [1, None]}}
    namespace = catalog.new_namespace_name()
    body = {"namespace": [*namespace], "properties": {}, **more}
    expect_levels(catalog.call("createNamespace", body=body).expect(200), namespace)
    table = bodies.create_table_body(catalog.new_name())
    catalog.create_table(namespace, {**table, **more}).expect(200)
    catalog.load_table(namespace, table["name"]).expect(200).member("metadata", "table-uuid")


def _expect_json(reply: Reply) -> None:
    media = (reply.header("content-type") or "none").split(";")[0].strip().lower()
    if media != "application/json":
        raise reply.violation("schema:not-json", "application/json", media)


def _expect_no_such_namespace(reply: Reply) -> None:
    operation = reply.exchange.operation
    if reply.status != 404:
        reason = f"a missing namespace is answered {reply.status}"
        raise Blocked(f"{operation}.404", reason, exchange=reply.exchange.ordinal)
    error = object_in(reply).get("error")
    said = error.get("type") if isinstance(error, dict) else None
    if said != "NoSuchNamespaceException":
        # Worded as the judgement of all other type names: one server's names are one cause.
        raise reply.violation(
            "error-type",
            "the type name that the document gives",
            "another name",
            pointer="/error/type",
            detail=f"{operation}.404 says {show(said)}, due is NoSuchNamespaceException",
        )
