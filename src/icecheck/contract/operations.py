"""Reads the operations of the document; parameters and responses are resolved from `$ref`s."""

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from icecheck.contract.document import (
    lines_of,
    operation_rows,
    raw_document,
    resolve,
)
from icecheck.contract.facts import Action, Facts, IncompleteFacts, Object, read_facts
from icecheck.contract.model import (
    Lines,
    Operation,
    Parameter,
    Ref,
    RefKind,
    Response,
    Undated,
    UnknownRef,
)

JSON = Mapping[str, Any]
METHODS = ("get", "head", "post", "put", "patch", "delete")


@cache
def operations(version: str) -> Mapping[str, Operation]:
    """Return operation id -> Operation, in the document's order.

    Raises IncompleteFacts, with a list of all missing facts, where an operation lacks some.
    """
    placed = _placed(version)
    methods = {id_: method.upper() for id_, (_, method, _) in placed.items()}
    try:
        facts = read_facts(operation_rows(version), methods)
    except IncompleteFacts as told:
        raise IncompleteFacts([*told.faults, *undated(version)]) from None
    return MappingProxyType(
        {id_: _operation(version, *where, facts[id_]) for id_, where in placed.items()}
    )


@cache
def _placed(version: str) -> Mapping[str, tuple[str, str, JSON]]:
    """Return operation id -> path, method in lower case, and the path's item."""
    return {
        item[method]["operationId"]: (path, method, item)
        for path, item in raw_document(version)["paths"].items()
        for method in METHODS
        if method in item
    }


@cache
def documented(version: str) -> Mapping[str, Mapping[str, Lines]]:
    """Return operation id -> status -> lines of the response; works without facts too."""
    found = {}
    for id_, (path, method, item) in _placed(version).items():
        pointer = _pointer(path, method)
        found[id_] = {
            status: lines_of(version, f"{pointer}/responses/{status}")
            for status in item[method]["responses"]
        }
    return MappingProxyType(found)


def lines_of_operation(version: str, operation_id: str) -> Lines:
    """Return the lines of an operation in the document; works without its facts too."""
    path, method, _ = _placed(version)[operation_id]
    return lines_of(version, _pointer(path, method))


def _pointer(path: str, method: str) -> str:
    return f"/paths/{path.replace('~', '~0').replace('/', '~1')}/{method}"


def undated(version: str) -> Iterator[str]:
    """Yield the operations that no release in releases.toml names; one fault without that file."""
    from icecheck.contract.releases import since

    for operation_id in _placed(version):
        try:
            since(version, [Ref(RefKind.OPERATION, operation_id)])
        except Undated as told:
            yield str(told)
            return
        except UnknownRef:
            yield f"{operation_id}: no release in releases.toml"


def _operation(version: str, path: str, method: str, item: JSON, facts: Facts) -> Operation:
    document = raw_document(version)
    body = item[method]
    pointer = _pointer(path, method)
    parameters = [
        resolve(document, p) for p in (*item.get("parameters", ()), *body.get("parameters", ()))
    ]
    request = body.get("requestBody", {})
    content: JSON = request.get("content", {})
    media_type = next(iter(content), None)
    return Operation(
        id=body["operationId"],
        method=method.upper(),
        path=path,
        summary=body["summary"],
        deprecated=body.get("deprecated", False),
        parameters=tuple(
            Parameter(p["name"], p["in"], p.get("required", False), p["schema"]) for p in parameters
        ),
        request_media_type=media_type,
        request_required=request.get("required", False),
        request_schema=content[media_type].get("schema") if media_type else None,
        responses=MappingProxyType(
            {
                status: _response(version, body["operationId"], status, row, pointer)
                for status, row in body["responses"].items()
            }
        ),
        lines=lines_of(version, pointer),
        facts=facts,
    )


def _response(version: str, operation_id: str, status: str, row: JSON, pointer: str) -> Response:
    content = resolve(raw_document(version), row).get("content", {})
    return Response(
        operation_id=operation_id,
        status=status,
        has_body=bool(content),
        media_types=tuple(content),
        schema=next(iter(content.values())).get("schema") if content else None,
        lines=lines_of(version, f"{pointer}/responses/{status}"),
    )


def response(version: str, operation_id: str, status: int) -> Response | None:
    """Return the row for a status, the operation's 5XX row for an unlisted 5xx, or None."""
    rows = operations(version)[operation_id].responses
    return rows.get(str(status)) or rows.get(f"{status // 100}XX")


@cache
def default_endpoints(version: str) -> tuple[str, ...]:
    """Return the endpoints that a client assumes when the configuration lists none (L109-L138)."""
    return tuple(each.endpoint for each in operations(version).values() if each.facts.default)


@cache
def before_config(version: str) -> frozenset[str]:
    """Return the operations that clients call before they know what a catalog offers."""
    return frozenset(id_ for id_, each in operations(version).items() if each.precedes_config)


@cache
def by_object(version: str, action: Action) -> Mapping[str, str]:
    """Return object -> id of the operation that does this with it; the first, where several do."""
    found: dict[str, str] = {}
    for id_, each in operations(version).items():
        if each.facts.action is action:
            found.setdefault(each.facts.object.value, id_)
    return MappingProxyType(found)


def operation_that(version: str, action: Action, what: Object) -> Operation:
    """Return the one operation that does this.

    Raises LookupError where none does, or several.
    """
    found = [
        each
        for each in operations(version).values()
        if (each.facts.action, each.facts.object) == (action, what)
    ]
    if len(found) != 1:
        raise LookupError(f"{len(found)} operations {action} a {what}")
    return found[0]


def _members(version: str, union: str) -> frozenset[str]:
    schemas = raw_document(version)["components"]["schemas"]
    return frozenset(member["$ref"] for member in schemas[union]["anyOf"])


@cache
def table_updates(version: str) -> tuple[str, ...]:
    """Return the actions a table commit may hold, in the document's order.

    They come from the discriminator's mapping: the TableUpdate union lacks two (E14).
    """
    schemas = raw_document(version)["components"]["schemas"]
    view_only = _members(version, "ViewUpdate") - _members(version, "TableUpdate")
    mapping = schemas["BaseUpdate"]["discriminator"]["mapping"]
    return tuple(action for action, target in mapping.items() if target not in view_only)


@cache
def view_updates(version: str) -> tuple[str, ...]:
    """Return the actions a view commit may hold, in the order of the discriminator's mapping."""
    members = _members(version, "ViewUpdate")
    schemas = raw_document(version)["components"]["schemas"]
    mapping = schemas["BaseUpdate"]["discriminator"]["mapping"]
    return tuple(action for action, target in mapping.items() if target in members)


@cache
def table_assertions(version: str) -> tuple[str, ...]:
    """Return the requirement types of a table commit."""
    return _mapping(version, "TableRequirement")


@cache
def view_assertions(version: str) -> tuple[str, ...]:
    """Return the requirement types of a view commit."""
    return _mapping(version, "ViewRequirement")


def _mapping(version: str, schema: str) -> tuple[str, ...]:
    schemas = raw_document(version)["components"]["schemas"]
    return tuple(schemas[schema]["discriminator"]["mapping"])
