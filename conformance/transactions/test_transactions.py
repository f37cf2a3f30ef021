"""Checks of commitTransaction: changes of several tables take effect together or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import (
    another_shared_namespace,
    arrange,
    given_loaded,
    given_table,
    given_transaction,
    shared_object,
)
from icecheck.findings.shared_symptoms import CHANGED_ALTHOUGH_REFUSED, REQUIREMENT_IGNORED
from icecheck.findings.statuses import STATUS
from icecheck.findings.symptoms import Symptom
from icecheck.judging.check import check
from icecheck.judging.probes import has_capability
from icecheck.objects.committing import (
    MARK,
    commit,
    expect_loaded,
    expect_unchanged,
    numbered_assertions,
    same_table,
    set_property,
)
from icecheck.replies.matching import ABSENT
from icecheck.targets.target import Namespace

Json = dict[str, Any]

WRONG_UUID = {"type": "assert-table-uuid", "uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1"}
IMPOSSIBLE = {"action": "set-current-schema", "schema-id": 4711}
MALFORMED_BODIES: tuple[tuple[str, Any], ...] = (
    ("half a JSON document", b'{"table-changes": ['),
    ("a list", b"[]"),
    ("changes that are a string", {"table-changes": "none"}),
    ("a change that is a string", {"table-changes": ["none"]}),
)


def change(table: Table, *updates: Any, requirements: Sequence[Any] = ()) -> Json:
    """Return one table's part of a transaction."""
    return {
        "identifier": table.identifier,
        "requirements": [same_table(table), *requirements],
        "updates": [*updates],
    }


@dataclass(frozen=True, slots=True)
class Pair:
    """Two tables, as loaded, after a transaction that has changed both."""

    first: Table
    second: Table

    @property
    def name(self) -> str:
        """The name of the first table, which stands for both."""
        return self.first.name


def given_tables(catalog: Catalog, namespace: Namespace | None = None) -> tuple[Table, Table]:
    """Return two tables, as loaded, after a transaction that has changed both."""
    first, second = (given_table(catalog, namespace) for _ in range(2))
    made = [change(table, set_property("0", "before")) for table in (first, second)]
    given_transaction(catalog, made)
    return given_loaded(catalog, first), given_loaded(catalog, second)


def shared_tables(catalog: Catalog) -> tuple[Table, Table]:
    """Return two such tables that checks share, for refused transactions."""
    pair = shared_object(
        catalog, "transaction", lambda lender, where: Pair(*given_tables(lender, where))
    )
    return pair.first, pair.second


def expect_refused(
    catalog: Catalog,
    tables: Sequence[Table],
    changes: Sequence[Any],
    *statuses: int,
    detail: str = "",
    accepted: Symptom = STATUS,
) -> None:
    """Judge that a transaction is refused and that none of the loaded tables has changed.

    ``accepted`` is the symptom of a transaction that succeeds.
    """
    reply = catalog.commit_transaction(changes)
    reply.expect_refused(*statuses, detail=detail, accepted=accepted)
    for table in tables:
        expect_unchanged(catalog, table)


@check("transaction.succeeds", proves="commitTransaction.204")
def test_transaction(catalog: Catalog) -> None:
    """A transaction over two tables is accepted, with every assertion that holds for them."""
    tables = [given_table(catalog) for _ in range(2)]
    no_snapshot = {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None}
    changes = [
        change(
            table,
            set_property("1"),
            requirements=[*numbered_assertions(table.metadata), no_snapshot],
        )
        for table in tables
    ]
    catalog.commit_transaction(changes).expect(204)


@check("transaction.every-table-changes", proves="transaction.every-table-changes")
def test_every_table_changes(catalog: Catalog) -> None:
    """A successful transaction applies the changes of each of its tables."""
    tables = first, second = [given_table(catalog, properties={"before": "0"}) for _ in range(2)]
    updates, expected = [set_property("1")], {"properties": {"icecheck": "1", "before": "0"}}
    if has_capability(catalog, "metadata-only-snapshots"):
        added = bodies.snapshot(first.metadata)  # its id exceeds what a double can hold
        updates += [
            {"action": "add-snapshot", "snapshot": added},
            bodies.snapshot_ref(added["snapshot-id"]),
        ]
        expected["current-snapshot-id"] = added["snapshot-id"]
    given_transaction(catalog, [change(first, *updates), change(second, set_property("2"))])
    due: tuple[Json, Json] = (expected, {"properties": {"icecheck": "2", "before": "0"}})
    for table, members in zip(tables, due, strict=True):
        expect_loaded(catalog, table, members, what="transaction")


@check("transaction.several-namespaces", proves="transaction.several-namespaces")
def test_tables_of_several_namespaces(catalog: Catalog) -> None:
    """A transaction changes tables of several namespaces, also tables of one name."""
    first = given_table(catalog)
    elsewhere = another_shared_namespace(catalog)
    body = bodies.create_table_body(first.name)
    reply = arrange(catalog, "createTable", lambda: catalog.create_table(elsewhere, body))
    second = Table(elsewhere, first.name, dict(reply.member("metadata")), None)
    changes = [change(first, set_property("1")), change(second, set_property("2"))]
    catalog.commit_transaction(changes).expect(200, 204, detail="over two namespaces")
    for table, value in ((first, "1"), (second, "2")):
        expect_loaded(catalog, table, {"properties": {"icecheck": value}}, what="transaction")


@check("transaction.same-table-twice", proves="transaction.same-table-twice")
def test_same_table_twice(catalog: Catalog) -> None:
    """Two changes of one table in a transaction are both applied, or both refused."""
    table, other = given_tables(catalog)
    updates = [set_property("1", "first"), set_property("1", "second")]
    reply = catalog.commit_transaction([change(table, update) for update in updates])
    if reply.ok:
        expected = {"properties": {"first": "1", "second": "1"}}
        expect_loaded(catalog, table, expected, what="second-change-of-a-table")
    else:
        reply.expect_refused(detail="a table that is named twice")
        expect_unchanged(catalog, table)
    expect_unchanged(catalog, other)


@check("transaction.malformed-refused", proves="commitTransaction.400")
def test_malformed_transactions(catalog: Catalog) -> None:
    """A transaction that cannot be understood is refused."""
    tables = shared_tables(catalog)
    for what, body in MALFORMED_BODIES:
        catalog.call("commitTransaction", body=body).expect(400, detail=what)
    changes = [change(tables[0], set_property("1")), change(tables[1], {"updates": {}})]
    expect_refused(catalog, tables, changes, 400, detail="an update without action")


@check("transaction.unknown-update", proves="transaction.unknown-update")
def test_unknown_update(catalog: Catalog) -> None:
    """An unknown update in a transaction is refused with 400, and no table changes."""
    tables = first, second = shared_tables(catalog)
    unknown = {"action": "set-icecheck-option", "option": "none"}
    changes = [change(first, set_property("1")), change(second, set_property("1"), unknown)]
    expect_refused(catalog, tables, changes, 400)


@check("transaction.unknown-assertion", proves="transaction.unknown-assertion")
def test_unknown_assertion(catalog: Catalog) -> None:
    """An unknown requirement in a transaction is refused with 400, and no table changes."""
    tables = first, second = shared_tables(catalog)
    unknown = {"type": "assert-icecheck-option", "option": "none"}
    changes = [
        change(first, set_property("1")),
        change(second, set_property("1"), requirements=[unknown]),
    ]
    expect_refused(catalog, tables, changes, 400)


@check("transaction.identifier-required", proves="transaction.identifier-required")
def test_change_without_identifier(catalog: Catalog) -> None:
    """A change that names no table is refused with 400, and no table changes."""
    tables = first, second = shared_tables(catalog)
    nameless = change(second, set_property("1"))
    del nameless["identifier"]
    expect_refused(catalog, tables, [change(first, set_property("1")), nameless], 400)


@check("transaction.missing-table", proves="commitTransaction.404")
def test_missing_table(catalog: Catalog) -> None:
    """A transaction over a table that does not exist is answered 404."""
    first, _ = shared_tables(catalog)
    catalog.commit_transaction([nothing(catalog, first)]).expect(404)


@check("transaction.atomic-on-missing-table", proves="transaction.atomic-on-missing-table")
def test_nothing_changes_when_a_table_is_missing(catalog: Catalog) -> None:
    """When one table of a transaction does not exist, none of the others changes."""
    tables = first, second = shared_tables(catalog)
    changes = [
        change(first, set_property("1")),
        nothing(catalog, first),
        change(second, set_property("1")),
    ]
    expect_refused(catalog, tables, changes)


def nothing(catalog: Catalog, beside: Table) -> Json:
    """Return a change of a missing table in the namespace of an existing one."""
    identifier = {"namespace": [*beside.namespace], "name": catalog.new_name()}
    return {"identifier": identifier, "requirements": [], "updates": [set_property("1")]}


@check("transaction.conflict", proves="commitTransaction.409")
def test_conflict(catalog: Catalog) -> None:
    """A transaction with a failing requirement is answered 409, whichever table it is about."""
    tables = shared_tables(catalog)
    for failing in tables:
        changes = [change(table, set_property("1")) for table in tables]
        asserted = [same_table(failing), WRONG_UUID]
        # The requirement that fails is the second one of the first table, or the first one of the
        # second.
        asserted = asserted if failing is tables[0] else asserted[::-1]
        changes[tables.index(failing)]["requirements"] = asserted
        which = "the first" if failing is tables[0] else "the second"
        catalog.commit_transaction(changes).expect(409, detail=f"{which} of two tables")


@check(
    "transaction.atomic-on-failed-requirement", proves="transaction.atomic-on-failed-requirement"
)
def test_nothing_changes_when_a_requirement_fails(catalog: Catalog) -> None:
    """When a requirement of one table fails, no table of the transaction changes, now or later."""
    tables = first, second = given_tables(catalog)
    passes = change(first, set_property("1"))
    fails = change(second, set_property("1"), requirements=[WRONG_UUID])
    asserts = change(second, requirements=[WRONG_UUID])  # no updates, only a requirement
    for changes in ([passes, fails], [fails, passes], [passes, asserts]):
        expect_refused(catalog, tables, changes, accepted=REQUIREMENT_IGNORED)
    what = "the first commit after a refused transaction"
    for table in tables:
        commit(catalog, table, [set_property("2", "after")]).expect(200, detail=what)
        reply = catalog.load_table(table.namespace, table.name).expect(200)
        due = {"properties": {MARK: ABSENT, "before": "0"}}
        reply.expect_json(due, at=["metadata"], symptom=CHANGED_ALTHOUGH_REFUSED, detail=what)


@check("transaction.atomic-on-refused-update", proves="transaction.atomic-on-refused-update")
def test_nothing_changes_when_an_update_is_refused(catalog: Catalog) -> None:
    """When an update of one table cannot be applied, no table of the transaction changes."""
    tables = first, second = shared_tables(catalog)
    changes = [
        change(first, set_property("1")),
        change(second, set_property("1"), IMPOSSIBLE),
    ]
    expect_refused(catalog, tables, changes)
