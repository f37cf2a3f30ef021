"""Leads a table or a view through its stages and judges what a load shows after each."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import arrange, given_loaded
from icecheck.client.given import shared_namespace as given_home
from icecheck.conformance.states.stage_assertions import true_assertions
from icecheck.conformance.states.stages import Stage, grown, in_groups, in_order
from icecheck.conformance.states.table_stages import life_body, stages_of
from icecheck.findings.shared_symptoms import CHANGED_ALTHOUGH_REFUSED
from icecheck.findings.symptoms import Symptom
from icecheck.judging.probes import has_capability
from icecheck.objects import metadata_view as view
from icecheck.objects.after_updates import as_assigned, without_expired
from icecheck.objects.committing import Send, by_update, change_of, set_property
from icecheck.objects.comparing import expect_shown
from icecheck.objects.reading import not_applicable, refused
from icecheck.objects.round_trip import loaded_answer, shown_of, told
from icecheck.objects.views import View, replace_view
from icecheck.replies.expect import Reply
from icecheck.replies.matching import show
from icecheck.targets.target import Namespace

Json = dict[str, Any]
Thing = TypeVar("Thing", Table, View)
Commit = Callable[[Catalog, Thing, Sequence[Json], Sequence[Json]], Reply]
"""Commits updates to a table or a view with requirements."""

REFS = (("snapshots", "refs"),)
_LOADED_AFTER = 4
"""A table or a view is loaded after every so many stages, and in the end."""
_FIRST_VERSION = 2
_ANOTHER_UUID = "00000000-0000-4000-8000-000000000001"


@dataclass(frozen=True, slots=True)
class Step(Generic[Thing]):
    """A stage that was committed: what was there before and after it, the answer, and the load."""

    what: str
    ordinal: int
    before: Thing
    after: Thing
    updates: Sequence[Json]
    answer: Reply
    loaded: Reply


Visit = Callable[[Step[Thing]], Thing]
"""Judges a table or a view after a stage, and returns the one to continue with."""


@dataclass(frozen=True, slots=True)
class Kind(Generic[Thing]):
    """What the walk needs to know of tables, or of views.

    ``holds`` returns requirements of the n-th commit, which all hold. Where ``asserts_all``, a
    refusal may be due to them, which is then judged.
    """

    send: Commit[Thing]
    holds: Callable[[Catalog, Thing, int], Sequence[Json]]
    asserts_all: bool
    rename: str


def knows_refs(catalog: Catalog) -> bool:
    """Return whether a catalog offers refs besides main."""
    return any(has_capability(catalog, each) for each in ("branches", "tags"))


def _all_true(catalog: Catalog, table: Table, ordinal: int) -> Sequence[Json]:
    holds = true_assertions(table.metadata, besides_main=knows_refs(catalog))
    return holds if ordinal % 2 else holds[::-1]  # their order has no meaning


def _same_view(_: Catalog, view: View, ordinal: int) -> Sequence[Json]:
    # No requirement, or the same one twice, makes no difference.
    return [view.same] * (1, 2, 0)[ordinal % 3]


TABLES = Kind(by_update, _all_true, asserts_all=True, rename="renameTable")
VIEWS = Kind(replace_view, _same_view, asserts_all=False, rename="renameView")


# ---- the walk


def lead(
    catalog: Catalog,
    kind: Kind[Thing],
    thing: Thing,
    stages: Iterable[Stage],
    visit: Visit[Thing],
    send: Commit[Thing] | None = None,
    load: Callable[[Catalog, Thing], Reply] = loaded_answer,
) -> Thing:
    """Lead a table or a view through stages; send with each requirements that hold before it.

    Judges what it then shows and calls ``visit`` after that: what a load shows after every fourth
    stage and in the end, and otherwise the answer, if that shows what is due. A refused stage is
    skipped if its requirements were not the reason, or done in parts. Raises NotOffered if all were
    refused.
    """
    send, taken = send or kind.send, 0
    seen = False
    actions: set[str] = set()
    waiting = deque(stages)
    while waiting:
        stage = waiting.popleft()
        updates, due = grown(stage, in_order(thing.metadata))
        if not updates:
            continue
        holds = kind.holds(catalog, thing, taken)
        answer = send(catalog, thing, updates, holds)
        seen = True  # a load follows where it is refused
        sent = {update["action"] for update in updates}
        if not answer.ok:
            waiting.extendleft(reversed(stage.parts))
        if answer.status >= 500 and not sent <= actions:
            # A catalog may break down over an update that it does not know; each update has its own
            # check, which judges that.
            thing = shown_of(loaded_answer(catalog, thing), thing)
            continue
        if refused(answer, stage.what):
            if kind.asserts_all:
                _expect_held(catalog, thing, holds, stage.what, send)
            reply = loaded_answer(catalog, thing)
            expect_shown(reply, thing, {}, stage.what, symptom=CHANGED_ALTHOUGH_REFUSED)
            thing = shown_of(reply, thing)
            if stage.due:
                answer.expect(200, 204, detail=stage.what)
            continue
        actions |= sent
        taken += 1
        expect = partial(expect_grown, before=thing, due=due, what=stage.what)
        # One with its own way to load looks each time.
        by_answer = taken % _LOADED_AFTER and load is loaded_answer
        after = told(answer, expect) if by_answer else None
        reply = load(catalog, thing) if after is None else answer
        after = after or expect(reply)
        thing = visit(Step(stage.what, taken, thing, after, updates, answer, reply))
        seen = reply is not answer or thing is not after
    if taken and not seen:
        expect_shown(load(catalog, thing), thing, {}, "the last commit")
    if not taken:
        raise not_applicable("the catalog refuses every one of these commits")
    return thing


def expect_grown(reply: Reply, before: Thing, due: Json, what: str) -> Thing:
    """Judge that a load shows what is due after a commit; return it as the load shows it."""
    after = view.metadata_in(reply)
    due = without_expired(before.metadata, as_assigned(before.metadata, due, after), after)
    expect_shown(reply, before, due, what)
    return shown_of(reply, before)


def _expect_held(
    catalog: Catalog, thing: Thing, holds: Sequence[Json], what: str, send: Commit[Thing]
) -> None:
    """Judge that the requirements were not the reason of a refusal.

    Sends all requirements with an update that every catalog accepts; if that is refused too, sends
    each requirement alone, so that the finding names the one that fails.
    """
    harmless = [set_property("1")]
    if (refusal := send(catalog, thing, harmless, holds)).ok:
        return
    for each in holds:
        told = f"{show(each)}, which holds, before {what}"
        send(catalog, thing, harmless, [each]).expect(200, 204, detail=told)
    told = f"all assertions together, which hold, before {what}"
    refusal.expect(200, 204, detail=told)


def renamed(
    catalog: Catalog,
    kind: Kind[Thing],
    thing: Thing,
    what: str,
    namespace: Namespace | None = None,
) -> tuple[Thing, Reply | None]:
    """Rename a table or a view; return it as a load then shows it, and that load.

    Returns the same one and None where the catalog does not rename it.
    """
    if not catalog.claims(kind.rename):
        return thing, None
    new = replace(thing, namespace=namespace or thing.namespace, name=catalog.new_name())
    ends = {"source": thing.identifier, "destination": new.identifier}
    if refused(catalog.call(kind.rename, body=ends), f"a rename after {what}"):
        return thing, None
    reply = loaded_answer(catalog, new)
    return shown_of(reply, new), reply


def expect_only_moved(reply: Reply, before: Thing, what: str, symptom: Symptom) -> None:
    """Judge that a rename has changed nothing but the location."""
    named = {"location": view.metadata_in(reply).get("location")}
    expect_shown(reply, before, named, what, symptom=symptom)


# ---- tables, and ways to commit to them


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


def live(
    catalog: Catalog,
    table: Table,
    visit: Visit[Table],
    send: Send = by_update,
    *,
    group_size: int = 1,
    load: Callable[[Catalog, Table], Reply] = loaded_answer,
) -> Table:
    """Lead a table through all its stages, of which ``group_size`` are one commit."""
    return lead(
        catalog, TABLES, table, in_groups(stages_of(catalog), group_size), visit, send, load
    )


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
    """Return a way to commit that changes to the next of these ways with each state of a table.

    In one state it stays the same way, so that a refusal can be looked into.
    """
    ways = deque(sends)
    last: Table | None = None

    def send(
        catalog: Catalog, table: Table, updates: Sequence[Json], assertions: Sequence[Json]
    ) -> Reply:
        nonlocal last
        if last is not None and table is not last:
            ways.rotate(-1)
        last = table
        return ways[0](catalog, table, updates, assertions)

    return send


def by_transaction_after(another: Table) -> Send:
    """Return a way to commit by a transaction that first makes the updates to another table."""

    def send(
        catalog: Catalog, table: Table, updates: Sequence[Json], assertions: Sequence[Json]
    ) -> Reply:
        changes = [change_of(another, updates, ()), change_of(table, updates, assertions)]
        return catalog.commit_transaction(changes)

    return send
