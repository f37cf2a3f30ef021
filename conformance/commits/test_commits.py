"""Checks of updateTable as a protocol: answers, refusals, and what an answer means."""

from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import (
    given_commit,
    given_table,
    reloaded,
    shared_namespace,
    shared_table,
)
from icecheck.findings.symptoms import UNNAMED_CHANGED, Severity, declare
from icecheck.judging.check import check, generated_check
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import (
    MARK,
    METADATA_LOCATION_REUSED,
    commit,
    expect_effect,
    expect_loaded,
    expect_refused,
    expect_unchanged,
    given_history,
    given_snapshots,
    same_table,
    set_property,
    shared_snapshots,
)
from icecheck.objects.comparing import TURN, expect_answer
from icecheck.objects.evolving import number, schema_addition, wider_schema
from icecheck.objects.round_trip import shown_of
from icecheck.replies.matching import ANY_OBJECT, ANY_STRING, Matcher
from icecheck.targets.target import Namespace

_CHANGED_BY_NOTHING = declare(
    "changed-by-nothing",
    "A commit without updates changes the table",
    Severity.FALSE_OR_LOST,
    UNNAMED_CHANGED,
)
_TIME_TURNED_BACK = declare(
    "time-turned-back", "A commit turns last-updated-ms back", Severity.SHAPE
)

# Each body is well-formed JSON that is not a valid commit.
MALFORMED_UPDATES: tuple[tuple[str, Any], ...] = (
    ("an update without action", {"updates": {"icecheck": "2"}}),
    ("an update without its members", {"action": "set-properties"}),
    ("properties that are a list", {"action": "set-properties", "updates": ["icecheck"]}),
    ("an update that is a string", "set-properties"),
    ("an id that is a word", {"action": "set-current-schema", "schema-id": "first"}),
)
MALFORMED_BODIES = (
    ("half a JSON document", b'{"requirements": [], "updates": ['),
    ("a list", b"[]"),
    ("no JSON", b"requirements=none"),
)
MALFORMED_REQUIREMENTS: tuple[tuple[str, Any], ...] = (
    ("a uuid assertion without uuid", {"type": "assert-table-uuid"}),
    ("a schema assertion without id", {"type": "assert-current-schema-id"}),
    ("a ref assertion without ref", {"type": "assert-ref-snapshot-id", "snapshot-id": None}),
    ("a requirement without type", {"uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1"}),
)
VIEW_UPDATE = {"action": "set-current-view-version", "view-version-id": -1}


def names_of(table: Table) -> dict[str, str | Namespace]:
    """Return the path parameters of a commit."""
    return {"namespace": table.namespace, "table": table.name}


@check("commit.succeeds", proves="updateTable.200")
def test_commit(catalog: Catalog) -> None:
    """A commit is answered 200, with the new metadata and the location of its file."""
    reply = commit(catalog, given_table(catalog), [set_property("1")]).expect(200)
    reply.expect_json({"metadata": ANY_OBJECT, "metadata-location": ANY_STRING})


@check("commit.malformed-refused", proves="updateTable.400")
def test_malformed_commits(catalog: Catalog) -> None:
    """A commit that cannot be understood is refused, and nothing of it is applied."""
    table = shared_table(catalog)
    for what, body in MALFORMED_BODIES:
        catalog.call("updateTable", names_of(table), body=body).expect(400, detail=what)
    for what, update in MALFORMED_UPDATES:
        commit(catalog, table, [set_property("1"), update]).expect(400, detail=what)
    expect_unchanged(catalog, table)


@check("commit.missing-table", proves="updateTable.404")
def test_commit_to_a_missing_table(catalog: Catalog) -> None:
    """A commit to a table that does not exist is refused, and does not create it."""
    namespace = shared_namespace(catalog)
    name = catalog.new_name()
    catalog.update_table(namespace, name, [set_property("1")]).expect(404)
    catalog.load_table(namespace, name).expect(404, detail="after a commit to no table")
    nowhere = catalog.new_namespace_name()
    reply = catalog.update_table(nowhere, name, [set_property("1")])
    reply.expect(404, detail="in a namespace that does not exist")


@check("commit.conflict", proves="updateTable.409", needs=("metadata-only-snapshots",))
def test_conflicting_commit(catalog: Catalog) -> None:
    """A commit whose requirement fails is answered 409."""
    table, [first, _] = shared_snapshots(catalog)
    stale = {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": first}
    commit(catalog, table, [set_property("1")], [stale]).expect(409)


@check("commit.unknown-update")
def test_unknown_update(catalog: Catalog) -> None:
    """An unknown update is refused with 400, and so is everything sent with it."""
    unknown = {"action": "set-icecheck-option", "option": "none"}
    updates = [set_property("1"), unknown]
    expect_refused(catalog, shared_table(catalog), updates, 400)


@check("commit.unknown-assertion")
def test_unknown_assertion(catalog: Catalog) -> None:
    """An unknown requirement is refused with 400, and so is everything sent with it."""
    unknown = {"type": "assert-icecheck-option", "option": "none"}
    table = shared_table(catalog)
    expect_refused(catalog, table, [set_property("1")], 400, requirements=[unknown])


@check("commit.view-update-refused")
def test_view_update_on_a_table(catalog: Catalog) -> None:
    """An update that only views have is refused on a table."""
    updates = [set_property("1"), VIEW_UPDATE]
    expect_refused(catalog, shared_table(catalog), updates, 400, 406)


@check("commit.malformed-assertion")
def test_malformed_assertions(catalog: Catalog) -> None:
    """A requirement without the members of its type is refused, and nothing is applied."""
    table = shared_table(catalog)
    for what, requirement in MALFORMED_REQUIREMENTS:
        # A 409 takes it for a requirement that does not hold (L1049).
        commit(catalog, table, [set_property("1")], [requirement]).expect(400, 409, detail=what)
    expect_unchanged(catalog, table)


@check("commit.identifier-optional")
def test_commit_without_identifier(catalog: Catalog) -> None:
    """A commit needs no identifier in its body: the path says which table it is."""
    table = given_table(catalog)
    body = {"requirements": [same_table(table)], "updates": [set_property("1")]}
    catalog.call("updateTable", names_of(table), body=body).expect(200)
    expect_loaded(catalog, table, {"properties": {"icecheck": "1"}}, what="properties")


@check("commit.answer-agrees-with-load", proves="commit.answer-is-the-table")
def test_answer_is_what_load_returns(catalog: Catalog) -> None:
    """The answer to a commit is what a load returns right after it."""
    table = given_history(catalog, given_table(catalog))
    added = schema_addition(table.metadata, wider_schema(table))
    updates = [set_property("1", TURN[0]), added]
    if table.metadata.get("snapshots"):
        snapshot = bodies.snapshot(table.metadata, 2)
        updates += [
            {"action": "add-snapshot", "snapshot": snapshot},
            bodies.snapshot_ref(snapshot["snapshot-id"], "main"),
        ]
    answer = commit(catalog, table, updates).expect(200)
    reply = catalog.load_table(table.namespace, table.name).expect(200)
    expect_answer(answer, shown_of(reply, table), "after a commit")


@check("commit.new-metadata-location")
def test_location_changes(catalog: Catalog) -> None:
    """Every commit that changes the metadata changes the metadata location."""
    table = given_table(catalog)
    seen = {table.metadata_location}
    for value in ("1", "2"):
        reply = commit(catalog, table, [set_property(value)]).expect(200)
        location = reply.member("metadata-location")
        if location in seen:
            raise reply.violation(
                METADATA_LOCATION_REUSED,
                "a metadata location of its own for every version",
                "the location of an earlier version",
                pointer="/metadata-location",
            )
        seen.add(location)


@check("commit.last-updated")
def test_time_does_not_run_backwards(catalog: Catalog) -> None:
    """A commit does not turn last-updated-ms back, neither in its answer nor in a load."""
    table = given_table(catalog)
    before = number(table, "last-updated-ms")
    not_before = Matcher(
        "no earlier than before the commit", lambda v: isinstance(v, int) and v >= before
    )
    answer = commit(catalog, table, [set_property("1")]).expect(200)
    answer.expect_json({"last-updated-ms": not_before}, at=["metadata"], symptom=_TIME_TURNED_BACK)
    expect_loaded(catalog, table, {"last-updated-ms": not_before}, what="last-updated-ms")


@check("commit.nothing-to-do")
def test_empty_commit(catalog: Catalog) -> None:
    """A commit without requirements and updates is accepted and changes nothing."""
    before = reloaded(catalog, given_table(catalog, properties={MARK: "0"}))
    catalog.update_table(before.namespace, before.name, []).expect(200)
    reply = catalog.load_table(before.namespace, before.name).expect(200)
    if view.settled(view.metadata_in(reply), MARK) != view.settled(before.metadata, MARK):
        raise reply.violation(_CHANGED_BY_NOTHING, "the table as it was", "a changed table")


@check("commit.snapshot-log", needs=("metadata-only-snapshots", "snapshot-history"))
def test_snapshot_log(catalog: Catalog) -> None:
    """The snapshot log names every snapshot that main was moved to, in order."""
    table, [first, second] = given_snapshots(catalog, 2)
    moves = [{"snapshot-id": id_} for id_ in (first, second, first)]
    back = [bodies.snapshot_ref(first)]
    expect_effect(catalog, table, back, {"snapshot-log": moves}, what="snapshot-log")


@generated_check(
    "commit.snapshot-log-after-removal", needs=("metadata-only-snapshots", "snapshot-history")
)
def test_snapshot_log_after_a_removal(catalog: Catalog) -> None:
    """Where the oldest snapshot is removed, the snapshot log names those that came after it."""
    table, [first, *kept] = given_snapshots(catalog, 3)

    def ends_with_the_kept(log: Any) -> bool:
        entries = log if isinstance(log, list) else []
        named = [entry.get("snapshot-id") for entry in entries if isinstance(entry, dict)]
        return named[-len(kept) :] == kept

    expect_effect(
        catalog,
        table,
        [{"action": "remove-snapshots", "snapshot-ids": [first]}],
        {"snapshot-log": Matcher("a log that ends with those that are left", ends_with_the_kept)},
        what="snapshot-log",
    )


def file_of(entries: list[Any]) -> Any:
    """Return the metadata file of the only entry, or None."""
    return entries[0].get("metadata-file") if entries and isinstance(entries[0], dict) else None


@check("commit.metadata-log")
def test_metadata_log(catalog: Catalog) -> None:
    """The metadata log names last the metadata file that a commit replaced."""
    table = given_commit(catalog, given_table(catalog), [set_property("1")])
    # Loads may leave the location out, and the answer to a commit may name another one.
    replaced = reloaded(catalog, table).metadata_location or table.metadata_location
    names_it = Matcher(
        "a list that ends with the replaced file",
        lambda v: isinstance(v, list) and file_of(v[-1:]) == replaced,
    )
    updates = [set_property("2")]
    expect_effect(catalog, table, updates, {"metadata-log": names_it}, what="metadata-log")
