"""Leads a table through its stages and judges what a load shows after each."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import arrange, given_loaded
from icecheck.client.given import shared_namespace as given_home
from icecheck.conformance.evolution.stage_assertions import true_assertions
from icecheck.conformance.evolution.stages import (
    as_assigned,
    grown,
    in_groups,
    life_body,
    stages_of,
)
from icecheck.findings.shared_symptoms import CHANGED_ALTHOUGH_REFUSED
from icecheck.judging.probes import has_capability
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import set_property
from icecheck.objects.reading import not_applicable
from icecheck.objects.round_trip import expect_shown, refused
from icecheck.replies.expect import Reply, show

__all__ = [
    "REFS",
    "Send",
    "Step",
    "after_a_conflict",
    "by_transaction",
    "by_transaction_after",
    "by_update",
    "change_of",
    "given_born",
    "in_turn",
    "knows_refs",
    "live",
    "loaded_answer",
    "renamed",
    "shown_of",
]

Json = dict[str, Any]
Send = Callable[[Catalog, Table, Sequence[Json], Sequence[Json]], Reply]
"""Sends updates of a table with requirements."""

REFS = (("snapshots", "refs"),)
_FIRST_VERSION = 2
_ANOTHER_UUID = "00000000-0000-4000-8000-000000000001"


@dataclass(frozen=True, slots=True)
class Step:
    """A stage that was committed: the table before and after it, the answer, and the load."""

    what: str
    ordinal: int
    before: Table
    table: Table
    answer: Reply
    loaded: Reply


Visit = Callable[[Step], Table]
"""Judges a table after a stage, and returns the table to continue with."""


def knows_refs(catalog: Catalog) -> bool:
    """Return whether a catalog offers refs besides main."""
    return any(has_capability(catalog, each) for each in ("branches", "tags"))


def given_born(catalog: Catalog, version: int | None = None, *, plain: bool = False) -> Table:
    """Make the table that goes through the stages, and return it as a load shows it.

    Without a version it has the catalog's default format version, or version 2 if that is 1; a
    ``plain`` table starts without partitions and sort order.
    """
    namespace, name = given_home(catalog), catalog.new_name()
    body = life_body(name, version=version, plain=plain)
    reply = arrange(catalog, "createTable", lambda: catalog.create_table(namespace, body))
    table = given_loaded(catalog, Table(namespace, name, view.metadata_in(reply), None))
    made = table.metadata.get("format-version", _FIRST_VERSION)
    if made < _FIRST_VERSION and version is None:
        return given_born(catalog, _FIRST_VERSION, plain=plain)
    if version not in {None, made}:
        raise not_applicable(f"the catalog makes no table of format version {version}")
    return table


def by_update(
    catalog: Catalog, table: Table, updates: Sequence[Json], assertions: Sequence[Json]
) -> Reply:
    """Commit to a table by updateTable."""
    return catalog.update_table(table.namespace, table.name, updates, assertions)


def after_a_conflict(send: Send) -> Send:
    """Return a way to commit that first meets a conflict: that attempt must have no effect."""

    def again(
        catalog: Catalog, table: Table, updates: Sequence[Json], assertions: Sequence[Json]
    ) -> Reply:
        another = {"type": "assert-table-uuid", "uuid": _ANOTHER_UUID}
        others = [each for each in assertions if each["type"] != another["type"]]
        first = send(catalog, table, updates, [*others, another])
        if first.ok:
            first.expect(409, detail="the uuid of another table was asserted")
        return send(catalog, table, updates, assertions)

    return again


def in_turn(*sends: Send) -> Send:
    """Return a way to commit that changes to the next of these ways after each success."""
    ways = deque(sends)

    def send(
        catalog: Catalog, table: Table, updates: Sequence[Json], assertions: Sequence[Json]
    ) -> Reply:
        reply = ways[0](catalog, table, updates, assertions)
        if reply.ok:
            ways.rotate(-1)
        return reply

    return send


def by_transaction(
    catalog: Catalog, table: Table, updates: Sequence[Json], assertions: Sequence[Json]
) -> Reply:
    """Commit to a table by a transaction with this one change."""
    return catalog.commit_transaction([change_of(table, updates, assertions)])


def by_transaction_after(another: Table) -> Send:
    """Return a way to commit by a transaction that first makes the updates to another table."""

    def send(
        catalog: Catalog, table: Table, updates: Sequence[Json], assertions: Sequence[Json]
    ) -> Reply:
        changes = [change_of(another, updates, ()), change_of(table, updates, assertions)]
        return catalog.commit_transaction(changes)

    return send


def change_of(table: Table, updates: Sequence[Json], assertions: Sequence[Json]) -> Json:
    """Return a table's part of a transaction."""
    return {
        "identifier": table.identifier,
        "requirements": [*assertions],
        "updates": [*updates],
    }


def loaded_answer(catalog: Catalog, table: Table) -> Reply:
    """Load a table that must exist."""
    return catalog.load_table(table.namespace, table.name).expect(200)


def shown_of(reply: Reply, table: Table) -> Table:
    """Return a table as an answer shows it."""
    location = reply.json().get("metadata-location")
    return replace(table, metadata=view.metadata_in(reply), metadata_location=location)


def renamed(catalog: Catalog, table: Table, what: str) -> tuple[Table, Reply | None]:
    """Rename a table; return it as a load then shows it, and that load.

    Returns the same table and None where the catalog does not rename it.
    """
    if not catalog.claims("renameTable"):
        return table, None
    new = replace(table, name=catalog.new_name())
    ends = [(each.namespace, each.name) for each in (table, new)]
    if refused(catalog.rename_table(*ends), f"a rename after {what}"):
        return table, None
    reply = loaded_answer(catalog, new)
    return shown_of(reply, new), reply


def live(
    catalog: Catalog,
    table: Table,
    visit: Visit,
    send: Send = by_update,
    *,
    group_size: int = 1,
    load: Callable[[Catalog, Table], Reply] = loaded_answer,
) -> Table:
    """Lead a table through its stages; send with each all requirements that hold before it.

    Judges what a load then shows and calls ``visit`` after that. A refused stage is skipped if its
    requirements were not the reason. Raises NotOffered if all stages were refused. ``group_size``
    stages are one commit. ``load`` loads the table after each stage.
    """
    besides_main, taken = knows_refs(catalog), 0
    actions: set[str] = set()
    for ordinal, stage in enumerate(in_groups(stages_of(catalog), group_size)):
        growth = grown(stage, table.metadata)
        if growth is None:
            continue
        holds = true_assertions(table.metadata, besides_main=besides_main)
        # The order of the requirements has no meaning.
        holds = holds if ordinal % 2 else holds[::-1]
        answer = send(catalog, table, growth.updates, holds)
        sent = {update["action"] for update in growth.updates}
        if answer.status >= 500 and not sent <= actions:
            # A catalog may break down over an update that it does not know; each update has its own
            # check, which judges that.
            table = shown_of(loaded_answer(catalog, table), table)
            continue
        if refused(answer, stage.what):
            table = _expect_held(catalog, table, holds, stage.what, send)
            if stage.due:
                answer.expect(200, 204, detail=stage.what)
            continue
        actions |= sent
        reply = load(catalog, table)
        after = view.metadata_in(reply)
        due = as_assigned(table.metadata, growth.due, after)
        expect_shown(reply, table, due | {m: after.get(m) for m in growth.free}, stage.what)
        taken += 1
        table = visit(Step(stage.what, taken, table, shown_of(reply, table), answer, reply))
    if not taken:
        raise not_applicable("the catalog refuses every one of these commits")
    return table


def _expect_held(
    catalog: Catalog, table: Table, holds: Sequence[Json], what: str, send: Send
) -> Table:
    """Judge that the requirements were not the reason of a refusal; return the current table.

    Sends all requirements with an update that every catalog accepts; if that is refused too, sends
    each requirement alone, so that the finding names the one that fails.
    """
    if not send(catalog, table, [set_property("1")], holds).ok:
        for assertions in (*([each] for each in holds), holds):
            told = show(assertions[0]) if len(assertions) == 1 else "all assertions together"
            reply = send(catalog, table, [set_property("1")], assertions)
            reply.expect(200, 204, detail=f"{told}, which holds, before {what}")
    reply = loaded_answer(catalog, table)
    expect_shown(reply, table, {}, what, symptom=CHANGED_ALTHOUGH_REFUSED)
    return shown_of(reply, table)
