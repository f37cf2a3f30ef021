"""Sends changes of a table, and judges that a load then shows them and all else as it was."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_loaded, given_table, shared_object
from icecheck.findings.shared_symptoms import CHANGED_ALTHOUGH_REFUSED, CHANGED_BESIDE
from icecheck.findings.symptoms import Symptom
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import commit
from icecheck.objects.comparing import KEPT, expect_answer, expect_shown, expect_unaltered
from icecheck.objects.reading import not_applicable, refused
from icecheck.objects.views import View
from icecheck.replies.expect import Blocked, Reply, Violation
from icecheck.targets.target import Namespace

_SEVERAL = 2
_SHOWN_MAX = 3

Json = dict[str, Any]
Thing = TypeVar("Thing", Table, View)

REQUESTS_MAX = 54
"""After this many requests a check starts no further commit; at most a few loads follow."""


@dataclass(frozen=True, slots=True)
class Change:
    """The updates of one commit, and what a load must show after it.

    ``named`` gets the metadata before and after the commit and returns the changed members as they
    must be; it may take only server-assigned values from *after*. ``parts`` are sent instead if the
    commit is refused. A ``plain`` commit names only existing things and must be accepted.
    """

    what: str
    updates: Sequence[Json]
    named: Callable[[Json, Json], Json]
    parts: "tuple[Make, ...]" = ()
    plain: bool = False


Make = Callable[[Table], Change | None]
"""Makes a change for the current table, or returns None if the table has nothing to change."""


def together(*makes: Make) -> Make:
    """Return what makes these changes in one commit, in order; alone they are its parts.

    Only changes whose effects all show in the end belong together: no later one may hide what an
    earlier one has done.
    """

    def make(table: Table) -> Change | None:
        changes: list[Change] = []
        for each in makes:
            change = each(table)
            if change is not None:
                changes.append(change)
                # The ids are as sent: until the answer is there nobody knows others.
                due = change.named(table.metadata, table.metadata)
                table = replace(table, metadata={**table.metadata, **due})

        def named(before: Json, after: Json) -> Json:
            due: Json = {}
            for change in changes:
                due |= change.named({**before, **due}, after)
            return due

        if len(changes) < _SEVERAL:
            return changes[0] if changes else None
        whats = [*dict.fromkeys(change.what for change in changes)]
        more = f" and {len(whats) - _SHOWN_MAX} more" if len(whats) > _SHOWN_MAX else ""
        what = f"{', '.join(whats[:_SHOWN_MAX])}{more}"
        return Change(what, [u for change in changes for u in change.updates], named, makes)

    return make


def given_bystander(catalog: Catalog) -> Table:
    """Return the table, as loaded, that checks of changes share: no request of theirs names it.

    A check that takes it judges at its end that it is as it was (``expect_bystander``).
    """

    def make(maker: Catalog, namespace: Namespace) -> Table:
        properties = {key: f"not {value}" for key, value in KEPT.items()}
        return given_loaded(maker, given_table(maker, namespace, properties=properties))

    return shared_object(catalog, "bystander", make)


def judge_changes(catalog: Catalog, table: Table, changes: Iterable[Make]) -> Table:
    """Make the changes one by one to a table as loaded, and judge what it then shows.

    After every third change and the last one a load shows it, and otherwise the answer, or a load
    where the answer shows something else. A refusal is fine if nothing has changed; the parts of
    the change are then sent. Raises NotOffered if all changes were refused.
    """
    bystander = given_bystander(catalog)
    waiting, taken = deque(changes), 0
    while waiting and len(catalog.exchanges) < REQUESTS_MAX:
        change = waiting.popleft()(table)
        if change is None:
            continue
        reply = commit(catalog, table, change.updates)
        if change.plain:
            reply.expect(200, detail=change.what)
        if refused(reply, change.what):
            waiting.extend(change.parts)  # sent after all whole updates
            expect_as_before(catalog, table, CHANGED_ALTHOUGH_REFUSED, change.what)
            continue
        taken += 1
        seen = _told(table, change, reply) if taken % 3 and waiting else None
        table = seen or _expect_after(catalog, table, change, reply)
    expect_bystander(catalog, bystander)
    if not taken:
        raise not_applicable("the catalog refuses every one of these updates")
    return table


def loaded_answer(catalog: Catalog, thing: Table | View) -> Reply:
    """Load a table or a view that must exist."""
    load = catalog.load_view if isinstance(thing, View) else catalog.load_table
    return load(thing.namespace, thing.name).expect(200)


def shown_of(reply: Reply, thing: Thing) -> Thing:
    """Return a table or a view as an answer shows it."""
    location = reply.json().get("metadata-location")
    return replace(thing, metadata=view.metadata_in(reply), metadata_location=location)


def expect_as_before(
    catalog: Catalog,
    before: Table,
    symptom: Symptom,
    what: str,
    query: Sequence[tuple[str, str]] = (),
) -> None:
    """Judge that a load with this query shows a table as an earlier load did."""
    reply = catalog.load_table(before.namespace, before.name, query=query).expect(200)
    expect_unaltered(reply, before, symptom, what)


def expect_bystander(catalog: Catalog, bystander: Table | View) -> None:
    """Judge that the bystander, a table or a view, is unchanged."""
    noun = "view" if isinstance(bystander, View) else "table"
    what, symptom = f"a {noun} that no request named", CHANGED_BESIDE.of(f"another-{noun}")
    expect_unaltered(loaded_answer(catalog, bystander), bystander, symptom, what)


def told(answer: Reply, judge: Callable[[Reply], Thing]) -> Thing | None:
    """Return what an answer to a commit shows if it shows what is due, and None otherwise.

    A load has to tell then: what an answer leaves out is another finding than what is lost.
    """
    if answer.exchange.operation not in {"updateTable", "replaceView"}:
        return None
    try:
        shown = judge(answer)
    except (Violation, Blocked):
        return None
    return shown if shown.metadata_location is not None else None


def _told(before: Table, change: Change, answer: Reply) -> Table | None:
    def judge(reply: Reply) -> Table:
        named = change.named(dict(before.metadata), view.metadata_in(reply))
        expect_shown(reply, before, named, change.what)
        return shown_of(reply, before)

    return told(answer, judge)


def _expect_after(catalog: Catalog, before: Table, change: Change, answer: Reply) -> Table:
    reply = loaded_answer(catalog, before)
    named = change.named(dict(before.metadata), view.metadata_in(reply))
    expect_shown(reply, before, named, change.what)
    after = shown_of(reply, before)
    expect_answer(answer, after, change.what)
    return after
