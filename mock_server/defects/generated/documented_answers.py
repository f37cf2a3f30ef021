"""Defects of single documented answers, made from the contract."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from icecheck.contract import Contract, Response, first_with
from icecheck.contract.document import resolve
from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare
from icecheck.mock_server.defects.kit.documented import RESPONSES, since_of
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_body, wrap
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.protocol.served_contract import KNOWN

Path = tuple[str, ...]

_EACH = "*"
_DEPTH_MAX = 1  # the members of an answer and the members of those; not every column of a schema
_ONLY_IF_ASKED_FOR = frozenset({"storage-credentials"})
_OF_ANOTHER_TYPE: Mapping[str, Any] = {
    "string": 7,
    "integer": "seven",
    "number": "seven",
    "boolean": "maybe",
    "array": "a, b",
    "object": "{}",
}
# The gate answers 401 before any operation; the mock offers everything that may be refused with
# 406.
_NO_OPERATIONS_OWN = frozenset({"401", "406"})


def _rows(*statuses: str) -> Iterator[Response]:
    """Yield the documented answers that some check provokes."""
    for row in RESPONSES:
        brought_about = first_with(row.id).requirements[row.id].not_tested is None
        wanted = row.status in statuses if statuses else row.status not in _NO_OPERATIONS_OWN
        if brought_about and wanted:
            yield row


def _is_bare(row: Response) -> bool:
    """Return whether HTTP forbids a body in such an answer: whether the method is HEAD."""
    return KNOWN.operations[row.operation_id].method == "HEAD"


def _hurt(requirement: str) -> str:
    hurts = first_with(requirement).requirements[requirement].hurts
    return f"{hurts.rstrip('.')}."


def _alter_reply(registries: Registries, row: Response, alter: Callable[[Reply], Reply]) -> None:
    """Change the reply wherever the faithful server gives this documented answer."""
    status = int(row.status)

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            outcome = faithful(state, call)
        except Problem as refused:
            if refused.status != status:
                raise
            return Outcome(state, alter(replies.problem_reply(refused)))
        if outcome.reply.status != status:
            return outcome
        return msgspec.structs.replace(outcome, reply=alter(outcome.reply))

    wrap(registries, row.operation_id, around)


# ---- another status than the documented one


def _other_status(row: Response, into: int) -> None:
    def altered(reply: Reply) -> Reply:
        if not reply.body or into < 400:
            return msgspec.structs.replace(reply, status=into)
        body = json.loads(reply.body)
        if isinstance(body, dict) and isinstance(body.get("error"), dict):
            body = body | {"error": body["error"] | {"code": into}}
        return msgspec.structs.replace(reply, status=into, body=json.dumps(body).encode())

    declare(
        f"status-{row.id}-is-{into}",
        f"{row.operation_id} answers {into} where {row.status} is due.",
        by(_alter_reply, row, altered),
        breaks=row.id,
        suffering=_hurt(row.id),
    )


for _row in _rows():
    _other_status(_row, 500)
    _other_status(_row, 202 if _row.status.startswith("2") else 418)


# ---- answers whose members are not as documented


def _required(
    document: Mapping[str, Any], node: Mapping[str, Any], depth: int = _DEPTH_MAX
) -> Iterator[tuple[Path, str]]:
    """Yield path and type of every member that an answer of this schema must have."""
    node = resolve(document, node)
    for part in node.get("allOf", ()):
        yield from _required(document, part, depth)
    for name in node.get("required", ()):
        member = resolve(document, node.get("properties", {}).get(name, {}))
        yield (name,), str(member.get("type", ""))
    if depth == 0:
        return
    for name, member in node.get("properties", {}).items():
        if name in _ONLY_IF_ASKED_FOR.difference(node.get("required", ())):
            continue
        inner = resolve(document, member)
        item = inner.get("items")
        below, path = (item, (name, _EACH)) if item else (inner, (name,))
        for rest, kind in _required(document, below, depth - 1):
            yield (*path, *rest), kind


def _members(contract: Contract, row: Response) -> dict[Path, str]:
    """Return the members that both the document and its corrected form require."""
    if row.schema is None:
        return {}
    asked = dict(_required(contract.corrected(), row.schema))
    return {p: asked[p] for p, _ in _required(contract.raw, row.schema) if p in asked}


def _changed(value: Any, path: Path, change: Callable[[Json, str], Json]) -> Any:
    """Return a JSON value with `change` applied to the objects that have the last path member."""
    first, *rest = path
    if first == _EACH and isinstance(value, list):
        return [_changed(each, tuple(rest), change) for each in value]
    if not isinstance(value, dict) or first not in value:
        return value
    if not rest:
        return change(value, first)
    return value | {first: _changed(value[first], tuple(rest), change)}


def _wrong_member(row: Response, path: Path, kind: str) -> None:
    def left_out(body: Json, name: str) -> Json:
        return {each: value for each, value in body.items() if each != name}

    def mistyped(body: Json, name: str) -> Json:
        return body | {name: _OF_ANOTHER_TYPE[kind]}

    shown = ".".join(each for each in path if each != _EACH)

    def declare_each(name: str, title: str, change: Callable[[Json, str], Json]) -> None:
        declare(
            f"{name}-{row.operation_id}-{shown}",
            f"{row.operation_id} answers {title}.",
            by(alter_body, row.operation_id, lambda body: _changed(body, path, change)),
            breaks=row.id,
            suffering=_hurt(row.id),
        )

    declare_each("lacks", f"without {shown}", left_out)
    if kind in _OF_ANOTHER_TYPE:
        declare_each("mistypes", f"with something else than a {kind} for {shown}", mistyped)


for _row in _rows("200"):
    for _path, _kind in _members(first_with(_row.id), _row).items():
        _wrong_member(_row, _path, _kind)


# ---- answers with another content than they declare


def _served_as_text(row: Response) -> None:
    def as_text(reply: Reply) -> Reply:
        kept = tuple(header for header in reply.headers if header[0] != "content-type")
        return msgspec.structs.replace(reply, headers=(*kept, ("content-type", "text/plain")))

    declare(
        f"text-{row.id}",
        f"{row.operation_id} says that its {row.status} is plain text.",
        by(_alter_reply, row, as_text),
        breaks=row.id,
        suffering=_hurt(row.id),
    )


for _row in _rows("200", "404", "409"):
    if _row.has_body and not _is_bare(_row):
        _served_as_text(_row)


def _with_body(row: Response) -> None:
    def full(reply: Reply) -> Reply:
        headers = (*reply.headers, ("content-type", "application/json"))
        return msgspec.structs.replace(reply, headers=headers, body=b"{}")

    breaks = "http.no-body-on-204" if row.status == "204" else row.id
    declare(
        f"body-{row.id}",
        f"{row.operation_id} sends a body with {row.status}.",
        by(_alter_reply, row, full),
        breaks=breaks,
        suffering=_hurt(breaks),
        since=since_of(row.id),
    )


for _row in _rows("204", "304"):
    if not _is_bare(_row):
        _with_body(_row)


# ---- errors that are not as documented


def _wrong_error(
    row: Response, name: str, title: str, breaks: str, alter: Callable[[Json], Json]
) -> None:
    def altered(reply: Reply) -> Reply:
        return msgspec.structs.replace(
            reply, body=json.dumps(alter(json.loads(reply.body))).encode()
        )

    declare(
        f"{name}-{row.id}",
        f"{row.operation_id} answers {row.status} {title}.",
        by(_alter_reply, row, altered),
        breaks=breaks,
        suffering=_hurt(breaks),
        since=since_of(row.id),
    )


def _has_envelope(row: Response) -> bool:
    """Return whether the error has to be in an envelope; the schema of some answers has none."""
    return (("error",), "object") in set(_required(first_with(row.id).raw, row.schema or {}))


for _row in _rows("400", "404", "409", "422"):
    if not _is_bare(_row) and _has_envelope(_row):
        _wrong_error(
            _row, "bare-error", "without the object around the error", _row.id,
            lambda body: body["error"],
        )  # fmt: skip
        _wrong_error(
            _row, "typeless-error", "without the type of the error", _row.id,
            lambda body: {"error": {k: v for k, v in body["error"].items() if k != "type"}},
        )  # fmt: skip
        _wrong_error(
            _row, "other-code", "with the code of another status", "error.code-equals-status",
            lambda body: {"error": body["error"] | {"code": body["error"]["code"] + 1}},
        )  # fmt: skip
