"""PyIceberg's namespaces against the mock: every method, every refusal that it has a name for."""

import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import (
    NamespaceAlreadyExistsError,
    NoSuchNamespaceError,
    RESTError,
)
from pyiceberg.schema import Schema

from icecheck.mock_server import MockCatalog

ODD = ("a.b", "a b", "a/b", "a+b", "a%b", "ä", "\N{SNOWMAN}")


def test_a_namespace_is_created_with_properties(catalog: RestCatalog) -> None:
    catalog.create_namespace("other", {"owner": "me"})
    assert catalog.load_namespace_properties("other")["owner"] == "me"
    assert catalog.list_namespaces() == [("ns",), ("other",)]


def test_a_namespace_is_created_once(catalog: RestCatalog) -> None:
    with pytest.raises(NamespaceAlreadyExistsError):
        catalog.create_namespace("ns")
    catalog.create_namespace_if_not_exists("ns", {"owner": "nobody"})
    assert "owner" not in catalog.load_namespace_properties("ns")
    catalog.create_namespace_if_not_exists("new", {"owner": "me"})
    assert catalog.load_namespace_properties("new")["owner"] == "me"


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_kept(catalog: RestCatalog, name: str, schema: Schema) -> None:
    catalog.create_namespace((name,))
    catalog.create_namespace((name, name))
    catalog.create_table((name, name, name), schema)
    assert catalog.namespace_exists((name, name))
    assert (name,) in catalog.list_namespaces()
    assert catalog.list_tables((name, name)) == [(name, name, name)]
    assert catalog.load_table((name, name, name)).name() == (name, name, name)
    catalog.drop_table((name, name, name))
    catalog.drop_namespace((name, name))
    assert not catalog.namespace_exists((name, name))


def test_a_parent_is_named_as_it_was_sent(catalog: RestCatalog) -> None:
    """PyIceberg 0.12 encodes a parent twice: it asks for a namespace that nobody made."""
    catalog.create_namespace(("a.b",))
    catalog.create_namespace(("a.b", "c"))
    assert catalog.list_namespaces(("a.b",)) == [("a.b", "c")]
    catalog.create_namespace(("a b",))
    with pytest.raises(NoSuchNamespaceError, match="a%20b"):
        catalog.list_namespaces(("a b",))
    catalog.create_namespace(("a%20b",))
    assert catalog.list_namespaces(("a b",)) == []


def test_an_older_client_asks_for_existence_by_loading(
    mock: MockCatalog, catalog: RestCatalog
) -> None:
    del mock.registries.operations["namespaceExists"]
    del mock.registries.operations["tableExists"]
    older = mock.pyiceberg("wh", in_process=True)
    assert older.namespace_exists("ns")
    assert not older.namespace_exists("no")
    assert not older.table_exists("ns.no")
    assert mock.journal.count("loadTable", status=404) == 1


def test_properties_are_set_and_removed(catalog: RestCatalog) -> None:
    catalog.create_namespace("other", {"a": "1", "b": "2"})
    summary = catalog.update_namespace_properties(
        "other", removals={"a", "missing"}, updates={"c": "3"}
    )
    assert (summary.removed, summary.updated, summary.missing) == (["a"], ["c"], ["missing"])
    found = catalog.load_namespace_properties("other")
    assert (found["b"], found["c"], "a" in found) == ("2", "3", False)
    with pytest.raises(RESTError, match="UnprocessableEntityException"):
        catalog.update_namespace_properties("other", removals={"b"}, updates={"b": "4"})


@pytest.mark.parametrize("page_size", ["1", "2", "3", "100"])
def test_pages_of_any_size_make_the_same_list(
    mock: MockCatalog, catalog: RestCatalog, schema: Schema, page_size: str
) -> None:
    for number in range(5):
        catalog.create_namespace(f"n{number}")
        catalog.create_table(f"ns.t{number}", schema)
    catalog = mock.pyiceberg("wh", in_process=True, **{"rest-page-size": page_size})
    mock.journal.clear()
    assert catalog.list_namespaces() == [*((f"n{number}",) for number in range(5)), ("ns",)]
    assert catalog.list_tables("ns") == [("ns", f"t{number}") for number in range(5)]
    assert mock.journal.count("listNamespaces") >= 1


def test_addresses_are_made_of_the_prefix_that_the_server_told(
    mock: MockCatalog, catalog: RestCatalog
) -> None:
    assert catalog.url("namespaces").endswith("/v1/wh/namespaces")
    assert catalog.url("config", prefixed=False).endswith("/v1/config")
    bare = MockCatalog(root="memory://root", prefix=False).pyiceberg("any", in_process=True)
    assert bare.url("namespaces").endswith("/v1/namespaces")
    bare.create_namespace("a")
    assert bare.list_namespaces() == [("a",)]
