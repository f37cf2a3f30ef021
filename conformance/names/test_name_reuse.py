"""Checks of name reuse: nothing of the former object shows, however often it was read."""

from collections.abc import Sequence

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Query, Table
from icecheck.client.given import given_dropped, given_namespace, given_table
from icecheck.conformance.names.name_reuse import (
    FIRST_LIFE,
    REFS,
    expect_listed_once,
    expect_no_first_tag,
    expect_no_table,
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
from icecheck.findings.shared_symptoms import EFFECT_MISSING, REQUIREMENT_IGNORED
from icecheck.findings.statuses import Statuses
from icecheck.judging.check import generated_check
from icecheck.judging.probes import has_capability
from icecheck.objects import metadata_view
from icecheck.objects.arranging import given_namespace_at, require
from icecheck.objects.committing import RENAME_CHANGED_THE_TABLE
from icecheck.objects.reading import (
    LISTING,
    expect_unlisted,
    namespaces_in,
    object_in,
    supported,
    tables_in,
)
from icecheck.replies.expect import Reply
from icecheck.replies.matching import ABSENT, show
from icecheck.targets.target import Namespace

_TABLE = ("createTable", "loadTable", "dropTable")


# ---------------------------------------------------------------------------- tables


def _expect_second_everywhere(
    catalog: Catalog,
    namespace: Namespace,
    name: str,
    uuid: str,
    queries: Sequence[Query] = ((), REFS),
) -> None:
    """Judge every way to read the second table of a name, and commits to it."""
    for query in queries:
        expect_second_table(catalog.load_table(namespace, name, query=query), uuid)
    if catalog.claims("tableExists"):
        catalog.table_exists(namespace, name).expect(200, 204)
    if catalog.claims("listTables"):
        expect_listed_once(catalog.list_tables(namespace), namespace, name)
    if catalog.claims("updateTable"):
        _expect_commits(catalog, namespace, name, uuid)


def _expect_commits(catalog: Catalog, namespace: Namespace, name: str, uuid: str) -> None:
    """Judge that commits reach the second table, and that commits for the first are refused."""
    added = bodies.set_properties({"icecheck.late": "1"})
    same = {"type": "assert-table-uuid", "uuid": uuid}
    reply = catalog.update_table(namespace, name, [added], [same])
    if reply.ok:
        raise reply.violation(
            REQUIREMENT_IGNORED,
            Statuses.of(409),
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
    """A table made under the name of a dropped one shows nothing of it.

    The tags of the first table are sent while the second is new, and again when it has as many
    commits as the first: a server may derive tags from the number of commits.
    """
    require(catalog, *_TABLE)
    first, tags = given_first_table(catalog)
    where = (first.namespace, first.name)
    given_dropped(catalog, *where)
    expect_no_table(catalog, *where)
    catalog.create_table(first.namespace, second_table(first.name)).expect(200)
    expect_no_first_tag(catalog, *where, first.uuid, tags)
    _expect_second_everywhere(catalog, *where, first.uuid)
    if catalog.claims("updateTable"):
        expect_no_first_tag(catalog, *where, first.uuid, tags)


@generated_check("second-life.table-renamed")
def test_name_of_a_renamed_table(catalog: Catalog) -> None:
    """A table made under the name that another one had is not that one, which keeps all it was."""
    require(catalog, *_TABLE)
    first, tags = given_first_table(catalog)
    namespace, new = first.namespace, catalog.new_name()
    expect_nothing(catalog.load_table(namespace, new), "table")  # a server may remember that
    ends = (namespace, first.name), (namespace, new)
    supported(catalog.rename_table(*ends)).expect(200, 204)
    expect_no_table(catalog, namespace, first.name)
    reused(catalog.create_table(namespace, second_table(first.name)))
    expect_no_first_tag(catalog, namespace, first.name, first.uuid, tags)
    _expect_second_everywhere(catalog, namespace, first.name, first.uuid)
    catalog.drop_table(namespace, first.name).expect(200, 202, 204)
    _expect_moved(catalog, first, new)


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
    # No query has been answered yet, so there is no cache of its answer.
    _expect_second_everywhere(catalog, namespace, name, uuid, queries=((),))


# ------------------------------------------------------------------------- namespaces


@generated_check("second-life.namespace")
def test_name_of_a_dropped_namespace(catalog: Catalog) -> None:
    """A namespace made under the name of a dropped one has none of its properties and tables."""
    require(catalog, "createNamespace", "loadNamespaceMetadata", "dropNamespace")
    namespace = given_namespace(catalog, FIRST_LIFE)
    table: Table | None = None
    if all(map(catalog.claims, _TABLE)):
        table = given_table(catalog, namespace, properties=FIRST_LIFE)
        catalog.load_table(namespace, table.name)
        warm(catalog, namespace, table.name)
        given_dropped(catalog, namespace, table.name)
    loaded, *_ = _look_around(catalog, namespace)
    loaded.expect(200)
    catalog.drop_namespace(namespace).expect(200, 202, 204)
    for reply in _look_around(catalog, namespace):
        # The checks of listing judge that a missing namespace has no list.
        lists = reply.exchange.operation in catalog.contract.by_object(Action.LIST).values()
        if not lists or (reply.ok and tables_in(reply)):
            expect_nothing(reply, "namespace")
    given_namespace_at(catalog, namespace)
    _expect_fresh(catalog, namespace, () if table is None else (table.name,))
    if table is not None:
        expect_no_table(catalog, namespace, table.name, lists=False)


def _look_around(catalog: Catalog, namespace: Namespace) -> list[Reply]:
    """Send every request that answers 404 if the namespace does not exist, a load first."""
    asked = [catalog.load_namespace_metadata(namespace)]
    if catalog.claims("namespaceExists"):
        asked.append(catalog.namespace_exists(namespace))
    if catalog.claims("listTables"):
        asked.append(catalog.list_tables(namespace))
    if catalog.claims("listViews"):
        asked.append(catalog.list_views(namespace))
    return asked


def _expect_fresh(catalog: Catalog, namespace: Namespace, tables: Sequence[str]) -> None:
    """Judge that a re-created namespace exists exactly once, without what it held: these tables."""
    asked = _look_around(catalog, namespace)
    for reply in asked:
        there_again(reply) if reply.exchange.operation != "namespaceExists" else reply.expect(
            200, 204
        )
    for reply in asked:
        for name in tables if reply.exchange.operation == "listTables" else ():
            expect_unlisted(reply, namespace, name, EFFECT_MISSING.of("drop-table"))
    if has_capability(catalog, "namespace-properties"):
        reply = asked[0].expect(200)
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
