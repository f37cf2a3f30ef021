"""Compares what an answer shows of a table or a view with what is due.

A comparison sends nothing: who asks the catalog, and when, is decided elsewhere.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from icecheck.client.catalog import Table
from icecheck.findings.shared_symptoms import (
    ANSWER_DIFFERS_FROM_LOAD,
    CHANGED_BESIDE,
    EFFECT_MISSING,
)
from icecheck.findings.symptoms import Symptom
from icecheck.objects import metadata_view
from icecheck.objects.edge_values import string_map
from icecheck.objects.reading import expect_answered_location
from icecheck.objects.views import MARK, View, settled_view
from icecheck.replies.expect import Reply, Violation
from icecheck.replies.matching import ABSENT, Matcher, difference, show

Json = dict[str, Any]

ANYTHING = Matcher("what the server chooses", lambda _: True)
"""The value of a due member that only the server knows."""
KEPT = {"icecheck.kept": "1", "icecheck.kept.too": "2"}
"""Properties that a table has before the changes and that no update names."""
ODD_KEPT = {"icecheck.Kept": "3", "icecheck.kept.empty": "", "icecheck.kept.blank": " "}
"""Further such properties, for catalogs that accept them."""
TURN = ("icecheck.added", "icecheck.turn")
"""Properties that checks set and remove in turn."""

OF_STEPS = ("icecheck.mark",)
"""Properties that the steps of histories set beside these."""

_WATCHED = (*KEPT, *ODD_KEPT, *string_map(), MARK, *TURN, *OF_STEPS)
"""The properties that are compared beside those that were to be set; a server may have others."""
_KEYED = (
    ("statistics", "snapshot-id"),
    ("partition-statistics", "snapshot-id"),
    ("encryption-keys", "key-id"),
)
_LOGS = ("metadata-log", "snapshot-log", "version-log")
_OF_A_VERSION = ("timestamp-ms", "summary")
_MEANT_AS_LEFT_OUT = frozenset(
    {"identifier-field-ids", "doc", "initial-default", "parent-snapshot-id", "encrypted-by-id"}
)
"""Members whose absence has a meaning, so that a catalog may not add them."""
_SHOWN_MAX = 3


def expect_shown(
    reply: Reply, before: Table | View, named: Json, what: str, *, symptom: Symptom | None = None
) -> Json:
    """Judge that an answer shows the named members as due, and all others unchanged.

    Returns the metadata of the answer. ``symptom`` is used for any difference; without it the
    symptom tells whether a named member or another one differs.
    """
    after = metadata_view.metadata_in(reply)
    kind = _KINDS[type(before)]
    # Joined so that metadata which failed its schema still tells of it when read.
    found = _compared(kind, before.metadata, before.metadata | named, after)
    if found and symptom:
        due, seen = f"the {kind.noun} as it is", "another one"
        raise reply.violation(symptom, due, seen, detail=_told(what, found))
    if found:
        raise _violation(kind, reply, what, found)
    return after


def expect_unaltered(reply: Reply, before: Table | View, symptom: Symptom, what: str) -> None:
    """Judge that an answer shows what an earlier one did."""
    kind = _KINDS[type(before)]
    after = metadata_view.metadata_in(reply)
    if found := _compared(kind, before.metadata, before.metadata, after):
        due, seen = f"the {kind.noun} as it was", f"a changed {kind.noun}"
        raise reply.violation(symptom, due, seen, detail=_told(what, found))


def expect_answer(answer: Reply, loaded: Table | View, what: str) -> None:
    """Judge that the answer to a change shows what a load did right after it, and names its file.

    ``loaded`` is the table or view as that load showed it. Unlike two loads at different times,
    both show the logs and times of one version; either may leave out the beginning of a log.
    """
    kind = _KINDS[type(loaded)]
    after = _with_few_snapshots(metadata_view.metadata_in(answer), loaded.metadata)
    found = _compared(kind, loaded.metadata, loaded.metadata, after)
    found += _differences_of_one_version(loaded.metadata, after)
    if found:
        raise answer.violation(
            ANSWER_DIFFERS_FROM_LOAD,
            f"the {kind.noun} as a load shows it",
            "another one",
            detail=_told(what, found),
            pointer=f"/metadata/{found[0].member}{found[0].pointer}",
        )
    told = answer.json().get("metadata-location")
    expect_answered_location(told, loaded.metadata_location, what)


# ---- what tables and views have of their own


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a comparison needs to know of tables, or of views.

    ``settled`` makes metadata comparable, with the properties that it gets; ``effect`` names what a
    difference is about, from the member and the pointer below it.
    """

    noun: str
    settled: Callable[[Json, Collection[str]], Json]
    effect: Callable[[str, str], str]


def _settled_table(metadata: Json, properties: Collection[str]) -> Json:
    """Return metadata in which equal tables compare equal, with lists of objects keyed by id."""
    seen = metadata_view.settled(metadata, *properties)
    for member, id_member in _KEYED:
        seen[member] = {str(item.get(id_member)): item for item in seen[member]}
    seen["schemas"] = {key: spelled(schema) for key, schema in seen["schemas"].items()}
    return seen


def spelled(type_: Any) -> Any:
    """Return a type in one spelling: primitives without blanks, identifier fields sorted."""
    if isinstance(type_, list):
        return [spelled(each) for each in type_]
    if not isinstance(type_, dict):
        return type_
    found = {key: spelled(value) for key, value in type_.items()}
    for key in ("type", "element", "key", "value"):
        if isinstance(found.get(key), str):
            found[key] = found[key].replace(" ", "")
    if isinstance(identifiers := found.get("identifier-field-ids"), list):
        found["identifier-field-ids"] = sorted(identifiers, key=str)
    return found


def innermost(member: str, pointer: str) -> str:
    """Return the innermost member name in a pointer below ``member``; numbers are not names.

    Nor are the keys of properties, which are a user's.
    """
    if member == "properties":
        return member
    steps = [member, *pointer.split("/")]
    return next(step for step in reversed(steps) if step and not step.isdecimal())


def _settled_view(metadata: Json, properties: Collection[str]) -> Json:
    """Return the same of a view, in which a server may spell all ids as it likes."""
    seen = settled_view(metadata, *properties)
    versions = {
        key: {**each, "schema-id": str(each["schema-id"])} for key, each in seen["versions"].items()
    }
    return {**seen, "current-version-id": str(seen["current-version-id"]), "versions": versions}


_PARTS_OF_VIEWS = {
    "schemas": "schema", "versions": "definition", "current-version-id": "definition"
}  # fmt: skip


def _part_of_a_view(member: str, _pointer: str) -> str:
    return f"view-{_PARTS_OF_VIEWS.get(member, member)}"


# Other checks use the same symptoms: a lost member has one cause, whatever request showed it.
_KINDS: Mapping[type, _Kind] = {
    Table: _Kind("table", _settled_table, innermost),
    View: _Kind("view", _settled_view, _part_of_a_view),
}


# ---- differences


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs of a member of metadata, below it at ``pointer``.

    ``beside``: it was to stay as it was. ``about`` is what the difference is about, as symptoms
    name it.
    """

    member: str
    pointer: str
    due: Any
    seen: Any
    beside: bool
    about: str = ""


def first_difference(
    kind: type[Table] | type[View], before: Json, due: Json, after: Json
) -> Difference | None:
    """Return how metadata differ from those that are due, if they do.

    What was to change comes before what was to stay as ``before``.
    """
    found = _compared(_KINDS[kind], before, due, after)
    if not found:
        return None
    first = next((each for each in found if not each.beside), found[0])
    pointer = "" if first.beside else first.pointer
    return replace(first, about=_KINDS[kind].effect(first.member, pointer))


def _violation(kind: _Kind, reply: Reply, what: str, found: Sequence[Difference]) -> Violation:
    first = next((each for each in found if not each.beside), found[0])
    if first.beside:
        symptom = CHANGED_BESIDE.of(kind.effect(first.member, ""))
        expected = "what was not named, as it was"
    else:
        symptom = EFFECT_MISSING.of(kind.effect(first.member, first.pointer))
        expected = "what was sent"
    return reply.violation(
        symptom,
        expected,
        "something else",
        detail=_told(what, found),
        pointer=f"/metadata/{first.member}{first.pointer}",
    )


def _told(what: str, found: Sequence[Difference]) -> str:
    shown = "; ".join(
        f"{each.member}{each.pointer} is {show(each.seen, 60)}, due is {show(each.due, 60)}"
        for each in found[:_SHOWN_MAX]
    )
    more = f" (and {len(found) - _SHOWN_MAX} more)" if len(found) > _SHOWN_MAX else ""
    return f"{what}: {shown}{more}"


def _compared(kind: _Kind, before: Json, due: Json, after: Json) -> list[Difference]:
    if _is_same(due, after):
        return []
    was = _properties(before)
    # Not those that are only in what was before: they may be the server's own.
    changed = [key for key, value in _properties(due).items() if was.get(key) != value]
    keys = dict.fromkeys((*_WATCHED, *changed))
    return [*_differences(*(kind.settled(each, keys) for each in (due, after, before)))]


def _properties(metadata: Json) -> Json:
    properties = metadata.get("properties")
    return properties if isinstance(properties, dict) else {}


def _is_same(due: Json, seen: Json) -> bool:
    """Return whether metadata are literally as due, which saves a full comparison."""
    texts = [
        json.dumps(
            {k: v for k, v in each.items() if k not in metadata_view.NOT_COMPARED},
            sort_keys=True,
            default=repr,
        )
        for each in (due, seen)
    ]
    return texts[0] == texts[1]


def _differences(due: Json, seen: Json, was: Json) -> Iterator[Difference]:
    """Yield the differences item by item; items that are new may have further members."""
    for member, wanted in due.items():
        if not isinstance(wanted, dict):
            if found := difference(wanted, seen[member], exact=True):
                pointer, one, other = found
                yield Difference(member, pointer, one, other, wanted == was[member])
            continue
        for key in {**wanted, **seen[member]}:
            named, shown = wanted.get(key, ABSENT), seen[member].get(key, ABSENT)
            is_old = was[member].get(key, ABSENT) == named
            if found := difference(named, shown, exact=is_old) or _made_up(named, shown):
                pointer, one, other = found
                yield Difference(member, f"/{key}{pointer}", one, other, is_old)


def _with_few_snapshots(answered: Json, loaded: Json) -> Json:
    """Leave out snapshots that a load leaves out, where it shows the current one only.

    A catalog may do that in loads, and answer what it stores to a commit.
    """
    shown = [each.get("snapshot-id") for each in loaded.get("snapshots") or ()]
    if any(each != loaded.get("current-snapshot-id") for each in shown):
        return answered
    kept = [s for s in answered.get("snapshots") or () if s.get("snapshot-id") in shown]
    return answered | {"snapshots": kept}


def _differences_of_one_version(due: Json, seen: Json) -> Iterator[Difference]:
    """Yield what differs although both are of one version: logs, and what versions of views say."""
    for log in _LOGS:
        one, other = (_entries(each.get(log)) for each in (due, seen))
        shared = min(len(one), len(other))
        if shared and one[-shared:] != other[-shared:]:
            yield Difference(log, "", one[-shared:], other[-shared:], beside=False)
    versions = [{str(v.get("version-id")): v for v in m.get("versions") or ()} for m in (due, seen)]
    for key in versions[0].keys() & versions[1].keys():
        for member in _OF_A_VERSION:
            one, other = (each[key].get(member) for each in versions)
            if None not in (one, other) and one != other:
                yield Difference("versions", f"/{key}/{member}", one, other, beside=False)


def _entries(log: Any) -> list[Any]:
    """Return the entries of a log, the files that they name without superfluous slashes."""
    return [
        {k: metadata_view.place(v) if k == "metadata-file" else v for k, v in entry.items()}
        for entry in log or ()
    ]


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
