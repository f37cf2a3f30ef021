"""Checks of one table in many states: commits with true and with false requirements."""

from collections.abc import Callable, Sequence
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import arrange
from icecheck.client.given import shared_namespace as given_home
from icecheck.conformance.states.stage_assertions import (
    BY_TRANSACTION,
    BY_UPDATE,
    nearly_true,
    true_assertions,
)
from icecheck.conformance.states.stages import grown, in_order, together
from icecheck.conformance.states.table_stages import life_body, stages_of
from icecheck.conformance.states.walk import (
    Step,
    after_a_conflict,
    by_transaction_after,
    expect_grown,
    given_born,
    in_turn,
    knows_refs,
    live,
)
from icecheck.findings.shared_symptoms import CHANGED_ALTHOUGH_REFUSED
from icecheck.judging.check import generated_check
from icecheck.judging.probes import has_capability
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import (
    METADATA_LOCATION_REUSED,
    Send,
    by_transaction,
    by_update,
    creation_updates,
    expect_unchanged,
    set_property,
)
from icecheck.objects.comparing import expect_answer
from icecheck.objects.reading import not_applicable, refused
from icecheck.objects.round_trip import expect_bystander, given_bystander, loaded_answer
from icecheck.replies.matching import show

Json = dict[str, Any]

_ASSERT_CREATE = {"type": "assert-create"}
_UNWANTED = "icecheck.unwanted"
"""A property that only commits set which must be refused."""
_APART = 5
"""The number of states between two wrong assertions of one kind, in a walk of few states."""


# ---- requirements that hold, and ones that do not


def _walk(catalog: Catalog, send: Send, *, version: int | None = None, group_size: int = 1) -> None:
    # A table that starts in version 3 is created without partitions and order, which stages add.
    table = given_born(catalog, version, plain=version == 3)
    bystander = given_bystander(catalog)

    def visit(step: Step[Table]) -> Table:
        _expect_new_file(step)
        if step.answer.exchange.operation == "updateTable":  # other commits answer no table
            expect_answer(step.answer, step.after, step.what)
        return step.after

    live(catalog, table, visit, send, group_size=group_size)
    expect_bystander(catalog, bystander)


def _expect_new_file(step: Step[Table]) -> None:
    """Judge that the metadata location has changed with the table."""
    location = step.after.metadata_location
    if location is not None and location == step.before.metadata_location:
        due, seen = "another one than before the commit", "the same one"
        raise step.answer.violation(METADATA_LOCATION_REUSED, due, seen, detail=step.what)


@generated_check("states.life")
def test_a_life_of_commits(catalog: Catalog) -> None:
    """In every state a commit goes through that asserts all that is true, and does its part."""
    _walk(catalog, by_update)


@generated_check("states.life-of-version-3", proves="states.life", needs=("format-version-3",))
def test_a_life_of_version_3(catalog: Catalog) -> None:
    """So it does where it does two things after a conflict, on a table of format version 3."""
    _walk(catalog, after_a_conflict(by_update), version=3, group_size=4)


@generated_check("states.life-of-version-1", proves="states.life", needs=("format-version-1",))
def test_a_life_of_version_1(catalog: Catalog) -> None:
    """So it does on a table of format version 1, until it becomes one of version 3."""
    _walk(catalog, by_update, version=1, group_size=4)


@generated_check("states.life-by-transactions")
def test_a_life_of_transactions(catalog: Catalog) -> None:
    """In every state a transaction that asserts all that is true goes through and does its part."""
    ways = (by_transaction, after_a_conflict(by_transaction), by_update)
    _walk(catalog, in_turn(*ways), group_size=5)


class _Doubter:
    """Sends requirements that are nearly true in each state; the bystander must stay unchanged.

    One of each kind is sent in one of ``apart`` states in a row at most, and none twice. Those for
    the other way to commit are left to it, where the catalog has transactions.
    """

    def __init__(
        self, catalog: Catalog, bystander: Table, send: Send, apart: int, way: int
    ) -> None:
        self.catalog = catalog
        self.ways = {way} if catalog.claims("commitTransaction") else {BY_UPDATE, BY_TRANSACTION}
        self.apart = apart
        self.bystander = bystander
        self.send = send
        self.known: set[tuple[str, str]] = set()
        self.kinds: dict[tuple[str, str, str], int] = {}
        self.states = 0

    def visit(self, step: Step[Table]) -> Table:
        """Judge that each such requirement makes a commit fail.

        The load after the next stage shows whether such a commit has changed the table.
        """
        told = (step.after.metadata.get("properties") or {}).get(_UNWANTED)
        if told is not None:
            due, seen = "the table as it was", "a changed table"
            detail = f"before {step.what}, of the commit that asserted {told}"
            raise step.loaded.violation(CHANGED_ALTHOUGH_REFUSED, due, seen, detail=detail)
        self.expect_conflicts(step.after)
        return step.after

    def expect_conflicts(self, table: Table) -> None:
        """Judge the same of a table; no pair of a wrong and a true value is sent twice.

        The other requirements hold, and the position of the wrong one varies.
        """
        besides_main = knows_refs(self.catalog)
        holds = true_assertions(table.metadata, besides_main=besides_main)
        self.states += 1
        for wrong in nearly_true(table.metadata, self.bystander.uuid, besides_main=besides_main):
            key = (show(wrong.assertion), show(wrong.truth))
            kind = (wrong.truth["type"], wrong.truth.get("ref", ""), wrong.what)
            if key in self.known or self.ways.isdisjoint(wrong.ways):
                continue
            if self.states - self.kinds.get(kind, -1) < self.apart:
                continue
            self.known.add(key)
            self.kinds[kind] = self.states
            sent = [wrong.assertion if each == wrong.truth else each for each in holds]
            turn = len(self.known) % len(holds)
            updates = [set_property(show(wrong.assertion), _UNWANTED)]
            reply = self.send(self.catalog, table, updates, sent[turn:] + sent[:turn])
            detail = f"{show(wrong.assertion)}, which is {wrong.what}; due is {show(wrong.truth)}"
            reply.expect(409, detail=detail)


def _doubt(
    catalog: Catalog,
    send: Send,
    doubtfully: Callable[[Table], Send],
    group_size: int,
    apart: int,
    way: int,
) -> None:
    table = given_born(catalog)
    bystander = given_bystander(catalog)
    doubter = _Doubter(catalog, bystander, doubtfully(bystander), apart, way)
    doubter.expect_conflicts(table)
    last = live(catalog, table, doubter.visit, send, group_size=group_size)
    for each in (last, bystander):
        expect_unchanged(catalog, each, _UNWANTED)


@generated_check("states.conflicts")
def test_what_is_nearly_true(catalog: Catalog) -> None:
    """In every state an assertion that is nearly true stops a commit, and nothing changes."""
    _doubt(
        catalog,
        by_update,
        lambda _bystander: by_update,
        group_size=3,
        apart=2 * _APART,
        way=BY_UPDATE,
    )


@generated_check("states.conflicts-by-transaction")
def test_what_is_nearly_true_in_a_transaction(catalog: Catalog) -> None:
    """In every state an assertion that is nearly true stops a transaction of two tables."""
    _doubt(
        catalog,
        by_transaction,
        by_transaction_after,
        group_size=5,
        apart=_APART,
        way=BY_TRANSACTION,
    )


# ---- all stages in one commit


def _expect_life_at_once(
    catalog: Catalog, table: Table, send: Send, first: Sequence[Json], holds: Sequence[Json]
) -> None:
    """Judge one commit that combines the stages; halve it as long as the catalog refuses it."""
    stages = [stage for stage in stages_of(catalog) if not stage.alone]
    while True:
        updates, due = grown(together(stages), in_order(table.metadata))
        answer = send(catalog, table, [*first, *updates], holds)
        if answer.status >= 500 and any(stage.late for stage in stages):
            stages = [stage for stage in stages if not stage.late]
            continue
        if not refused(answer, "many updates at once"):
            break
        stages = stages[: len(stages) // 2]
        if not stages:
            raise not_applicable("the catalog refuses such commits")
    shown = expect_grown(loaded_answer(catalog, table), table, due, "many updates at once")
    if answer.exchange.operation == "updateTable":
        expect_answer(answer, shown, "many updates at once")
    all_true = true_assertions(shown.metadata, besides_main=knows_refs(catalog))
    send(catalog, shown, [set_property("1")], all_true).expect(200, 204, detail="all that is true")


def _begin(catalog: Catalog, send: Send) -> None:
    table = given_born(catalog)
    holds = true_assertions(table.metadata, besides_main=knows_refs(catalog))
    _expect_life_at_once(catalog, table, send, (), holds)


def _create(catalog: Catalog, send: Send, *versions: int) -> None:
    """Create a table of the default format version, and of these versions that are offered."""
    _create_of_version(catalog, send, None)
    for version in versions:
        if has_capability(catalog, f"format-version-{version}"):
            _create_of_version(catalog, send, version)


def _create_of_version(catalog: Catalog, send: Send, version: int | None) -> None:
    namespace, name = given_home(catalog), catalog.new_name()
    body = life_body(name, stage_create=True, version=version)
    reply = arrange(catalog, "createTable", lambda: catalog.create_table(namespace, body))
    staged = Table(namespace, name, view.metadata_in(reply), None)
    first = creation_updates(staged.metadata)
    _expect_life_at_once(catalog, staged, send, first, [_ASSERT_CREATE])


@generated_check("states.life-at-once")
def test_a_life_in_one_commit(catalog: Catalog) -> None:
    """One commit does what many do, one after the other."""
    _begin(catalog, by_update)


@generated_check("states.life-at-once-by-transaction")
def test_a_life_in_one_transaction(catalog: Catalog) -> None:
    """One change of a transaction does what many commits do, one after the other."""
    _begin(catalog, by_transaction)


@generated_check("states.created-at-once", needs=("stage-create",))
def test_a_table_created_with_its_life(catalog: Catalog) -> None:
    """The commit that makes a staged table exist may do all that later ones do."""
    _create(catalog, by_update, *((1,) if catalog.claims("commitTransaction") else (1, 3)))


@generated_check("states.created-at-once-by-transaction", needs=("stage-create",))
def test_a_table_created_with_its_life_by_a_transaction(catalog: Catalog) -> None:
    """The transaction that makes a staged table exist may do all that later commits do."""
    _create(catalog, by_transaction, 3)
