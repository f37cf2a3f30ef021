"""Confines generated requests to the run: every name in them is in the run's own namespace."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from icecheck.client.catalog import NO_BODY
from icecheck.conformance.generated.flaws import Flaw
from icecheck.conformance.generated.generation import ANOTHER_LISTS_TOKEN, GeneratedCase
from icecheck.conformance.generated.live_values import with_values
from icecheck.conformance.generated.sample_values import TABLE_LOCATION, TABLE_TIME
from icecheck.contract import Contract
from icecheck.contract import Place as Named
from icecheck.replies.schema import schema_judge
from icecheck.targets.target import Namespace

Json = Any


@dataclass(frozen=True, slots=True)
class Place:
    """The objects of one check that its requests may name.

    ``base`` is the first part of every namespace path of the run, ``namespace`` exists, and
    ``table``, if not empty, is a table or view that exists in it. ``location`` and
    ``metadata_location`` are the table's, ``updated_ms`` is the time of its last change in epoch
    milliseconds. ``parent`` is the namespace as a query value, ``warehouse`` the one that the user
    named. ``another_lists_token`` is a page token that another list has given. ``new_name`` returns
    a name with the run's token. ``live`` are the values of placeholders in drawn bodies.
    """

    base: Namespace
    namespace: Namespace
    parent: str
    new_name: Callable[[], str]
    contract: Contract
    table: str = ""
    location: str = ""
    metadata_location: str = ""
    updated_ms: int = 0
    warehouse: str | None = None
    another_lists_token: str | None = None
    live: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConfinedRequest:
    """A generated request as it is sent; ``names`` fill the path, ``body`` is passed to call()."""

    case: GeneratedCase
    names: Mapping[str, str | Namespace]
    query: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]
    body: Json


def confine(case: GeneratedCase, place: Place) -> ConfinedRequest | None:
    """Rewrite every name in a case so that it lies in the place.

    A value that is no name (a number in place of a name) cannot be rewritten: such a request is
    only made when our validator refuses its body. Returns None when a case may not be sent, when
    the rewriting has made it valid or invalid, or when a catalog could read a namespace that is
    somebody else's out of it.
    """
    body: Json = NO_BODY
    if place.another_lists_token is None and ANOTHER_LISTS_TOKEN in dict(case.query).values():
        return None
    if case.has_body:
        try:
            confined = _confined_body(case, place)
        except _Unconfined:
            return None
        body = _filled(with_values(confined, place.live), place)
        valid = schema_judge(place.contract).request_is_valid(case.operation_id, body)
        if valid != (case.flawed_part != "body" or case.cut_off):
            return None
        if case.cut_off:
            encoded = json.dumps(body).encode()
            body = encoded[: len(encoded) // 2]
    return ConfinedRequest(
        case=case,
        names=_names(case.operation_id, place),
        query=_confined_query(case, place),
        headers=dict(case.headers),
        body=body,
    )


class _Unconfined(Exception):
    """A value in the place of a namespace that a lenient catalog takes for a name: 7, true."""


def _names(operation_id: str, place: Place) -> dict[str, str | Namespace]:
    names: dict[str, str | Namespace] = {
        "namespace": place.namespace,
        "table": place.table,
        "view": place.table,
    }
    if "{plan-id}" in place.contract.operations[operation_id].path:
        names["plan-id"] = place.new_name()
    return names


def _confined_query(case: GeneratedCase, place: Place) -> tuple[tuple[str, str], ...]:
    replaced = {"parent": place.parent, "warehouse": place.warehouse}
    tokens = {ANOTHER_LISTS_TOKEN: place.another_lists_token or ""}
    kept = [(k, tokens.get(v, v)) for k, v in case.query if k not in replaced]
    if case.operation_id == "listNamespaces":
        # Without a parent this would list the namespaces of others.
        kept.append(("parent", place.parent))
    if case.operation_id == "getConfig" and place.warehouse is not None:
        kept.append(("warehouse", place.warehouse))
    if case.flaw is Flaw.MISTYPED and any(k == "pageSize" for k, _ in kept):
        kept.append(("pageToken", ""))  # pageSize has an effect only with pageToken
    return tuple(kept)


def _confined_body(case: GeneratedCase, place: Place) -> Json:
    body = _copied(case.body)
    if not isinstance(body, dict):
        return body
    for named in place.contract.operations[case.operation_id].facts.names:
        _confine_names(named, body, place)
    # The remaining members are locations, and names that no object is made or found by.
    _rewrite(body, "location", lambda v: _name(v, f"{place.location}_{place.new_name()}"))
    _rewrite(body, "metadata-location", lambda v: _name(v, place.metadata_location))
    _confine_version(body, place)
    full_name = ".".join((*place.namespace, place.table))
    _rewrite(body, "table-name", lambda v: _name(v, full_name))
    return body


def _copied(value: Json) -> Json:
    """Copy a JSON value; parts that two places share, as the ends of a rename, become two."""
    match value:
        case dict():
            return {key: _copied(each) for key, each in value.items()}
        case list():
            return [_copied(each) for each in value]
    return value


def _confine_names(named: Named, body: dict[str, Json], place: Place) -> None:
    match named:
        case Named.PATH | Named.PARENT:
            pass  # these are not in the body
        case Named.NAMESPACE:
            _rewrite(body, "namespace", lambda v: _new_namespace(v, place))
        case Named.NAME:
            _rewrite(body, "name", lambda v: _name(v, place.new_name()))
        case Named.SOURCE:
            _rewrite(body, "source", lambda v: _identifier(v, place, place.table))
        case Named.DESTINATION:
            _rewrite(body, "destination", lambda v: _identifier(v, place, place.new_name()))
        case Named.IDENTIFIER:
            _confine_commit(body, place)
        case Named.TABLE_CHANGES:
            for change in _objects(body.get("table-changes")):
                _confine_commit(change, place)


def _confine_commit(body: dict[str, Json], place: Place) -> None:
    _rewrite(body, "identifier", lambda v: _identifier(v, place, place.table))
    for update in _objects(body.get("updates")):
        _rewrite(update, "location", lambda v: _name(v, place.location))
        _confine_version(update, place)


def _confine_version(body: dict[str, Json], place: Place) -> None:
    for version in _objects([body.get("view-version")]):
        _rewrite(version, "default-namespace", lambda v: _existing_namespace(v, place))


def _rewrite(body: dict[str, Json], member: str, rewritten: Callable[[Json], Json]) -> None:
    if member in body:
        body[member] = rewritten(body[member])


def _objects(value: Json) -> list[dict[str, Json]]:
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def _name(value: Json, name: str) -> Json:
    return name if isinstance(value, str) else value


def _identifier(value: Json, place: Place, name: str) -> Json:
    if isinstance(value, dict):
        _rewrite(value, "namespace", lambda v: _existing_namespace(v, place))
        _rewrite(value, "name", lambda v: _name(v, name))
        return value
    return _name(value, name)


def _existing_namespace(value: Json, place: Place) -> Json:
    match value:
        case str():
            return place.new_name()  # not a valid namespace, but not one of others
        case list():
            return [*place.namespace, *_no_names(value)]
    return _no_namespace(value)


def _no_namespace(value: Json) -> Json:
    """Return a value that no catalog takes for a namespace, as what is nothing in most languages.

    A namespace of one level that is called "7" or "true" would lie outside of the run.
    """
    if value:
        raise _Unconfined
    return value


def _new_namespace(value: Json, place: Place) -> Json:
    match value:
        case list() if wrong := _no_names(value):
            return [*place.namespace, *wrong]
        case list() if len(value) == 1:
            return [*place.base, place.new_name()]
        case list() if value:
            # The parent exists, because the document does not say whether it must.
            return [*place.namespace, place.new_name()]
    return _existing_namespace(value, place) if isinstance(value, str) else _no_namespace(value)


def _no_names(levels: list[Json]) -> list[Json]:
    return [level for level in levels if not isinstance(level, str)]


def _filled(value: Json, place: Place) -> Json:
    """Replace the placeholders of the samples by the table's location and time."""
    match value:
        case dict():
            return {k: _filled(v, place) for k, v in value.items()}
        case list():
            return [_filled(v, place) for v in value]
        case str():
            return value.replace(TABLE_LOCATION, place.location)
        case int() if value == TABLE_TIME:
            return place.updated_ms + 1
    return value
