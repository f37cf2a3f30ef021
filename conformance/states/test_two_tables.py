"""Checks of transactions over two tables in different states: each gets its own change only."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import repeat, zip_longest
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.conformance.states import layout_stages as layout
from icecheck.conformance.states.stage_assertions import true_assertions
from icecheck.conformance.states.stages import Stage, grown, in_groups, in_order
from icecheck.conformance.states.table_stages import stages_of
from icecheck.conformance.states.walk import expect_grown, given_born, knows_refs
from icecheck.judging.check import generated_check
from icecheck.objects.after_updates import after_updates
from icecheck.objects.committing import by_update, change_of, set_property
from icecheck.objects.comparing import KEPT
from icecheck.objects.reading import not_applicable, refused
from icecheck.objects.round_trip import loaded_answer, shown_of, told

Json = dict[str, Any]
Updates = Sequence[Json]

_BEHIND = 2
"""The number of commits by which one table is behind, so that their changes are of other kinds."""
_TOGETHER = 5
"""The number of stages that are one change where the tables go through different stages."""
_AT_ONCE = 8
"""The number of stages that are one change where both tables go through the same stages."""
_OWN = (*KEPT,)
"""One property for each table, which every transaction sets to a new value."""


@generated_check("states.two-lives")
def test_two_lives_in_the_same_transactions(catalog: Catalog) -> None:
    """A transaction of two tables does to each what is meant for it, be it alike or not."""
    stages = [*stages_of(catalog)]
    tables = [given_born(catalog), given_born(catalog)]
    front = [*in_groups(stages, _TOGETHER)]
    behind: list[Stage | None] = [*repeat(None, _BEHIND), *front]
    tables, taken = _live_together(catalog, tables, zip_longest(front, behind))
    # The same stages with other ids: one table has definitions that the other does not have.
    ahead = given_born(catalog)
    ahead = _alone(catalog, ahead, layout.of_new_column(ahead.metadata))
    alike = ((stage, stage) for stage in in_groups(stages, _AT_ONCE))
    others, further = _live_together(catalog, [ahead, given_born(catalog)], alike)
    if not taken + further:
        raise not_applicable("the catalog refuses every one of these transactions")
    _change_all(catalog, [*tables, *others])


def _change_all(catalog: Catalog, tables: Sequence[Table]) -> None:
    """Judge a transaction that sets one property in each of all the tables."""
    parts = [[set_property(f"table {at}", _OWN[0])] for at, _ in enumerate(tables)]
    what = f"a property of each of {len(tables)} tables"
    if _sent_together(catalog, tables, parts, what, 1):
        for table, part in zip(tables, parts, strict=True):
            _changed(catalog, table, part, what)


def _live_together(
    catalog: Catalog, tables: list[Table], pairs: Iterable[tuple[Stage | None, Stage | None]]
) -> tuple[list[Table], int]:
    """Lead two tables through pairs of stages; return them, and how many transactions succeeded.

    A stage for one table only, or a refused pair, is committed to each table alone.
    """
    taken = 0
    for turn, pair in enumerate(pairs):
        parts = [
            _part(stage, table, set_property(f"set in {turn}", _OWN[at]))
            for at, (stage, table) in enumerate(zip(pair, tables, strict=True))
        ]
        what = " beside ".join(stage.what for stage in pair if stage is not None)
        order = -1 if turn % 2 else 1  # the order of the tables has no meaning
        if not all(parts) or not _sent_together(catalog, tables, parts, what, order):
            tables = [_alone(catalog, t, each) for t, each in zip(tables, parts, strict=True)]
            continue
        tables = [_changed(catalog, t, each, what) for t, each in zip(tables, parts, strict=True)]
        taken += 1
    return tables, taken


def _part(stage: Stage | None, table: Table, own: Json) -> Updates:
    """Return the updates of a stage for a table, with one that only this table gets."""
    updates, _ = ((), {}) if stage is None else grown(stage, in_order(table.metadata))
    return [*updates, own] if updates else ()


def _sent_together(
    catalog: Catalog, tables: Sequence[Table], parts: Sequence[Updates], what: str, order: int
) -> bool:
    """Send one transaction with all requirements that hold; return False if it is refused."""
    knows = knows_refs(catalog)
    changes = [
        change_of(table, updates, true_assertions(table.metadata, besides_main=knows))
        for table, updates in zip(tables, parts, strict=True)
    ]
    answer = catalog.commit_transaction(changes[::order])
    return answer.status < 500 and not refused(answer, what)


def _alone(catalog: Catalog, table: Table, updates: Updates) -> Table:
    """Commit its part to one table alone; return the table unchanged if that is refused.

    A load shows it where the answer does not show what is due.
    """
    if not updates:
        return table
    answer = by_update(catalog, table, updates, ())
    if not answer.ok:
        return table
    what = "a part for one table"
    _, due = grown(Stage(what, lambda _: updates), in_order(table.metadata))
    shown = told(answer, partial(expect_grown, before=table, due=due, what=what))
    return shown or shown_of(loaded_answer(catalog, table), table)


def _changed(catalog: Catalog, table: Table, updates: Updates, what: str) -> Table:
    """Judge what a load shows of a table after a transaction, and return the table."""
    due = after_updates(table.metadata, updates)
    return expect_grown(loaded_answer(catalog, table), table, due, what)
