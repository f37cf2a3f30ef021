"""Checks of errors: their body, their content type, and requests that must not cause an error."""

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import shared_table, some_table
from icecheck.judging.check import check
from icecheck.objects.arranging import require
from icecheck.objects.committing import expect_unchanged, set_property
from icecheck.objects.reading import (
    expect_envelope,
    expect_json,
    expect_levels,
    not_applicable,
)

_UNKNOWN_UPDATE = {"action": "set-icecheck-option", "option": "none"}
_WRONG_UUID = {"type": "assert-table-uuid", "uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1"}


@check("error.envelope")
def test_an_error_has_message_type_and_code(catalog: Catalog) -> None:
    """The body of an error is one object `error` with message, type and code."""
    require(catalog, "loadNamespaceMetadata")
    reply = catalog.load_namespace_metadata(catalog.new_namespace_name()).expect(404)
    if not reply.exchange.claims_json:
        raise not_applicable("the error does not claim to be JSON")
    expect_envelope(reply)
    # A message that repeats a name must escape quotes; some servers refuse such a name.
    quoted = catalog.load_namespace_metadata(catalog.new_namespace_name('"\\'))
    if quoted.status == 404 and quoted.exchange.claims_json:
        expect_envelope(quoted)


@check("http.json-content-type")
def test_bodies_say_that_they_are_json(catalog: Catalog) -> None:
    """An answer with a JSON body says application/json, a success as well as an error."""
    table = some_table(catalog)
    expect_json(catalog.load_table(table.namespace, table.name).expect(200))
    expect_json(catalog.load_table(table.namespace, catalog.new_name()).expect(404))


@check("error.unknown-members")
def test_unknown_members_of_a_request_are_ignored(catalog: Catalog) -> None:
    """A request with members that the document does not define is carried out all the same."""
    more = {"icecheck-unknown": {"a": [1, None]}}
    namespace = catalog.new_namespace_name()
    body = {"namespace": [*namespace], "properties": {}, **more}
    expect_levels(catalog.call("createNamespace", body=body).expect(200), namespace)
    table = bodies.create_table_body(catalog.new_name())
    catalog.create_table(namespace, {**table, **more}).expect(200)
    catalog.load_table(namespace, table["name"]).expect(200).member("metadata", "table-uuid")


@check("error.several-faults")
def test_a_request_with_several_faults_is_refused(catalog: Catalog) -> None:
    """A request with several faults is refused with the status of one of them."""
    table = shared_table(catalog)
    _expect_tables_refuse(catalog, table)
    _expect_names_refuse(catalog, table)
    expect_unchanged(catalog, table)


def _expect_tables_refuse(catalog: Catalog, table: Table) -> None:
    nowhere, missing = catalog.new_namespace_name(), catalog.new_name()
    spec = bodies.partition_spec(bodies.partition_field(77, "identity", "nowhere", 1000))
    body = bodies.create_table_body(missing, spec=spec)
    reply = catalog.create_table(nowhere, body)
    reply.expect(400, 404, detail="a spec over no column, in a missing namespace")
    reply = catalog.create_table(table.namespace, {**body, "name": table.name})
    reply.expect(400, 409, detail="a spec over no column, under a name that is taken")
    reply = catalog.update_table(table.namespace, missing, [_UNKNOWN_UPDATE])
    reply.expect(400, 404, detail="an unknown update of a missing table")
    reply = catalog.update_table(table.namespace, table.name, [_UNKNOWN_UPDATE], [_WRONG_UUID])
    reply.expect(400, 409, detail="an unknown update, and a requirement that fails")
    if catalog.serves("commitTransaction"):
        identifiers = [table.identifier, {**table.identifier, "name": missing}]
        changes = [
            {"identifier": each, "requirements": [_WRONG_UUID], "updates": [set_property("1")]}
            for each in identifiers
        ]
        reply = catalog.commit_transaction(changes)
        reply.expect(404, 409, detail="a requirement that fails, and a missing table")


def _expect_names_refuse(catalog: Catalog, table: Table) -> None:
    nowhere, missing = catalog.new_namespace_name(), catalog.new_name()
    source = (table.namespace, missing)
    if catalog.serves("renameTable"):
        reply = catalog.rename_table(source, (table.namespace, table.name))
        reply.expect(404, 406, 409, detail="a missing table, to a name that is taken")
        reply = catalog.rename_table(source, (nowhere, missing))
        reply.expect(404, 406, detail="a missing table, to a missing namespace")
    if catalog.serves("updateProperties"):
        reply = catalog.update_properties(nowhere, updates={"team": "1"}, removals=["team"])
        reply.expect(404, 406, 422, detail="one key twice, of a missing namespace")
    if catalog.serves("registerTable") and table.metadata_location is not None:
        no_file = f"{table.metadata_location.rpartition('/')[0]}/{missing}.metadata.json"
        reply = catalog.register_table(table.namespace, table.name, no_file)
        reply.expect(400, 404, 409, detail="no file, under a name that is taken")
