"""Checks of name reuse: nothing of the former object shows, however often it was read."""

from collections.abc import Callable, Mapping

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Query, Table
from icecheck.client.given import given_dropped, given_namespace, given_table, reloaded
from icecheck.conformance.names.name_reuse import (
    FIRST_LIFE,
    REQUIREMENT_IGNORED,
    expect_listed_once,
    expect_no_first_tag,
    expect_no_table,
    expect_no_view,
    expect_nothing,
    expect_nothing_of_first,
    expect_second_table,
    given_first_table,
    reused,
    second_table,
    there_again,
    warm,
)
from icecheck.contract import Action
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.judging.check import generated_check
from icecheck.judging.probes import has_capability
from icecheck.objects import metadata_view
from icecheck.objects.arranging import given_namespace_at, require
from icecheck.objects.committing import RENAME_CHANGED_THE_TABLE
from icecheck.objects.reading import (
    LISTING,
    namespaces_in,
    object_in,
    properties_of,
    supported,
    tables_in,
)
from icecheck.replies.expect import Reply
from icecheck.replies.matching import ABSENT, show
from icecheck.targets.target import Namespace

_TABLE = ("createTable", "loadTable", "dropTable")
_VIEW = ("createView", "loadView", "dropView")


# ---------------------------------------------------------------------------- tables


def _expect_second_everywhere(
    catalog: Catalog, namespace: Namespace, name: str, uuid: str, tags: Mapping[str, Query]
) -> None:
    """Judge every way to read the second table of a name.

    The tags of the first table are sent while the second is new, and again when it has as many
    commits as the first: a server may derive tags from the number of commits.
    """
    expect_no_first_tag(catalog, namespace, name, uuid, tags)
    expect_second_table(catalog.load_table(namespace, name), uuid)
    expect_second_table(catalog.load_table(namespace, name, query=[("snapshots", "refs")]), uuid)
    if catalog.claims("tableExists"):
        catalog.table_exists(namespace, name).expect(200, 204)
    if catalog.claims("listTables"):
        expect_listed_once(catalog.list_tables(namespace), namespace, name)
    if catalog.claims("updateTable"):
        _expect_commits(catalog, namespace, name, uuid)
        expect_no_first_tag(catalog, namespace, name, uuid, tags)


def _expect_commits(catalog: Catalog, namespace: Namespace, name: str, uuid: str) -> None:
    """Judge that commits reach the second table, and that commits for the first are refused."""
    added = bodies.set_properties({"icecheck.late": "1"})
    same = {"type": "assert-table-uuid", "uuid": uuid}
    reply = catalog.update_table(namespace, name, [added], [same])
    if reply.ok:
        raise reply.violation(
            REQUIREMENT_IGNORED,
            "409",
            reply.status,
            detail="a commit to the table that had the name before",
        )
    added = bodies.set_properties({"icecheck.later": "1"})
    expect_second_table(catalog.update_table(namespace, name, [added]), uuid)
    reply = catalog.load_table(namespace, name)
    expect_second_table(reply, uuid)
    properties = metadata_view.metadata_in(reply).get("properties") or {}
    wrong = {"a commit that was meant for it": "icecheck.late" in properties}
    expect_nothing_of_first(reply, wrong)
    reply.expect_json(
        {"metadata": {"properties": {"icecheck.later": "1"}}},
        symptom=EFFECT_MISSING.of("properties"),
    )


@generated_check("second-life.table")
def test_name_of_a_dropped_table(catalog: Catalog) -> None:
    """A table made under the name of a dropped one shows nothing of it."""
    require(catalog, *_TABLE)
    first, tags = given_first_table(catalog)
    where = (first.namespace, first.name)
    given_dropped(catalog, *where)
    expect_no_table(catalog, *where)
    catalog.create_table(first.namespace, second_table(first.name)).expect(200)
    _expect_second_everywhere(catalog, *where, first.uuid, tags)


@generated_check("second-life.table-renamed")
def test_name_of_a_renamed_table(catalog: Catalog) -> None:
    """A table made under the name that another one had is not that one, which keeps all it was."""
    require(catalog, *_TABLE)
    first, tags = given_first_table(catalog)
    namespace, new = first.namespace, catalog.new_name()
    before = reloaded(catalog, first)
    expect_no_table(catalog, namespace, new)
    ends = (namespace, first.name), (namespace, new)
    supported(catalog.rename_table(*ends)).expect(200, 204)
    expect_no_table(catalog, namespace, first.name)
    reused(catalog.create_table(namespace, second_table(first.name)))
    _expect_second_everywhere(catalog, namespace, first.name, first.uuid, tags)
    _expect_moved(catalog, before, new)
    catalog.drop_table(namespace, first.name).expect(200, 202, 204)
    _expect_moved(catalog, before, new)


def _expect_moved(catalog: Catalog, before: Table, name: str) -> None:
    reply = catalog.load_table(before.namespace, name).expect(200, detail="under the new name")
    was = metadata_view.settled(before.metadata, *FIRST_LIFE)
    now = metadata_view.settled(metadata_view.metadata_in(reply), *FIRST_LIFE)
    for each in (was, now):
        del each["location"]  # a catalog may move the files with the rename
    if was != now:
        symptom, due = RENAME_CHANGED_THE_TABLE, "the table as it was before its rename"
        raise reply.violation(symptom, due, "another one")


@generated_check("second-life.staged", needs=("stage-create",))
def test_name_of_a_staged_table(catalog: Catalog) -> None:
    """A table made under the name of one that was only staged shows nothing of that."""
    require(catalog, *_TABLE)
    namespace, name = given_namespace(catalog), catalog.new_name()
    staged = bodies.create_table_body(name, properties=FIRST_LIFE, stage_create=True)
    reply = catalog.create_table(namespace, staged).expect(200)
    uuid = str(metadata_view.metadata_in(reply).get("table-uuid"))
    expect_no_table(catalog, namespace, name)
    catalog.create_table(namespace, second_table(name)).expect(200)
    _expect_second_everywhere(catalog, namespace, name, uuid, {})


# ------------------------------------------------------------------------- namespaces


@generated_check("second-life.namespace")
def test_name_of_a_dropped_namespace(catalog: Catalog) -> None:
    """A namespace made under the name of a dropped one has none of its properties and tables."""
    require(catalog, "createNamespace", "loadNamespaceMetadata", "dropNamespace")
    namespace = given_namespace(catalog, FIRST_LIFE)
    names: dict[str, tuple[str, Callable[[Catalog, Namespace, str], None]]] = {}
    if all(map(catalog.claims, _TABLE)):
        table = given_table(catalog, namespace, properties=FIRST_LIFE)
        warm(catalog, namespace, table.name)
        given_dropped(catalog, namespace, table.name)
        names["table"] = (table.name, expect_no_table)
    if all(map(catalog.claims, _VIEW)):
        names["view"] = (catalog.new_name(), expect_no_view)
    properties_of(catalog, namespace)
    _look_around(catalog, namespace)
    catalog.drop_namespace(namespace).expect(200, 202, 204)
    for reply in _look_around(catalog, namespace):
        # The checks of listing judge that a missing namespace has no list.
        lists = reply.exchange.operation in catalog.contract.by_object(Action.LIST).values()
        if not lists or (reply.ok and tables_in(reply)):
            expect_nothing(reply, "namespace")
    given_namespace_at(catalog, namespace)
    _expect_fresh(catalog, namespace)
    for name, expect in names.values():
        expect(catalog, namespace, name)


def _look_around(catalog: Catalog, namespace: Namespace) -> list[Reply]:
    """Send every request that answers 404 if the namespace does not exist."""
    asked = [catalog.load_namespace_metadata(namespace)]
    if catalog.claims("namespaceExists"):
        asked.append(catalog.namespace_exists(namespace))
    if catalog.claims("listTables"):
        asked.append(catalog.list_tables(namespace))
    if catalog.claims("listViews"):
        asked.append(catalog.list_views(namespace))
    return asked


def _expect_fresh(catalog: Catalog, namespace: Namespace) -> None:
    """Judge that a re-created namespace exists exactly once and is empty."""
    for reply in _look_around(catalog, namespace):
        there_again(reply) if reply.exchange.operation != "namespaceExists" else reply.expect(
            200, 204
        )
    if has_capability(catalog, "namespace-properties"):
        reply = catalog.load_namespace_metadata(namespace).expect(200)
        properties = object_in(reply).get("properties") or {}
        wrong = {
            "its properties": any(properties.get(k, ABSENT) == v for k, v in FIRST_LIFE.items())
        }
        expect_nothing_of_first(reply, wrong)
    if catalog.claims("listNamespaces"):
        reply = catalog.list_namespaces(namespace[:-1] or None)
        count = namespaces_in(reply).count(namespace)
        if count != 1:
            raise reply.violation(
                LISTING,
                "a list of what is there",
                "another list",
                detail=f"{show(namespace[-1])} is in it {count} times",
            )
