"""Judges exchanges by their schema: the raw contract and the corrected one."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any

import jsonschema_rs

from icecheck.contract import Contract, Level
from icecheck.wire.exchange import Exchange
from icecheck.wire.json_text import read_json

_JUDGED_MAX = 256
"""The number of judged answers that are kept: more than any check reads."""
NOT_JSON, MEDIA_TYPE = "not-json", "media-type"
"""The kinds of problem of a body that is no JSON, and of one that says it is something else."""
# Statuses whose documented body must be JSON. 400 may be text/plain (L4512); 5xx often come from a
# gateway in front of the catalog.
_JSON_DUE = frozenset({200, 404, 406, 409, 422})
_REFUSES_THE_CALLER = frozenset({401, 403, 419})
"""Statuses of which the same holds, but where a firewall took offence at a name or a parameter.

Of a body that it does not like it says so with 403 alone.
"""
_SEPARATOR = "%1f"


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """One violation: its place in the body (indices as ``*``), its kind, and a message."""

    level: Level
    pointer: str
    kind: str
    message: str


class SchemaJudge:
    """Validators for the documented responses and request bodies of one contract, compiled lazily.

    A body that satisfies the raw document or the corrected one is accepted (verdict-rules 3), and
    so is one that fits a later document (verdict-rules 10). A body that only breaks a strict
    reading misses a SHOULD; what only clients need (INTEROP) is judged by checks, not here.
    """

    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self._strict_must = _select_strict(contract, readings=False)
        self._strict_all = _select_strict(contract, readings=True)
        self._validators: dict[tuple[str, str], jsonschema_rs.Validator] = {}
        self._judged: dict[Exchange, tuple[SchemaProblem, ...]] = {}
        self._compiled: dict[tuple[str, str], jsonschema_rs.Validator] = {}

    def judge(self, exchange: Exchange) -> tuple[SchemaProblem, ...]:
        """Return the problems of the answer's body; none when no body is documented.

        The last results are kept, because an answer is judged when it is read and once more
        passively.
        """
        found = self._judged.get(exchange)
        if found is None:
            if len(self._judged) >= _JUDGED_MAX:
                self._judged.clear()
            found = self._judged[exchange] = self._judge(exchange)
        return found

    def _judge(self, exchange: Exchange) -> tuple[SchemaProblem, ...]:
        if exchange.operation is None or exchange.status is None or exchange.method == "HEAD":
            return ()
        response = self.contract.response(exchange.operation, exchange.status)
        if response is None or not response.has_body:
            return ()
        if not exchange.claims_json and not _is_json_due(exchange):
            return ()
        problem = "the body says it is JSON but cannot be parsed"
        if not exchange.claims_json:
            media = exchange.header("content-type") or "no content type"
            said = f"a body that says it is {media}" if exchange.response_body else "no body"
            problem = f"{said} where JSON is due"
        try:
            body = read_json(exchange.response_body, not_a_number=0.0)
        except ValueError:
            return (SchemaProblem(Level.MUST, "", NOT_JSON, problem),)
        found = self.response_problems(exchange.operation, response.status, body)
        if exchange.claims_json:
            return found
        # Clients read JSON that is called something else: its shape is judged too.
        return (*found, SchemaProblem(Level.MUST, "", MEDIA_TYPE, problem))

    def response_problems(
        self, operation_id: str, status: str, body: Any
    ) -> tuple[SchemaProblem, ...]:
        """Judge a parsed body of one documented response (``status`` as documented: "5XX")."""
        where = f"responses/{operation_id}/{status}"
        # A body that satisfies the strictest document satisfies the others: one look is usually
        # enough.
        if self._validator(where, "readings").is_valid(body):
            return ()
        raw, repaired = (self._validator(where, d) for d in ("raw", "repaired"))
        if not raw.is_valid(body) and not repaired.is_valid(body):
            if self._validator(where, "tolerant").is_valid(body):  # valid in a later document
                return ()
            return _problems(repaired, body, Level.MUST)
        if not repaired.is_valid(body):  # only the raw reading accepts it: both readings pass
            return ()
        strict = self._validator(where, "strict")
        if not strict.is_valid(body):
            return _problems(strict, body, Level.MUST)
        return _problems(self._validator(where, "readings"), body, Level.SHOULD)

    def request_is_valid(self, operation_id: str, body: Any, *, readings: bool = False) -> bool:
        """Return whether a request body satisfies the corrected contract, strict part included.

        With ``readings`` the strict readings of the prose count, too.
        """
        dialect = "readings" if readings else "strict"
        return self._validator(f"requests/{operation_id}", dialect).is_valid(body)

    def _validator(self, where: str, dialect: str) -> jsonschema_rs.Validator:
        key = (where, dialect)
        if key not in self._validators:
            document = self._document(dialect)
            schema = self._body_schema(where, document)
            # Most errors share one schema: it is compiled once for all of them.
            same = (json.dumps(schema, sort_keys=True), dialect)
            if same not in self._compiled:
                self._compiled[same] = _compile(schema, document)
            self._validators[key] = self._compiled[same]
        return self._validators[key]

    def _document(self, dialect: str) -> dict[str, Any]:
        match dialect:
            case "raw":
                return self.contract.raw
            case "repaired":
                return self.contract.corrected(("repair",))
            case "tolerant":
                return self.contract.tolerant()
            case "strict":
                return self._strict_must
            case _:
                return self._strict_all

    def _body_schema(self, where: str, document: dict[str, Any]) -> dict[str, Any]:
        part, operation_id, *rest = where.split("/")
        operation = self.contract.operations[operation_id]
        node = document["paths"][operation.path][operation.method.lower()]
        if part == "requests":
            content = _resolve(document, node["requestBody"])["content"]
        else:
            content = _resolve(document, node["responses"][rest[0]])["content"]
        schema: dict[str, Any] = next(iter(content.values()))["schema"]
        return schema


def _is_json_due(exchange: Exchange) -> bool:
    """Return whether an answer must be JSON, and no page or text, empty ones included."""
    if exchange.status == HTTPStatus.FORBIDDEN and exchange.request_body and _is_page(exchange):
        return False
    if exchange.status in _REFUSES_THE_CALLER:
        names = exchange.url.lower().partition("/namespaces/")[2]
        return "%" not in names.replace(_SEPARATOR, "")
    # Errors of the token endpoint are OAuth's, not those that may be text.
    of_oauth = exchange.status == 400 and exchange.operation == "getToken"
    return of_oauth or exchange.status in _JSON_DUE


def _is_page(exchange: Exchange) -> bool:
    """Return whether an answer is a web page: so a firewall answers in the catalog's place.

    Nobody sends one who reads what clients accept (verdict-rules 11).
    """
    media = exchange.header("content-type") or ""
    return media.lower().startswith("text/html") and bool(exchange.response_body)


@cache
def schema_judge(contract: Contract) -> SchemaJudge:
    """Return the shared judge of one contract: its validators are compiled once."""
    return SchemaJudge(contract)


@cache
def has_strict_reading(contract: Contract, operation_id: str, status: str) -> bool:
    """Return whether a strict reading of the prose demands more of a body than its schema does."""
    strict, readings = (_select_strict(contract, readings=r) for r in (False, True))
    operation = contract.operations[operation_id]
    path = readings["paths"][operation.path][operation.method.lower()]
    return any(
        _resolve(strict, {"$ref": reference}) != _resolve(readings, {"$ref": reference})
        for reference in _reached(readings, path["responses"][status], set())
    )


def _compile(schema: dict[str, Any], document: Mapping[str, Any]) -> jsonschema_rs.Validator:
    """Compile a schema with the components that it needs; reading all of them is slow."""
    components: dict[str, dict[str, Any]] = {}
    for reference in _reached(document, schema, set()):
        _, _, kind, name, *_ = reference.split("/")
        components.setdefault(kind, {})[name] = document["components"][kind][name]
    rooted = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "components": components,
        "allOf": [schema],
    }
    return jsonschema_rs.validator_for(rooted)


def _reached(document: Mapping[str, Any], node: Any, references: set[str]) -> set[str]:
    """Return the references that a node contains, directly or not."""
    for inner in node.values() if isinstance(node, dict) else node:
        if isinstance(inner, dict | list):
            _reached(document, inner, references)
    reference = node.get("$ref") if isinstance(node, dict) else None
    if isinstance(reference, str) and reference not in references:
        references.add(reference)
        _reached(document, _resolve(document, node), references)
    return references


def _select_strict(contract: Contract, *, readings: bool) -> dict[str, Any]:
    # Strict readings of the prose are findings but never a MUST (overlay header, rule 3).
    left_out = {Level.INTEROP} if readings else {Level.INTEROP, Level.SHOULD}
    skip = {id_ for id_, erratum in contract.errata.items() if erratum.level in left_out}
    return contract.corrected(("repair", "strict"), leave_out=skip)


def _resolve(document: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in node:
        target: Any = document
        for part in str(node["$ref"]).removeprefix("#/").split("/"):
            target = target[part.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


def _problems(
    validator: jsonschema_rs.Validator, body: Any, level: Level
) -> tuple[SchemaProblem, ...]:
    seen: dict[tuple[str, str], SchemaProblem] = {}
    for error in validator.iter_errors(body):
        for leaf in _leaves(error):
            kind = _kind(leaf)
            path = [*leaf.instance_path]
            if kind == "required" and (member := _missing_member(leaf)):
                path.append(member)
            pointer = "".join(f"/{'*' if isinstance(p, int) else p}" for p in path)
            seen.setdefault((pointer, kind), SchemaProblem(level, pointer, kind, leaf.message))
    return tuple(seen.values())


def _leaves(error: Any, depth: int = 0) -> Iterator[Any]:
    """Yield the errors of the branch of a union that came closest: they say what is wrong."""
    branches = getattr(error.kind, "context", None)
    if not branches or depth > 8:
        yield error
        return
    closest = max(branches, key=_closeness)
    for inner in closest:
        yield from _leaves(inner, depth + 1)


def _closeness(branch: list[Any]) -> tuple[bool, int, int]:
    # A branch whose discriminating constant fails is the wrong one, however few its errors.
    wrong_kind = any(_kind(e) in {"const", "type", "enum"} for e in branch)
    depth = max((len(e.instance_path) for e in branch), default=0)
    return (not wrong_kind, depth, -len(branch))


def _kind(error: Any) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", str(error.kind.name)).lower()


def _missing_member(error: Any) -> str | None:
    member = getattr(error.kind, "property", None)
    return str(member).strip('"') if member is not None else None
