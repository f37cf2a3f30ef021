"""Classifies the flaw of a generated request, which decides what a catalog must answer.

The document defines the form of a request, but only in few places the answer to a request of
another form. Only requests that no catalog can serve must be refused without exception.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from icecheck.contract import Contract, Operation

ABSENT: Any = type("Absent", (), {"__repr__": lambda _: "absent"})()
"""The value of a missing member."""

_ARRAY_ITEM = "*"
_UNIONS = frozenset({"allOf", "anyOf", "oneOf"})
_SCALARS = frozenset({"string", "integer", "number", "boolean"})

# Members that a catalog may assign itself, read from elsewhere, or not know in 1.10: a catalog that
# ignores them is correct. A prefix stands for everything below it.
_UNREAD = (
    "updateTable.identifier",
    "updateTable.updates.*.add-schema.last-column-id",
    "updateTable.updates.*.add-schema.schema.schema-id",
    "updateTable.updates.*.add-schema.schema.fields.*.initial-default",
    "updateTable.updates.*.add-schema.schema.fields.*.write-default",
    "updateTable.updates.*.add-spec.spec.spec-id",
    "updateTable.updates.*.add-spec.spec.fields.*.field-id",
    "updateTable.updates.*.add-sort-order.sort-order.order-id",
    "updateTable.updates.*.add-snapshot.snapshot.first-row-id",
    "updateTable.updates.*.set-statistics.snapshot-id",
    "createTable.schema.schema-id",
    "createTable.schema.fields.*.initial-default",
    "createTable.schema.fields.*.write-default",
    "createTable.partition-spec.spec-id",
    "createTable.partition-spec.fields.*.field-id",
    "createTable.write-order.order-id",
    "registerTable.overwrite",
    "createView.schema.schema-id",
    "createView.schema.fields.*.initial-default",
    "createView.schema.fields.*.write-default",
    "createView.view-version.version-id",
    "createView.view-version.schema-id",
    "createView.view-version.timestamp-ms",
    "replaceView.identifier",
    "replaceView.updates.*.add-schema.last-column-id",
    "replaceView.updates.*.add-schema.schema.schema-id",
    "replaceView.updates.*.add-schema.schema.fields.*.initial-default",
    "replaceView.updates.*.add-schema.schema.fields.*.write-default",
    "replaceView.updates.*.add-view-version.view-version.version-id",
    "replaceView.updates.*.add-view-version.view-version.timestamp-ms",
)
# A change in a transaction is judged as a commit to one table, except that it must name the table.
_CHANGE = "commitTransaction.table-changes.*"
# Required members whose absence is read as empty, as null or as the only possible value by catalogs
# that are built on the reference or on a decoder with defaults.
_DEFAULTED = frozenset(
    {
        "createTable.schema.type",
        "updateTable.updates.*.add-schema.schema.type",
        "updateTable.requirements",
        "updateTable.updates",
        "updateTable.requirements.*.assert-ref-snapshot-id.snapshot-id",
        "updateTable.updates.*.add-snapshot.snapshot.summary",
        "updateTable.updates.*.add-snapshot.snapshot.summary.operation",
        "updateTable.updates.*.add-snapshot.snapshot.manifest-list",
        "createView.schema.type",
        "createView.view-version.summary",
        "replaceView.updates",
        "replaceView.updates.*.add-schema.schema.type",
        "replaceView.updates.*.add-view-version.view-version.summary",
    }
)
# Required lists and maps that may be empty, and that clients then write as null: Go's encoder does
# so with a nil list or map, and iceberg-go sends what it is given.
_NULL_IS_EMPTY = frozenset(
    {
        "updateTable.requirements",
        "updateTable.updates",
        "updateTable.updates.*.set-properties.updates",
        "updateTable.updates.*.remove-properties.removals",
        "updateTable.updates.*.remove-snapshots.snapshot-ids",
        "updateTable.updates.*.remove-partition-specs.spec-ids",
        "updateTable.updates.*.remove-schemas.schema-ids",
        "updateTable.updates.*.set-statistics.statistics.blob-metadata",
        "updateTable.updates.*.set-statistics.statistics.blob-metadata.*.fields",
        "createView.view-version.default-namespace",
        "replaceView.updates",
        "replaceView.updates.*.set-properties.updates",
        "replaceView.updates.*.remove-properties.removals",
        "replaceView.updates.*.add-view-version.view-version.default-namespace",
    }
)
# Required members that the reference reads as empty when they are absent or null.
_EMPTY = frozenset({"createView.properties"})
# The members that name an update or a requirement: unknown ones must be refused (L1009-L1010).
_DISCRIMINATORS = {"updates": "action", "requirements": "type"}


class Flaw(StrEnum):
    """What a catalog must do with a request that has this flaw."""

    UNUSABLE = "unusable"
    """No catalog can serve it: it must be refused."""
    MISTYPED = "mistyped"
    """A value of a wrong type that some catalogs convert: it should be refused."""
    TOLERABLE = "tolerable"
    """A catalog may ignore it: it must not answer with a server error."""


@dataclass(frozen=True, slots=True)
class Spot:
    """The place in a body at which a generated case is wrong.

    ``path`` is the operation and the members down to the spot; an array item is ``*``, and an
    update or requirement is followed by its name. ``keyword`` is the violated schema keyword,
    ``declared`` the JSON types allowed there, ``value`` what is sent, or ABSENT.
    """

    path: str
    keyword: str
    declared: frozenset[str]
    required: bool
    value: Any

    @property
    def member(self) -> str:
        """The last name of the path."""
        return self.path.rpartition(".")[2]

    @property
    def depth(self) -> int:
        """The number of members and items above the value; the body itself has depth 0."""
        return self.path.count(".")


def spot_of(
    operation_id: str,
    contract: Contract,
    schema: Mapping[str, Any],
    location: str,
    body: Any,
) -> Spot:
    """Return the spot in a body of a schema location (``/properties/x/items/type``).

    For a missing member the spot is the member. Raises ValueError for a location without parts.
    """
    document = contract.corrected(("repair", "strict"))
    keys = [k for k in location.split("/") if k]
    if not keys:
        raise ValueError(f"no place in {location!r}")
    *walk, keyword = keys
    path, required, value = [operation_id], True, body
    node = _resolved(document, schema)
    steps = iter(walk)
    for step in steps:
        if step == "allOf" and step not in node:
            next(steps)  # the generator wraps a discriminator and its variant
            continue
        if step in _UNIONS:
            node = _resolved(document, node[step][int(next(steps))])
            continue
        if step == "items":
            path.append(_ARRAY_ITEM)
            node, required = _resolved(document, node["items"]), True
            value = _first_item(value)
            path += _kind_of_item(path, value, contract)
            continue
        name = next(steps)
        path.append(name)
        required = name in node.get("required", ())
        below = node["properties"][name] if step == "properties" else node[step]
        node = _resolved(document, below)
        value = value.get(name, ABSENT) if isinstance(value, dict) else ABSENT
    if keyword == "required":
        missing = [
            name for name in node["required"] if not isinstance(value, dict) or name not in value
        ]
        path.append(missing[0] if missing else "")
        required, value = True, ABSENT
    return Spot(".".join(path), keyword, frozenset(_types(document, node)), required, value)


def flaw_of_body(operation: Operation, contract: Contract, body: Any) -> Flaw:
    """Return the gravest flaw that a body certainly has, however many it has.

    It is looked for where one reading of the schema is possible: not in unions, but for updates and
    requirements, which are told apart by their names.
    """
    if operation.id == "reportMetrics":
        return Flaw.TOLERABLE  # a catalog may discard reports unread
    found = {flaw_of(spot) for spot in spots_in(operation, contract, body)}
    return next((flaw for flaw in Flaw if flaw in found), Flaw.TOLERABLE)


def spots_in(operation: Operation, contract: Contract, body: Any) -> Iterator[Spot]:
    """Yield the places of a body that certainly break its schema, as ``flaw_of_body`` sees them."""
    walk = _Walk(contract.corrected(("repair", "strict")), contract)
    yield from walk.spots(operation.request_schema or {}, body, [operation.id], required=True)


@dataclass(frozen=True, slots=True)
class _Walk:
    """A walk through a body beside its schema."""

    document: Mapping[str, Any]
    contract: Contract

    def spots(self, node: Any, value: Any, path: list[str], *, required: bool) -> Iterator[Spot]:
        """Yield the places of a value that break its schema."""
        if (kind := _DISCRIMINATORS.get("".join(path[-2:-1]))) and path[-1] == _ARRAY_ITEM:
            yield self._of_no_kind(value, path, kind)
            return
        node = self._branch(_resolved(self.document, node), path)
        if node is None:
            return
        declared = frozenset(_types(self.document, node))
        wrong_type = declared and not any(_is_of_type(value, each) for each in declared)
        if wrong_type or ("enum" in node and value not in node["enum"]):
            keyword = "type" if wrong_type else "enum"
            yield Spot(".".join(path), keyword, declared, required, value)
        elif isinstance(value, dict):
            yield from self._members(node, value, path)
        elif isinstance(value, list) and "items" in node:
            for item in value:
                inner = [*path, _ARRAY_ITEM]
                inner += _kind_of_item(inner, item, self.contract)
                yield from self.spots(node["items"], item, inner, required=True)

    def _of_no_kind(self, value: Any, path: list[str], discriminator: str) -> Spot:
        """Return the spot of an update or requirement that has no known name."""
        declared = frozenset({"object"})
        if not isinstance(value, dict):
            return Spot(".".join(path), "type", declared, required=True, value=value)
        name = value.get(discriminator, ABSENT)
        return Spot(".".join([*path, discriminator]), "required", declared, True, name)

    def _members(self, node: Any, value: dict[str, Any], path: list[str]) -> Iterator[Spot]:
        for part in (node, *(_resolved(self.document, each) for each in node.get("allOf", ()))):
            needed = part.get("required", ())
            for name in needed:
                if name not in value:
                    place = ".".join([*path, name])
                    yield Spot(place, "required", frozenset(), required=True, value=ABSENT)
            for name, below in part.get("properties", {}).items():
                if name in value:
                    inner, is_needed = [*path, name], name in needed
                    yield from self.spots(below, value[name], inner, required=is_needed)

    def _branch(self, node: Any, path: list[str]) -> Any:
        """Return the schema itself, or that of a union which is meant; None if that is unclear."""
        branches = [each for union in ("anyOf", "oneOf") for each in node.get(union, ())]
        if not branches:
            return node
        *_, member, item, name = ("", "", *path)
        if item != _ARRAY_ITEM or member not in _DISCRIMINATORS:
            return None
        meant = [_resolved(self.document, each) for each in branches]
        of_name = [each for each in meant if name in _names_of(each, _DISCRIMINATORS[member])]
        return of_name[0] if len(of_name) == 1 else None


def _names_of(node: Any, discriminator: str) -> Iterator[str]:
    for part in (node, *node.get("allOf", ())):
        told = part.get("properties", {}).get(discriminator, {}) if isinstance(part, dict) else {}
        yield from [told["const"]] if "const" in told else told.get("enum", ())


def _is_of_type(value: Any, declared: str) -> bool:
    match value:
        case bool():
            return declared == "boolean"
        case int():
            return declared in {"integer", "number"}
        case float():
            return declared == "number" or (declared == "integer" and value.is_integer())
        case str():
            return declared == "string"
        case None:
            return declared == "null"
        case list():
            return declared == "array"
    return declared == "object"


def flaw_of(spot: Spot) -> Flaw:
    """Return the flaw of a spot of a body that breaks the contract."""
    path = _as_commit(spot.path)
    if _within(path, _UNREAD):
        return Flaw.TOLERABLE
    if _names_a_kind(spot):
        return Flaw.UNUSABLE
    if spot.value is None and path in _NULL_IS_EMPTY:
        return Flaw.TOLERABLE
    if (spot.value is ABSENT or spot.value is None) and path in _EMPTY | _DEFAULTED:
        return Flaw.TOLERABLE if path in _EMPTY else Flaw.MISTYPED
    return _flaw_of_value(spot)


def _flaw_of_value(spot: Spot) -> Flaw:
    match spot.keyword, spot.value:
        case "required", _:
            return Flaw.UNUSABLE
        case "type", None if not spot.required:
            return Flaw.TOLERABLE  # clients send an explicit null for a missing value
        case "type", None:
            needed = spot.depth <= 1 or not spot.declared & _SCALARS
            return Flaw.UNUSABLE if needed else Flaw.MISTYPED
        case "type", dict() | list():
            return Flaw.UNUSABLE
        case "type", _:
            return Flaw.MISTYPED if spot.declared & _SCALARS else Flaw.UNUSABLE
        case "enum" | "const", _:
            return Flaw.MISTYPED
    return Flaw.TOLERABLE


def _as_commit(path: str) -> str:
    """Return the path of a transaction's spot as a path in a commit to one table."""
    below = path.removeprefix(f"{_CHANGE}.")
    named = below.startswith("identifier")
    return path if below == path or named else f"updateTable.{below}"


def _names_a_kind(spot: Spot) -> bool:
    *_, member, item, name = ("", "", *spot.path.split("."))
    return item == _ARRAY_ITEM and _DISCRIMINATORS.get(member) == name


def _within(path: str, prefixes: tuple[str, ...]) -> bool:
    return any(path == p or path.startswith(f"{p}.") for p in prefixes)


def _first_item(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else ABSENT


def _kind_of_item(path: list[str], value: Any, contract: Contract) -> list[str]:
    """Return the name of an update or requirement in a list, or an empty list if it has none."""
    *_, member, _ = path
    discriminator = _DISCRIMINATORS.get(member)
    name = value.get(discriminator) if discriminator and isinstance(value, dict) else None
    updates = (*contract.table_updates, *contract.view_updates)
    assertions = (*contract.table_assertions, *contract.view_assertions)
    return [name] if name in (*updates, *assertions) else []


def _resolved(document: Mapping[str, Any], node: Any) -> Any:
    while isinstance(node, Mapping) and "$ref" in node:
        target: Any = document
        for part in str(node["$ref"]).removeprefix("#/").split("/"):
            target = target[part]
        node = target
    return node


def _types(document: Mapping[str, Any], node: Any) -> Iterator[str]:
    """Yield the JSON types that a schema allows, following references and unions."""
    node = _resolved(document, node)
    if not isinstance(node, Mapping):
        return
    declared = node.get("type", ())
    yield from [declared] if isinstance(declared, str) else declared
    for union in _UNIONS:
        for branch in node.get(union, ()):
            yield from _types(document, branch)
