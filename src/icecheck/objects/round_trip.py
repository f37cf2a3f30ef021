"""Judges round trips: a load shows what was sent, and everything else is unchanged."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import arrange, given_loaded
from icecheck.findings.shared_symptoms import (
    CHANGED_ALTHOUGH_REFUSED,
    CHANGED_BESIDE,
    EFFECT_MISSING,
)
from icecheck.findings.statuses import ANY_SUCCESS_OR_4XX
from icecheck.findings.symptoms import Symptom
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import commit
from icecheck.objects.edge_values import string_map
from icecheck.objects.reading import not_applicable
from icecheck.replies.expect import ABSENT, Reply, Violation, difference, show

__all__ = [
    "KEPT",
    "ODD_KEPT",
    "Change",
    "Make",
    "expect_as_before",
    "expect_bystander",
    "expect_shown",
    "given_bystander",
    "innermost",
    "judge_changes",
    "refused",
    "together",
]

Json = dict[str, Any]

KEPT = {"icecheck.kept": "1", "icecheck.kept.too": "2"}
"""Properties that a table has before the changes and that no update names."""
ODD_KEPT = {"icecheck.Kept": "3", "icecheck.kept.empty": "", "icecheck.kept.blank": " "}
"""Further such properties, for catalogs that accept them."""
REQUESTS_MAX = 54
"""After this many requests a check starts no further commit; at most a few loads follow."""

_WATCHED = (*KEPT, *ODD_KEPT, *string_map())
_KEYED = (
    ("statistics", "snapshot-id"),
    ("partition-statistics", "snapshot-id"),
    ("encryption-keys", "key-id"),
)
_OF_ITS_TIME = frozenset({"last-updated-ms", "metadata-log", "snapshot-log"})
"""Members that are not compared, because they change with time."""
_MEANT_AS_LEFT_OUT = frozenset(
    {"identifier-field-ids", "doc", "initial-default", "parent-snapshot-id", "encrypted-by-id"}
)
"""Members whose absence has a meaning, so that a catalog may not add them."""
_SHOWN_MAX = 3


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


_SEVERAL = 2


def given_bystander(catalog: Catalog, table: Table) -> Table:
    """Make a table beside another one; its name matches the other's name read as a LIKE pattern."""
    head, _, tail = table.name.rpartition("_")
    name = f"{head}x{tail}"
    properties = {key: f"not {value}" for key, value in KEPT.items()}
    body = bodies.create_table_body(name, properties=properties)
    reply = arrange(catalog, "createTable", lambda: catalog.create_table(table.namespace, body))
    made = Table(table.namespace, name, view.metadata_in(reply), None)
    return given_loaded(catalog, made)


def judge_changes(catalog: Catalog, table: Table, changes: Iterable[Make]) -> Table:
    """Make the changes one by one to a table as loaded, and judge what a load shows after each.

    A refusal is fine if nothing has changed; the parts of the change are then sent. Raises
    NotOffered if all changes were refused.
    """
    bystander = given_bystander(catalog, table)
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
        table = _expect_after(catalog, table, change)
    expect_bystander(catalog, bystander)
    if not taken:
        raise not_applicable("the catalog refuses every one of these updates")
    return table


def refused(reply: Reply, what: str) -> bool:
    """Return whether an odd request was refused (4xx or 501); raise Violation for other errors."""
    if reply.ok:
        return False
    if 400 <= reply.status < 500 or reply.status == 501:
        return True
    raise reply.wrong_status(ANY_SUCCESS_OR_4XX, detail=f"sent {what}")


def expect_as_before(
    catalog: Catalog,
    before: Table,
    symptom: Symptom,
    what: str,
    query: Sequence[tuple[str, str]] = (),
) -> None:
    """Judge that a load with this query shows a table as an earlier load did."""
    reply = catalog.load_table(before.namespace, before.name, query=query).expect(200)
    after = view.metadata_in(reply)
    if _is_same(before.metadata, after):
        return
    was, seen = _shown(before.metadata), _shown(after)
    if found := [*_differences(was, seen, was)]:
        raise reply.violation(
            symptom, "the table as it was", "a changed table", detail=_told(what, found)
        )


def expect_bystander(catalog: Catalog, bystander: Table) -> None:
    """Judge that the bystander table is unchanged."""
    what = "a table that no request named"
    expect_as_before(catalog, bystander, CHANGED_BESIDE.of("another-table"), what)


def expect_shown(
    reply: Reply, before: Table, named: Json, what: str, *, symptom: Symptom | None = None
) -> Json:
    """Judge that an answer shows the named members as due, and all others unchanged.

    Returns the metadata of the answer. ``symptom`` is used for any difference; without it the
    symptom tells whether a named member or another one differs.
    """
    after = view.metadata_in(reply)
    whole = {**before.metadata, **named}
    if _is_same(whole, after):
        return after
    due, was = _shown(whole), _shown(before.metadata)
    found = [*_differences(due, _shown(after), was)]
    if found and symptom:
        told = _told(what, found)
        raise reply.violation(symptom, "the table as it is", "another one", detail=told)
    if found:
        raise _violation(reply, what, found)
    return after


def _expect_after(catalog: Catalog, before: Table, change: Change) -> Table:
    reply = catalog.load_table(before.namespace, before.name).expect(200)
    named = change.named(dict(before.metadata), view.metadata_in(reply))
    after = expect_shown(reply, before, named, change.what)
    return Table(before.namespace, before.name, after, reply.json().get("metadata-location"))


@dataclass(frozen=True, slots=True)
class _Difference:
    member: str
    pointer: str
    due: Any
    seen: Any
    beside: bool


def _violation(reply: Reply, what: str, found: Sequence[_Difference]) -> Violation:
    first = next((each for each in found if not each.beside), found[0])
    if first.beside:
        symptom, expected = CHANGED_BESIDE.of(first.member), "what was not named, as it was"
    else:
        # The symptom that other checks use: a lost member has one cause, whatever request showed
        # it.
        leaf = innermost(first.member, first.pointer)
        symptom, expected = EFFECT_MISSING.of(leaf), "what was sent"
    return reply.violation(
        symptom,
        expected,
        "something else",
        detail=_told(what, found),
        pointer=f"/metadata/{first.member}{first.pointer}",
    )


def innermost(member: str, pointer: str) -> str:
    """Return the innermost member name in a pointer below ``member``; numbers are not names."""
    steps = [member, *pointer.split("/")]
    return next(step for step in reversed(steps) if step and not step.isdecimal())


def _told(what: str, found: Sequence[_Difference]) -> str:
    shown = "; ".join(
        f"{each.member}{each.pointer} is {show(each.seen, 60)}, due is {show(each.due, 60)}"
        for each in found[:_SHOWN_MAX]
    )
    more = f" (and {len(found) - _SHOWN_MAX} more)" if len(found) > _SHOWN_MAX else ""
    return f"{what}: {shown}{more}"


def _is_same(due: Json, seen: Json) -> bool:
    """Return whether metadata are literally as due, which saves a full comparison."""
    texts = [
        json.dumps({k: v for k, v in each.items() if k not in _OF_ITS_TIME}, sort_keys=True)
        for each in (due, seen)
    ]
    return texts[0] == texts[1]


def _shown(metadata: Any) -> Json:
    """Return metadata in which equal tables compare equal, with lists of objects keyed by id."""
    seen = view.settled(metadata, *_WATCHED)
    for member, id_member in _KEYED:
        seen[member] = {str(item.get(id_member)): item for item in seen[member]}
    seen["schemas"] = {key: _spelled(schema) for key, schema in seen["schemas"].items()}
    return seen


def _spelled(type_: Any) -> Any:
    """Return a type in one spelling: primitives without blanks, identifier fields sorted."""
    if isinstance(type_, list):
        return [_spelled(each) for each in type_]
    if not isinstance(type_, dict):
        return type_
    spelled = {key: _spelled(value) for key, value in type_.items()}
    for key in ("type", "element", "key", "value"):
        if isinstance(spelled.get(key), str):
            spelled[key] = spelled[key].replace(" ", "")
    if isinstance(identifiers := spelled.get("identifier-field-ids"), list):
        spelled["identifier-field-ids"] = sorted(identifiers, key=str)
    return spelled


def _differences(due: Json, seen: Json, was: Json) -> Iterator[_Difference]:
    """Yield the differences item by item; items that are new may have further members."""
    for member, wanted in due.items():
        if not isinstance(wanted, dict):
            if found := difference(wanted, seen[member], exact=True):
                pointer, one, other = found
                yield _Difference(member, pointer, one, other, wanted == was[member])
            continue
        for key in {**wanted, **seen[member]}:
            named, shown = wanted.get(key, ABSENT), seen[member].get(key, ABSENT)
            is_old = was[member].get(key, ABSENT) == named
            if found := difference(named, shown, exact=is_old) or _made_up(named, shown):
                pointer, one, other = found
                yield _Difference(member, f"/{key}{pointer}", one, other, is_old)


def _made_up(due: Any, seen: Any, pointer: str = "") -> tuple[str, Any, Any] | None:
    """Return the first added member whose absence has a meaning, as ``difference`` does."""
    if isinstance(due, list) and isinstance(seen, list):
        pairs = [(str(at), *each) for at, each in enumerate(zip(due, seen, strict=False))]
    elif isinstance(due, dict) and isinstance(seen, dict):
        for key in _MEANT_AS_LEFT_OUT & (seen.keys() - due.keys()):
            if seen[key] not in (None, "", []):
                return f"{pointer}/{key}", ABSENT, seen[key]
        pairs = [(key, due[key], seen[key]) for key in due.keys() & seen.keys()]
    else:
        return None
    found = (_made_up(one, other, f"{pointer}/{key}") for key, one, other in pairs)
    return next((each for each in found if each), None)
