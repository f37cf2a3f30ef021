"""Checks of one table in many states: true and false requirements, and every way to read it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import arrange
from icecheck.client.given import shared_namespace as given_home
from icecheck.conformance.evolution.stage_assertions import nearly_true, true_assertions
from icecheck.conformance.evolution.stages import as_assigned, life_body, stages_of, together
from icecheck.conformance.evolution.state_walk import (
    REFS,
    Send,
    Step,
    after_a_conflict,
    by_transaction,
    by_transaction_after,
    by_update,
    given_born,
    in_turn,
    knows_refs,
    live,
    loaded_answer,
    renamed,
    shown_of,
)
from icecheck.findings.shared_symptoms import ANSWER_DIFFERS_FROM_LOAD, EFFECT_MISSING
from icecheck.findings.symptoms import NOT_ALL_SEEN, Severity, declare
from icecheck.findings.verdict import Group
from icecheck.judging.check import check
from icecheck.judging.probes import has_capability
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import (
    METADATA_LOCATION_REUSED,
    RENAME_CHANGED_THE_TABLE,
    creation_updates,
    expect_unchanged,
    set_property,
)
from icecheck.objects.reading import not_applicable
from icecheck.objects.round_trip import (
    expect_as_before,
    expect_bystander,
    expect_shown,
    given_bystander,
    refused,
)
from icecheck.replies.expect import Reply, equal, show

_LOADS_DIFFER = declare(
    "loads-differ",
    "Loads of one version in different ways show different tables",
    Severity.FALSE_OR_LOST,
    NOT_ALL_SEEN,
)

Json = dict[str, Any]

_ASSERT_CREATE = {"type": "assert-create"}
_KEPT = "icecheck.kept"
_REGISTERED_AFTER = (6, 9, 14, 16, 21, 26)
"""A table's file is registered under a second name after these numbers of stages."""
_RENAMED_AFTER = (5, 14, 21)
"""A table is renamed after these numbers of stages."""


# ---- requirements that hold, and ones that do not


def _walk(catalog: Catalog, send: Send, *, version: int | None = None, group_size: int = 1) -> None:
    # A table that starts in version 3 is created without partitions and order, which stages add.
    table = given_born(catalog, version, plain=version == 3)
    bystander = given_bystander(catalog, table)

    def visit(step: Step) -> Table:
        _expect_new_file(step)
        if step.answer.exchange.operation == "updateTable":  # other commits answer no table
            _expect_answer(step.answer, step.table, step.what)
        return step.table

    live(catalog, table, visit, send, group_size)
    expect_bystander(catalog, bystander)


def _expect_new_file(step: Step) -> None:
    """Judge that the metadata location has changed with the table."""
    location = step.table.metadata_location
    if location is not None and location == step.before.metadata_location:
        due, seen = "another one than before the commit", "the same one"
        raise step.answer.violation(METADATA_LOCATION_REUSED, due, seen, detail=step.what)


def _expect_answer(answer: Reply, after: Table, what: str) -> None:
    """Judge that the answer to a commit shows the table, and its file, as a load does."""
    expect_shown(answer, after, {}, what, symptom=ANSWER_DIFFERS_FROM_LOAD)
    told = answer.json().get("metadata-location")
    if None not in {told, after.metadata_location}:
        equal(after.metadata_location, told, symptom=ANSWER_DIFFERS_FROM_LOAD, detail=what)


@check("states.life", proves="states.life", group=Group.GENERATED)
def test_a_life_of_commits(catalog: Catalog) -> None:
    """In every state a commit goes through that asserts all that is true, and does its part."""
    _walk(catalog, by_update)


@check(
    "states.life-of-version-3",
    proves="states.life",
    group=Group.GENERATED,
    needs=("format-version-3",),
)
def test_a_life_of_version_3(catalog: Catalog) -> None:
    """So it does where it does two things after a conflict, on a table of format version 3."""
    _walk(catalog, after_a_conflict(by_update), version=3, group_size=2)


@check(
    "states.life-of-version-1",
    proves="states.life",
    group=Group.GENERATED,
    needs=("format-version-1",),
)
def test_a_life_of_version_1(catalog: Catalog) -> None:
    """So it does on a table of format version 1, until it becomes one of version 3."""
    _walk(catalog, by_update, version=1)


@check("states.life-by-transactions", proves="states.life-by-transactions", group=Group.GENERATED)
def test_a_life_of_transactions(catalog: Catalog) -> None:
    """In every state a transaction that asserts all that is true goes through and does its part."""
    _walk(catalog, in_turn(by_transaction, by_update))
    _walk(catalog, after_a_conflict(by_transaction), group_size=3)


class _Doubter:
    """Sends requirements that are nearly true in each state; the bystander must stay unchanged."""

    def __init__(self, catalog: Catalog, bystander: Table, send: Send) -> None:
        self.catalog = catalog
        self.bystander = bystander
        self.send = send
        self.known: set[tuple[str, str]] = set()

    def visit(self, step: Step) -> Table:
        """Judge that each such requirement makes a commit fail and that nothing changes."""
        self.expect_conflicts(step.table)
        return step.table

    def expect_conflicts(self, table: Table) -> None:
        """Judge the same of a table; no pair of a wrong and a true value is sent twice.

        The other requirements hold, and the position of the wrong one varies.
        """
        besides_main = knows_refs(self.catalog)
        holds = true_assertions(table.metadata, besides_main=besides_main)
        updates = [set_property("changed", _KEPT)]
        known = len(self.known)
        for wrong in nearly_true(table.metadata, self.bystander.uuid, besides_main=besides_main):
            key = (show(wrong.assertion), show(wrong.truth))
            if key in self.known:
                continue
            self.known.add(key)
            sent = [wrong.assertion if each == wrong.truth else each for each in holds]
            turn = len(self.known) % len(holds)
            reply = self.send(self.catalog, table, updates, sent[turn:] + sent[:turn])
            detail = f"{show(wrong.assertion)}, which is {wrong.what}; due is {show(wrong.truth)}"
            reply.expect(409, detail=detail)
        if len(self.known) > known:
            expect_unchanged(self.catalog, table, _KEPT)
            expect_unchanged(self.catalog, self.bystander, _KEPT)


def _doubt(catalog: Catalog, send: Send, doubtfully: Callable[[Table], Send]) -> None:
    table = given_born(catalog)
    bystander = given_bystander(catalog, table)
    doubter = _Doubter(catalog, bystander, doubtfully(bystander))
    doubter.expect_conflicts(table)
    live(catalog, table, doubter.visit, send)


@check("states.conflicts", proves="states.conflicts", group=Group.GENERATED)
def test_what_is_nearly_true(catalog: Catalog) -> None:
    """In every state an assertion that is nearly true stops a commit, and nothing changes."""
    _doubt(catalog, by_update, lambda _bystander: by_update)


@check(
    "states.conflicts-by-transaction",
    proves="states.conflicts-by-transaction",
    group=Group.GENERATED,
)
def test_what_is_nearly_true_in_a_transaction(catalog: Catalog) -> None:
    """In every state an assertion that is nearly true stops a transaction of two tables."""
    _doubt(catalog, by_transaction, by_transaction_after)


# ---- every way to read a table


class _Onlooker:
    """Reads one table in every way and keeps earlier entity tags."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.tags: dict[tuple[tuple[str, str], ...], str | None] = {}
        self.earlier: dict[str, str] = {}
        self.beside: list[Table] = []

    def visit(self, step: Step) -> Table:
        """Judge every way to load a table; after some stages register its file or rename it."""
        table = step.table
        for query in ((), REFS):
            self._expect_loaded(table, query, step.what)
        if self.catalog.claims("tableExists"):
            exists = self.catalog.table_exists(table.namespace, table.name)
            exists.expect(200, 204, detail=step.what)
        if step.ordinal in _REGISTERED_AFTER:
            self._register(table, step.what)
        return self._renamed(table, step.what) if step.ordinal in _RENAMED_AFTER else table

    def _expect_loaded(self, table: Table, query: tuple[tuple[str, str], ...], what: str) -> None:
        """Judge a load with the entity tag of the version before, which must not answer 304."""
        tag = self.tags.get(query)
        headers = None if tag is None else {"If-None-Match": tag}
        reply = self.catalog.load_table(table.namespace, table.name, query, headers)
        which = "refs only" if query == REFS else "all of it"
        reply.expect(200, detail=f"{which}, after {what}, under the tag of the version before")
        if tag is not None and query == ():
            self.earlier.setdefault(tag, what)
        named = _few(reply, table) if query == REFS else {}
        expect_shown(reply, table, named, f"{which}, after {what}", symptom=_LOADS_DIFFER)
        self.tags[query] = reply.header("etag")

    def _register(self, table: Table, what: str) -> None:
        """Register a version's file under another name, and judge that table by the version."""
        if not self.catalog.claims("registerTable") or table.metadata_location is None:
            return
        name = self.catalog.new_name()
        reply = self.catalog.register_table(table.namespace, name, table.metadata_location)
        if refused(reply, f"the metadata file of a table after {what}"):
            return
        beside = replace(table, name=name)
        expect_as_before(self.catalog, beside, EFFECT_MISSING.of("registered-metadata"), what)
        self.beside.append(beside)

    def _renamed(self, table: Table, what: str) -> Table:
        """Rename a table, and judge that only its location may have changed."""
        new, reply = renamed(self.catalog, table, what)
        if reply is not None:
            before = replace(table, name=new.name)
            named = {"location": new.metadata.get("location")}
            expect_shown(reply, before, named, what, symptom=RENAME_CHANGED_THE_TABLE)
        return new

    def expect_stale(self, table: Table) -> None:
        """Judge that no entity tag of an earlier version is that of the last version."""
        for tag, what in self.earlier.items():
            headers = {"If-None-Match": tag}
            reply = self.catalog.load_table(table.namespace, table.name, headers=headers)
            reply.expect(200, detail=f"under the entity tag from before {what}")

    def expect_beside(self) -> None:
        """Judge that the tables registered from earlier files are unchanged."""
        for table in self.beside:
            expect_bystander(self.catalog, table)


def _few(reply: Reply, table: Table) -> Json:
    """Return the members that a load of refs only may shorten, such as unreferenced snapshots."""
    shown = [each.get("snapshot-id") for each in view.metadata_in(reply).get("snapshots") or []]
    refs = (table.metadata.get("refs") or {}).values()
    shown += [each.get("snapshot-id") for each in refs]
    members = ("snapshots", "statistics", "partition-statistics")
    now = view.metadata_in(reply)
    return {
        member: [
            each
            for each in table.metadata.get(member) or []
            if each.get("snapshot-id") in shown or each in (now.get(member) or [])
        ]
        for member in members
    }


@check("states.every-look", proves="states.every-look", group=Group.GENERATED)
def test_every_way_to_look_at_a_table(catalog: Catalog) -> None:
    """In every state a table shows the same, loaded with refs only, renamed or registered."""
    onlooker = _Onlooker(catalog)
    onlooker.expect_stale(live(catalog, given_born(catalog), onlooker.visit))
    onlooker.expect_beside()


# ---- all stages in one commit


def _expect_life_at_once(
    catalog: Catalog, table: Table, send: Send, first: Sequence[Json], holds: Sequence[Json]
) -> None:
    """Judge one commit that combines the stages; halve it as long as the catalog refuses it."""
    stages = [stage for stage in stages_of(catalog) if not stage.alone]
    while True:
        growth = together(stages).make(table.metadata)
        answer = send(catalog, table, [*first, *growth.updates], holds)
        if answer.status >= 500 and any(stage.late for stage in stages):
            stages = [stage for stage in stages if not stage.late]
            continue
        if not refused(answer, "many updates at once"):
            break
        stages = stages[: len(stages) // 2]
        if not stages:
            raise not_applicable("the catalog refuses such commits")
    reply = loaded_answer(catalog, table)
    after = view.metadata_in(reply)
    due = as_assigned(table.metadata, growth.due, after)
    due |= {member: after.get(member) for member in growth.free}
    expect_shown(reply, table, due, "many updates at once")
    shown = shown_of(reply, table)
    if answer.exchange.operation == "updateTable":
        _expect_answer(answer, shown, "many updates at once")
    all_true = true_assertions(shown.metadata, besides_main=knows_refs(catalog))
    send(catalog, shown, [set_property("1")], all_true).expect(200, 204, detail="all that is true")


def _begin(catalog: Catalog, send: Send) -> None:
    table = given_born(catalog)
    holds = true_assertions(table.metadata, besides_main=knows_refs(catalog))
    _expect_life_at_once(catalog, table, send, (), holds)


def _create(catalog: Catalog, send: Send) -> None:
    _create_of_version(catalog, send, None)
    for version in (1, 3):
        if has_capability(catalog, f"format-version-{version}"):
            _create_of_version(catalog, send, version)


def _create_of_version(catalog: Catalog, send: Send, version: int | None) -> None:
    namespace, name = given_home(catalog), catalog.new_name()
    body = life_body(name, stage_create=True, version=version)
    reply = arrange(catalog, "createTable", lambda: catalog.create_table(namespace, body))
    staged = Table(namespace, name, view.metadata_in(reply), None)
    first = creation_updates(staged.metadata)
    _expect_life_at_once(catalog, staged, send, first, [_ASSERT_CREATE])


@check("states.life-at-once", proves="states.life-at-once", group=Group.GENERATED)
def test_a_life_in_one_commit(catalog: Catalog) -> None:
    """One commit does what many do, one after the other."""
    _begin(catalog, by_update)


@check(
    "states.life-at-once-by-transaction",
    proves="states.life-at-once-by-transaction",
    group=Group.GENERATED,
)
def test_a_life_in_one_transaction(catalog: Catalog) -> None:
    """One change of a transaction does what many commits do, one after the other."""
    _begin(catalog, by_transaction)


@check(
    "states.created-at-once",
    proves="states.created-at-once",
    group=Group.GENERATED,
    needs=("stage-create",),
)
def test_a_table_created_with_its_life(catalog: Catalog) -> None:
    """The commit that makes a staged table exist may do all that later ones do."""
    _create(catalog, by_update)


@check(
    "states.created-at-once-by-transaction",
    proves="states.created-at-once-by-transaction",
    group=Group.GENERATED,
    needs=("stage-create",),
)
def test_a_table_created_with_its_life_by_a_transaction(catalog: Catalog) -> None:
    """The transaction that makes a staged table exist may do all that later commits do."""
    _create(catalog, by_transaction)
