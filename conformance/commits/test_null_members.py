"""Checks that null for an optional member of a commit means that the member is left out.

The document allows no null in these places, so that a catalog may refuse it. One that accepts it
must not make a value of it: a request with the member left out is sent too, and shows what is due.
"""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_snapshot, given_table
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.findings.statuses import ANY_SUCCESS_OR_4XX
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import generated_check
from icecheck.judging.probes import has_capability
from icecheck.objects.evolving import schema_addition, wider_schema
from icecheck.objects.metadata_view import metadata_in
from icecheck.objects.reading import not_applicable
from icecheck.objects.round_trip import shown_of
from icecheck.objects.views import (
    FIRST_SQL,
    VIEW_SCHEMA,
    add_version,
    given_view,
    set_current_version,
)
from icecheck.replies.expect import Reply, Violation
from icecheck.replies.matching import show
from icecheck.targets.target import Namespace

_NULL_IS_A_VALUE = declare(
    "null-is-a-value",
    "Takes null for an optional member as a value, not as one that is left out",
    Severity.FALSE_OR_LOST,
    values_in_title=False,
)

Json = dict[str, Any]

_LAST_ADDED = -1
_AGES = ("max-ref-age-ms", "max-snapshot-age-ms", "min-snapshots-to-keep")
_OF_A_SCHEMA = ("identifier-field-ids", "doc")
_ABSENT: tuple[Any, ...] = (None, [], "")


@dataclass(frozen=True, slots=True)
class _Twins:
    """Two requests that differ in nulls only.

    ``make`` returns the body of one, with a name of its own in it, and with null for these members;
    ``seen`` reads from the metadata of an answer what has become of them, or None if it does not
    show the object of that name.
    """

    what: str
    members: tuple[str, ...]
    make: Callable[[str, Json], Json]
    seen: Callable[[Json, str], Any]


def _judge(catalog: Catalog, every: Iterable[_Twins], send: Callable[[Json], Reply]) -> None:
    """Judge that each second twin that is accepted does what the first one does.

    Null is the reason only if the first twin, sent once more after the second one, does it again.
    """

    def sent(twins: _Twins, *members: str) -> tuple[Reply, Any]:
        name = catalog.new_name()
        reply = send(twins.make(name, dict.fromkeys(members)))
        return reply, twins.seen(metadata_in(reply), name) if reply.ok else None

    accepted = 0
    for twins in every:
        _, due = sent(twins)
        if due is None:
            continue
        reply, found = sent(twins, *twins.members)
        refused = 400 <= reply.status < 500 or reply.status == 501
        if not refused and found != due:
            blamed = twins.members
            for member in twins.members if len(twins.members) > 1 else ():
                alone, by_member = sent(twins, member)
                if by_member != due and (alone.ok or alone.status == reply.status):
                    reply, found, blamed = alone, by_member, (member,)
                    break
            if sent(twins)[1] == due:
                raise _null_is_a_value(reply, twins.what, blamed, found, due)
        elif not refused:
            accepted += 1
    if not accepted:
        raise not_applicable("the catalog refuses null for what is optional")


def _null_is_a_value(
    reply: Reply, what: str, members: Iterable[str], found: Any, due: Any
) -> Violation:
    sent = f"null for {', '.join(members)} of {what}"
    if not reply.ok:
        return reply.wrong_status(ANY_SUCCESS_OR_4XX, detail=f"sent {sent}")
    lost = EFFECT_MISSING.of(what.removeprefix("a ").replace(" ", "-"))
    return reply.violation(
        lost if found is None else _NULL_IS_A_VALUE,
        "what it is without these members",
        "something else",
        detail=f"{sent}: {show(found, 80)}, due is {show(due, 80)}",
    )


def _values(shown: Json, members: Iterable[str]) -> list[Any]:
    """Return the values of members, None for those that say nothing."""
    found = [shown.get(member) for member in members]
    return [None if each in _ABSENT else each for each in found]


def _only(nulls: Json, *members: str) -> Json:
    return {member: None for member in members if member in nulls}


def _with_nulls(schema: Json, nulls: Json) -> Json:
    """Return a schema with nulls of its own, and one in the last of its columns."""
    *fields, last = schema["fields"]
    return {
        **schema,
        **_only(nulls, "identifier-field-ids"),
        "fields": [*fields, last | _only(nulls, "doc")],
    }


def _column(metadata: Json, name: str) -> Any:
    """Return what the schema with a column of this name says where nulls were sent."""
    for schema in metadata.get("schemas") or ():
        for field in schema.get("fields", ()):
            if field.get("name") == name:
                return [*_values(schema, ["identifier-field-ids"]), *_values(field, ["doc"])]
    return None


# ---- commits to a table


@generated_check("updateTable.null-is-absent")
def test_nulls_in_commits_to_tables(catalog: Catalog) -> None:
    """A commit with nulls for what is optional is refused, or does what it does without them."""
    table = given_table(catalog)
    if has_capability(catalog, "metadata-only-snapshots"):
        table = given_snapshot(catalog, table)
    state = [table]

    def send(body: Json) -> Reply:
        names: dict[str, str | Namespace] = {"namespace": table.namespace, "table": table.name}
        reply = catalog.call("updateTable", names, body={"requirements": [], **body})
        if reply.ok:
            state[0] = shown_of(reply, table)
        return reply

    _judge(catalog, _of_tables(state), send)


def _of_tables(state: list[Table]) -> list[_Twins]:
    """Return twins for a table, of which ``state`` has the present one."""
    widths = itertools.count(3)

    def schema(name: str, nulls: Json) -> Json:
        made = _with_nulls(wider_schema(state[0], name), nulls)
        added = schema_addition(state[0].metadata, made)
        return {"updates": [added | _only(nulls, "last-column-id")]}

    def spec(name: str, nulls: Json) -> Json:
        # A spec that is like another one may stand for it.
        field = bodies.partition_field(1, f"bucket[{next(widths)}]", name)
        made = {"fields": [field | _only(nulls, "field-id")], **_only(nulls, "spec-id")}
        return {"updates": [{"action": "add-spec", "spec": made}]}

    def branch(name: str, nulls: Json) -> Json:
        current = int(state[0].metadata.get("current-snapshot-id") or 0)
        return {"updates": [bodies.snapshot_ref(current, name) | nulls]}

    def identifier(name: str, nulls: Json) -> Json:
        return {"updates": [bodies.set_properties({name: "1"})]} | nulls

    return [
        _Twins("a commit", ("identifier",), identifier, lambda m, n: m["properties"].get(n)),
        _Twins("a schema", (*_OF_A_SCHEMA, "last-column-id"), schema, _column),
        _Twins("a partition spec", ("spec-id", "field-id"), spec, _partition),
        _Twins("a branch", _AGES, branch, _branch),
    ]


def _partition(metadata: Json, name: str) -> Any:
    for spec in metadata.get("partition-specs") or ():
        for field in spec.get("fields", ()):
            if field.get("name") == name:
                return field.get("source-id")
    return None


def _branch(metadata: Json, name: str) -> Any:
    ref = (metadata.get("refs") or {}).get(name)
    return None if ref is None else [ref.get("type"), *_values(ref, _AGES)]


# ---- views


def _of_views(make: Callable[[str, Json, Json, Json], Json], top: tuple[str, ...]) -> list[_Twins]:
    """Return twins that differ at the top of the body, in the version or in the schema."""
    return [
        _Twins("a view", top, lambda name, nulls: make(name, nulls, {}, {}), _definition),
        _Twins(
            "a version of a view",
            ("default-catalog",),
            lambda name, nulls: make(name, {}, nulls, {}),
            _definition,
        ),
        _Twins(
            "a view's schema",
            _OF_A_SCHEMA,
            lambda name, nulls: make(name, {}, {}, nulls),
            _definition,
        ),
    ]


def _definition(metadata: Json, name: str) -> Any:
    """Return what a view with a column of this name says where nulls were sent."""
    current = metadata.get("current-version-id")
    versions = [v for v in metadata.get("versions") or () if v.get("version-id") == current]
    column = _column(metadata, name)
    if not versions or column is None:
        return None
    return [*column, *_values(versions[0], ["default-catalog"]), bool(metadata.get("location"))]


def _columns(name: str, nulls: Json) -> Json:
    first, second = VIEW_SCHEMA["fields"]
    return _with_nulls(bodies.schema(first, second | {"name": name}), nulls)


@generated_check("replaceView.null-is-absent")
def test_nulls_in_commits_to_views(catalog: Catalog) -> None:
    """A commit with nulls for what is optional is refused, or does what it does without them."""
    view = given_view(catalog)
    state = [view]

    def make(name: str, top: Json, version: Json, schema: Json) -> Json:
        added = add_version(state[0], FIRST_SQL, schema_id=_LAST_ADDED)
        updates = [
            {"action": "add-schema", "schema": _columns(name, schema)},
            added | {"view-version": added["view-version"] | version},
            set_current_version(_LAST_ADDED),
        ]
        return {"updates": updates} | top

    def send(body: Json) -> Reply:
        names: dict[str, str | Namespace] = {"namespace": view.namespace, "view": view.name}
        reply = catalog.call("replaceView", names, body=body)
        if reply.ok:
            state[0] = shown_of(reply, view)
        return reply

    _judge(catalog, _of_views(make, ("identifier", "requirements")), send)
