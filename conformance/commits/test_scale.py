"""Checks with large commits and histories, which slow down other users: disruptive runs only."""

from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_loaded, given_table
from icecheck.findings.symptoms import NOT_ALL_SEEN, Severity, declare
from icecheck.judging.check import check
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import commit, expect_loaded
from icecheck.replies.matching import Matcher

_HISTORY_CUT_SHORT = declare(
    "history-cut-short",
    "Shows only a part of a long history",
    Severity.FALSE_OR_LOST,
    NOT_ALL_SEEN,
)

_BODY_BYTES = 2 * 1024 * 1024
_VALUE_BYTES = 64 * 1024
_SNAPSHOTS = 1_000
_SNAPSHOTS_OF_A_COMMIT = 50


@check("updateTable.large-commit", proves="commit.large", disruptive=True)
def test_a_commit_of_two_mebibytes(catalog: Catalog) -> None:
    """A commit of 2 MiB is accepted."""
    table = given_table(catalog)
    value = "0123456789abcdef" * (_VALUE_BYTES // 16)
    sent = {f"icecheck.large.{n}": value for n in range(_BODY_BYTES // _VALUE_BYTES)}
    commit(catalog, table, [bodies.set_properties(sent)]).expect(200)
    whole = Matcher(f"the {_VALUE_BYTES} characters that were sent", lambda v: v == value)
    expect_loaded(catalog, table, {"properties": dict.fromkeys(sent, whole)}, what="large-commit")


@check(
    "loadTable.long-history",
    proves="loadTable.snapshots-default-all",
    needs=("metadata-only-snapshots", "snapshot-history"),
    disruptive=True,
)
def test_a_thousand_snapshots_are_loaded(catalog: Catalog) -> None:
    """A table that has a thousand snapshots is loaded with all of them."""
    table = given_table(catalog)
    added: list[int] = []
    while len(added) < _SNAPSHOTS:
        table = _with_more(catalog, table, added)
    reply = catalog.load_table(table.namespace, table.name).expect(200)
    snapshots = view.metadata_in(reply).get("snapshots") or []
    missing = set(added) - {each.get("snapshot-id") for each in snapshots}
    if missing:
        raise reply.violation(
            _HISTORY_CUT_SHORT,
            f"all {_SNAPSHOTS} snapshots",
            f"{_SNAPSHOTS - len(missing)} of them",
        )


def _with_more(catalog: Catalog, table: Table, added: list[int]) -> Table:
    """Commit some snapshots, each the child of the one before; append their ids to ``added``."""
    updates: list[dict[str, Any]] = []
    for ordinal in range(1, _SNAPSHOTS_OF_A_COMMIT + 1):
        parent = added[-1] if added else None
        unique = bodies.snapshot(table.metadata)["snapshot-id"] + len(added)
        snapshot = bodies.snapshot(table.metadata, ordinal, parent=parent, snapshot_id=unique)
        updates.append({"action": "add-snapshot", "snapshot": snapshot})
        added.append(unique)
    updates.append(bodies.snapshot_ref(added[-1]))
    commit(catalog, table, updates).expect(200)
    return given_loaded(catalog, table)
