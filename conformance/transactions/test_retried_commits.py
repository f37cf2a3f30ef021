"""Checks that a commit that met a conflict succeeds unchanged when it is sent again."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_loaded, given_table
from icecheck.findings.symptoms import NOT_AS_ACKNOWLEDGED, Severity, declare
from icecheck.judging.check import generated_check
from icecheck.judging.probes import has_capability
from icecheck.objects.committing import (
    Send,
    by_transaction,
    by_update,
    given_table_of,
    same_table,
)
from icecheck.objects.evolving import (
    column_id,
    last_partition_id,
    number,
    schema_addition,
    wider_schema,
)
from icecheck.objects.reading import not_applicable
from icecheck.objects.round_trip import loaded_answer, shown_of
from icecheck.replies.expect import SHAPE_ERRORS

_COMMITTED_TWICE = declare(
    "committed-twice",
    "Carries out a commit twice that a client retried",
    Severity.FALSE_OR_LOST,
    NOT_AS_ACKNOWLEDGED,
)

Json = dict[str, Any]

_ANOTHER_TABLE = {"type": "assert-table-uuid", "uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1"}
_VERSION = 3


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of update, built from a number so that no two are equal, and its metadata member."""

    what: str
    updates: Callable[[Table, int], list[Json]]
    member: str

    def count(self, table: Table) -> int:
        """Return how many objects of this kind a table has."""
        return len(table.metadata.get(self.member) or ())


def _snapshot(table: Table, at: int) -> list[Json]:
    parent = table.metadata.get("current-snapshot-id")
    made = bodies.snapshot(table.metadata, at, parent=None if parent in {None, -1} else parent)
    return [{"action": "add-snapshot", "snapshot": made}, bodies.snapshot_ref(made["snapshot-id"])]


def _last_snapshot(table: Table) -> int:
    return int(table.metadata["snapshots"][-1]["snapshot-id"])


def _schema(table: Table, at: int) -> list[Json]:
    return [schema_addition(table.metadata, wider_schema(table, f"more_{at}"))]


def _spec(table: Table, at: int) -> list[Json]:
    field_id = last_partition_id(table.metadata) + 1
    field = bodies.partition_field(column_id(table, "id"), f"bucket[{at}]", f"by_{at}", field_id)
    # In version 1 the ids of a spec's fields have no gaps, so each spec keeps the fields before.
    before = table.metadata["partition-specs"][-1]["fields"]
    kept = before if number(table, "format-version") == 1 else []
    return [{"action": "add-spec", "spec": bodies.partition_spec(*kept, field, spec_id=at)}]


def _order(table: Table, at: int) -> list[Json]:
    order = bodies.sort_order(column_id(table, "id"), order_id=at)
    order["fields"][0]["transform"] = f"bucket[{at}]"
    return [{"action": "add-sort-order", "sort-order": order}]


def _tag(table: Table, at: int) -> list[Json]:
    return [bodies.snapshot_ref(_last_snapshot(table), f"tag-{at}", "tag")]


def _key(_table: Table, at: int) -> list[Json]:
    key = {"key-id": f"key-{at}", "encrypted-key-metadata": "aWNl"}
    return [{"action": "add-encryption-key", "encryption-key": key}]


def _statistics(table: Table, at: int) -> list[Json]:
    return [
        bodies.set_statistics(
            bodies.statistics_file(table.metadata, table.metadata["snapshots"][-at]["snapshot-id"])
        )
    ]


def _of_partitions(table: Table, at: int) -> list[Json]:
    snapshot_id = table.metadata["snapshots"][-at]["snapshot-id"]
    return [
        bodies.set_partition_statistics(
            bodies.partition_statistics_file(table.metadata, snapshot_id)
        )
    ]


_GROUPS = (
    (
        _Kind("a schema", _schema, "schemas"),
        _Kind("a partition spec", _spec, "partition-specs"),
        _Kind("a sort order", _order, "sort-orders"),
    ),
    (_Kind("a snapshot", _snapshot, "snapshots"),),
    (
        _Kind("a tag", _tag, "refs"),
        _Kind("statistics", _statistics, "statistics"),
        _Kind("partition statistics", _of_partitions, "partition-statistics"),
    ),
    (_Kind("an encryption key", _key, "encryption-keys"),),
)
"""Kinds that one commit has together; each has one of its own where they are refused so."""


def _ways(catalog: Catalog) -> Iterator[tuple[Send, Sequence[Sequence[_Kind]]]]:
    """Yield the ways to commit, each with the groups of kinds that it commits."""
    yield by_update, _GROUPS
    if catalog.claims("commitTransaction"):
        yield by_transaction, _GROUPS[:2]


@generated_check("commit.retried")
def test_a_commit_is_sent_again_after_a_conflict(catalog: Catalog) -> None:
    """What met a conflict goes through when it is sent again, and is there once."""
    taken = 0
    for send, groups in _ways(catalog):
        newest = has_capability(catalog, f"format-version-{_VERSION}")
        table = given_table_of(catalog, _VERSION) if newest else given_table(catalog)
        table = given_loaded(catalog, table)
        waiting = deque(groups)
        while waiting:
            kinds = waiting.popleft()
            try:
                table, done = _retried(catalog, table, kinds, send)
            except SHAPE_ERRORS:
                continue  # the table has nothing that this can be added to
            taken += done
            if not done and len(kinds) > 1:
                waiting.extendleft((kind,) for kind in reversed(kinds))
    if not taken:
        raise not_applicable("the catalog refuses every one of these commits")


def _retried(
    catalog: Catalog, table: Table, kinds: Sequence[_Kind], send: Send
) -> tuple[Table, bool]:
    """Judge a retried commit of these kinds; return False if a plain one of them is refused."""

    def updates(at: int) -> list[Json]:
        return [update for kind in kinds for update in kind.updates(table, at)]

    if not send(catalog, table, updates(1), [same_table(table)]).ok:
        return table, False
    table = given_loaded(catalog, table)
    again, words = updates(2), ", ".join(kind.what for kind in kinds)
    what = f"{words}, under the uuid of another table"
    send(catalog, table, again, [_ANOTHER_TABLE]).expect(409, detail=what)
    what = f"{words}, sent again after a conflict"
    send(catalog, table, again, [same_table(table)]).expect(200, 204, detail=what)
    reply = loaded_answer(catalog, table)
    after = shown_of(reply, table)
    for kind in kinds:
        if kind.count(after) > kind.count(table) + 1:
            raise reply.violation(
                _COMMITTED_TWICE,
                "one more than before",
                "more than one",
                detail=f"{kind.what}, sent again after a conflict",
                pointer=f"/metadata/{kind.member}",
            )
    return after, True
