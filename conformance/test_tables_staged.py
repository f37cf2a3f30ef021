"""createTable with stage-create: nothing exists until the commit."""

from icecheck import bodies
from icecheck.check import check
from icecheck.client import Catalog
from icecheck.conformance import metadata_view as view
from icecheck.conformance.reading import expect_unlisted
from icecheck.expect import ANY_STRING, equal

NEEDS = ("stage-create",)
MARK = "icecheck.mark"


@check("createTable.staged-answer", proves="createTable.stage-returns-metadata", needs=NEEDS)
def test_staged_answer(catalog: Catalog) -> None:
    """Staging answers the metadata that the create transaction starts from."""
    namespace = catalog.given_home()
    body = bodies.create_table_body(
        catalog.new_name(),
        spec=bodies.partition_spec(bodies.partition_field(1, "bucket[4]", "id_bucket", 1000)),
        write_order=bodies.sort_order(1),
        properties={MARK: "staged"},
        stage_create=True,
    )
    reply = catalog.create_table(namespace, body).expect(200)
    reply.expect_json(
        {"table-uuid": ANY_STRING, "location": ANY_STRING, "properties": {MARK: "staged"}},
        at=["metadata"],
    )
    metadata = view.metadata_in(reply)
    wanted = view.shape(bodies.DEFAULT_SCHEMA)
    equal(view.shape(view.current_schema(metadata)), wanted, symptom="effect-missing:schema")
    equal(
        view.partition_fields(metadata),
        [("id", "bucket[4]", "id_bucket")],
        symptom="effect-missing:partition-spec",
    )
    equal(
        view.sort_fields(metadata),
        [("id", "identity", "asc", "nulls-first")],
        symptom="effect-missing:sort-order",
    )


@check("createTable.staged-is-not-there", proves="createTable.stage-creates-nothing", needs=NEEDS)
def test_staged_table_does_not_exist(catalog: Catalog) -> None:
    """A staged table does not load, is not listed, and leaves its name free."""
    namespace = catalog.given_namespace()
    name = catalog.new_name()
    staged = bodies.create_table_body(name, stage_create=True)
    catalog.create_table(namespace, staged).expect(200)
    catalog.load_table(namespace, name).expect(404, detail="a staged table")
    listed = catalog.list_tables(namespace).expect(200)
    expect_unlisted(listed, namespace, name, "staged-table-listed")
    plain = bodies.create_table_body(name)
    catalog.create_table(namespace, plain).expect(200, detail="the name of a staged table")


@check("createTable.staged-over-existing", proves="createTable.stage-over-existing", needs=NEEDS)
def test_staging_over_existing(catalog: Catalog) -> None:
    """Staging under the name of an existing table is refused, and the table stays as it was."""
    table = catalog.given_table(properties={MARK: "first"})
    before = catalog.loaded(table)
    body = bodies.create_table_body(table.name, stage_create=True)
    catalog.create_table(table.namespace, body).expect(409)
    equal(
        view.settled(catalog.loaded(table).metadata, MARK),
        view.settled(before.metadata, MARK),
        symptom="changed-although-refused",
    )
