"""Checks of a table's life in the hands of PyIceberg, from its creation to its drop."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace, shared_namespace
from icecheck.replies.expect import NotOffered
from icecheck.scenarios.clients.observing import (
    appended,
    column_names,
    created,
    definition,
    expect,
    expect_rows,
    loaded,
    main_of,
    pyiceberg_check,
    rows,
    seen,
)
from icecheck.witnesses.pyiceberg_client import PyIceberg, pyiceberg

if TYPE_CHECKING:
    from pyiceberg.table import Table

    from icecheck.witnesses.relay import Carried


@pyiceberg_check("namespaces", needs=("namespace-properties",))
def test_namespaces(catalog: Catalog) -> None:
    """PyIceberg creates, describes, lists and drops a namespace."""
    if catalog.session.adaptations.only_in is not None:
        raise NotOffered("the catalog creates no namespaces here")
    namespace = catalog.new_namespace_name()
    with pyiceberg(catalog) as client:
        with client.step("create a namespace"):
            client.rest.create_namespace(namespace, {"color": "red", "use": "two"})
        with client.step("change the properties of a namespace"):
            client.rest.update_namespace_properties(namespace, {"use"}, {"color": "blue"})
        body = catalog.load_namespace_metadata(namespace).expect(200)
        shown = body.member("properties") or {}
        expect("its properties", ("blue", None), (shown.get("color"), shown.get("use")), client)
        with client.step("describe a namespace"):
            told = client.rest.load_namespace_properties(namespace)
        expect("its color", "blue", told.get("color"), client)
        client.refused("create it again", 409, lambda: client.rest.create_namespace(namespace))
        with client.step("list namespaces"):
            listed = client.rest.list_namespaces(namespace[:-1])
        expect("it is listed", True, namespace in [tuple(each) for each in listed], client)
        with client.step("drop a namespace"):
            client.rest.drop_namespace(namespace)
        catalog.load_namespace_metadata(namespace).expect(404)
        client.refused("look for it", 404, lambda: client.rest.load_namespace_properties(namespace))


@pyiceberg_check("create-append")
def test_create_and_append(catalog: Catalog) -> None:
    """PyIceberg creates a table, appends to it twice and reads all rows."""
    with pyiceberg(catalog) as client:
        table = created(client, color="red")
        first = appended(client, table, 1, 2)
        expect("a property", "red", (first.get("properties") or {}).get("color"), client)
        second = appended(client, table, 3)
        expect_rows(client, table, 1, 2, 3)
        client.refused(
            "create it again",
            409,
            lambda: client.rest.create_table(table.name(), schema=rows().schema),
        )
        expect("the same main", main_of(second), main_of(loaded(client, table).metadata), client)
        with client.step("list tables"):
            listed = client.rest.list_tables(table.name()[:-1])
        expect("it is listed", True, tuple(table.name()) in [tuple(n) for n in listed], client)


@pyiceberg_check("staged-create", needs=("stage-create",))
def test_staged_create(catalog: Catalog) -> None:
    """PyIceberg creates a table together with its rows, and nobody sees it before."""
    namespace, name = shared_namespace(catalog), catalog.new_name()
    with pyiceberg(catalog) as client:
        with client.step("stage a table"):
            staged = client.rest.create_table_transaction(
                (*namespace, name), **definition(client, namespace, name)
            )
        catalog.load_table(namespace, name).expect(404, detail="it is only staged")
        with client.step("commit the staged table") as sent:
            staged.append(rows(1, 2))
            table = staged.commit_transaction()
        seen(client, table, sent, "add-snapshot", "set-snapshot-ref")
        expect_rows(client, table, 1, 2)


@pyiceberg_check("evolve-schema")
def test_evolve_schema(catalog: Catalog) -> None:
    """PyIceberg adds, renames, widens and drops columns, and reads old rows and new ones."""
    with pyiceberg(catalog) as client:
        from pyiceberg.types import IntegerType, LongType

        table = created(client)
        appended(client, table, 1)
        with client.step("add columns") as sent, table.update_schema() as update:
            update.add_column("size", IntegerType(), doc="how large")
            update.add_column("gone", IntegerType())
        expect("its columns", ["id", "word", "size", "gone"], _columns(client, table, sent), client)
        with client.step("rename, widen and drop columns") as sent, table.update_schema() as update:
            update.rename_column("word", "text")
            update.update_column("size", LongType())
            update.delete_column("gone")
        expect("its columns", ["id", "text", "size"], _columns(client, table, sent), client)
        with client.step("append rows of the new schema") as sent:
            table.append(rows(2, size=[20]).rename_columns(["id", "text", "size"]))
        seen(client, table, sent, "add-snapshot", "set-snapshot-ref")
        expect_rows(client, table, 1, 2)


@pyiceberg_check("evolve-spec")
def test_evolve_spec(catalog: Catalog) -> None:
    """PyIceberg partitions a table with rows anew, and reads rows of both specs."""
    with pyiceberg(catalog) as client:
        from pyiceberg.transforms import IdentityTransform

        table = created(client)
        appended(client, table, 1)
        with client.step("add partition fields") as sent, table.update_spec() as update:
            update.add_field("id", IdentityTransform(), "id_itself")
            update.add_field("word", IdentityTransform(), "word_itself")
        metadata = seen(client, table, sent, "add-spec", "set-default-spec")
        expect("its fields", ["id_itself", "word_itself"], _fields(metadata), client)
        appended(client, table, 2)
        with client.step("remove a partition field") as sent, table.update_spec() as update:
            update.remove_field("word_itself")
        metadata = seen(client, table, sent, "set-default-spec")
        expect("its fields", ["id_itself"], _fields(metadata), client)
        appended(client, table, 3)
        expect_rows(client, table, 1, 2, 3)


@pyiceberg_check("overwrite-delete")
def test_overwrite_and_delete(catalog: Catalog) -> None:
    """PyIceberg overwrites and deletes rows, and reads what is left."""
    with pyiceberg(catalog) as client:
        table = created(client)
        appended(client, table, 1, 2)
        appended(client, table, 3)
        with client.step("overwrite rows") as sent:
            table.overwrite(rows(4, 5), overwrite_filter="id == 3")
        seen(client, table, sent, "add-snapshot", "set-snapshot-ref")
        expect_rows(client, table, 1, 2, 4, 5)
        with client.step("delete rows") as sent:
            table.delete("id == 1 or id == 4")
        seen(client, table, sent, "add-snapshot", "set-snapshot-ref")
        expect_rows(client, table, 2, 5)


@pyiceberg_check("one-commit")
def test_one_commit_of_several_changes(catalog: Catalog) -> None:
    """PyIceberg changes the properties, columns and rows of a table in one commit."""
    with pyiceberg(catalog) as client:
        from pyiceberg.types import LongType

        table = created(client, old="1")
        before = loaded(client, table)
        with client.step("commit several changes at once") as sent, table.transaction() as change:
            change.set_properties(new="2")
            change.remove_properties("old")
            with change.update_schema() as update:
                update.add_column("size", LongType())
            change.append(rows(1, size=[10]))
        metadata = seen(client, table, sent, "set-properties", "add-schema", "add-snapshot")
        told = metadata.get("properties") or {}
        expect("its properties", ("2", None), (told.get("new"), told.get("old")), client)
        expect("its columns", ["id", "word", "size"], column_names(metadata), client)
        expect("the same table", before.metadata["table-uuid"], metadata["table-uuid"], client)
        expect_rows(client, table, 1)


@pyiceberg_check("rename-drop")
def test_rename_and_drop(catalog: Catalog) -> None:
    """PyIceberg renames a table and drops it; the rows go along, and the old name is free."""
    with pyiceberg(catalog) as client:
        table = created(client)
        metadata = appended(client, table, 1, 2)
        old, new = table.name(), (*table.name()[:-1], catalog.new_name())
        with client.step("rename a table"):
            renamed = client.rest.rename_table(old, new)
        catalog.load_table(old[:-1], old[-1]).expect(404)
        after = seen(client, renamed, ())
        for member in ("table-uuid", "current-snapshot-id"):
            expect(f"its {member}", metadata.get(member), after.get(member), client)
        expect_rows(client, renamed, 1, 2)
        with client.step("drop a table"):
            client.rest.drop_table(new)
        catalog.load_table(new[:-1], new[-1]).expect(404)
        client.refused("load what is dropped", 404, lambda: client.rest.load_table(new))


@pyiceberg_check("namespace-not-empty")
def test_namespace_not_empty(catalog: Catalog) -> None:
    """PyIceberg is told that a namespace with a table is not empty, and nothing is removed."""
    namespace = given_namespace(catalog)
    name = catalog.new_name()
    with pyiceberg(catalog) as client:
        with client.step("create a table"):
            table = client.rest.create_table(
                (*namespace, name), **definition(client, namespace, name)
            )
        client.refused("drop its namespace", 409, lambda: client.rest.drop_namespace(namespace))
        seen(client, table, ())


def _columns(client: PyIceberg, table: "Table", sent: Sequence["Carried"]) -> list[str]:
    return column_names(seen(client, table, sent, "add-schema", "set-current-schema"))


def _fields(metadata: Mapping[str, Any]) -> list[str]:
    """Return the names of the fields of the default partition spec."""
    default = metadata.get("default-spec-id")
    specs = [s for s in metadata.get("partition-specs") or () if s.get("spec-id") == default]
    return [field["name"] for spec in specs for field in spec["fields"]]
