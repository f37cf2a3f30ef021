"""Checks that an unknown update or requirement is refused at every place in every commit."""

from collections.abc import Iterator, Sequence
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_loaded, given_table
from icecheck.findings.shared_symptoms import CHANGED_ALTHOUGH_REFUSED
from icecheck.judging.check import generated_check
from icecheck.judging.probes import has_capability
from icecheck.objects.committing import (
    creation_updates,
    expect_unchanged,
    same_table,
    set_property,
)
from icecheck.replies.expect import Reply

Json = dict[str, Any]
Parts = tuple[str, list[Json], list[Json]]
"""The place of the unknown part, the updates, and the requirements."""

_UPDATE = {"action": "set-icecheck-option", "option": "none"}
_ASSERTION = {"type": "assert-icecheck-option", "option": "none"}
_ASSERT_CREATE = {"type": "assert-create"}


def _places(updates: Sequence[Json], holds: Sequence[Json]) -> Iterator[Parts]:
    """Yield valid commits with one unknown part at different places.

    An unknown update stands first, in the middle, last and alone; an unknown requirement first and
    last.
    """
    middle = len(updates) // 2
    for at, where in ((0, "first"), (middle, "in the middle"), (len(updates), "last")):
        yield f"an unknown update, {where}", [*updates[:at], _UPDATE, *updates[at:]], [*holds]
    for at, where in ((0, "first"), (len(holds), "last")):
        yield f"an unknown requirement, {where}", [*updates], [*holds[:at], _ASSERTION, *holds[at:]]
    yield "an unknown update alone", [_UPDATE], [*holds]


def _of_table(table: Table) -> Iterator[Parts]:
    updates = [set_property("1"), set_property("2", "icecheck.more")]
    yield from _places(updates, [same_table(table)])
    yield "an unknown requirement alone", updates, [_ASSERTION]
    # An unknown requirement is to be refused even if there are no updates.
    yield "an unknown requirement of no updates", [], [same_table(table), _ASSERTION]


def _given_staged(catalog: Catalog) -> Table | None:
    """Return a table that is only staged, or None where the catalog stages none."""
    if not has_capability(catalog, "stage-create"):
        return None
    return given_table(catalog, stage_create=True)


def _expect_still_staged(catalog: Catalog, staged: Table, reply: Reply) -> None:
    found = catalog.load_table(staged.namespace, staged.name)
    if found.ok:
        due, seen = "the table as it was", "a changed table"
        detail = f"made although the commit was answered {reply.status}"
        raise found.violation(CHANGED_ALTHOUGH_REFUSED, due, seen, detail=detail)
    found.expect(404)


@generated_check(
    "commit.unknown-anywhere", proves=("commit.unknown-update", "commit.unknown-assertion")
)
def test_unknown_parts_of_a_commit(catalog: Catalog) -> None:
    """Wherever an unknown update or requirement stands in a commit, 400 refuses all of it."""
    table = given_loaded(catalog, given_table(catalog))
    for what, updates, holds in _of_table(table):
        reply = catalog.update_table(table.namespace, table.name, updates, holds)
        reply.expect(400, detail=what)
    expect_unchanged(catalog, table, "icecheck.more")
    staged = _given_staged(catalog)
    if staged is None:
        return
    for what, updates, holds in _places(creation_updates(staged.metadata), [_ASSERT_CREATE]):
        reply = catalog.update_table(staged.namespace, staged.name, updates, holds)
        reply.expect(400, detail=f"{what}, in a commit that creates")
        _expect_still_staged(catalog, staged, reply)
