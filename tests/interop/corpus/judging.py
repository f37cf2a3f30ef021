"""What the contract says of a request and of the answer to it."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

import jsonschema_rs

from icecheck.contract import Level
from icecheck.mock_server.core.context import Reply
from icecheck.replies import schema as engine_schema
from icecheck.replies.schema import schema_judge
from tests.interop.corpus.case import METHODS, CorpusCase
from tests.interop.corpus.generated import contract_document
from tests.kit.contracts import CONTRACT

FORM = "application/x-www-form-urlencoded"
_INTEGER = re.compile(r"[+-]?[0-9]+")


@dataclass(frozen=True, slots=True)
class Flaw:
    """One violation of the contract by a request: in which part, where, and of which keyword."""

    part: str
    pointer: str
    keyword: str

    def __str__(self) -> str:
        """As it is written in the golden file: `body /name type`."""
        return f"{self.part} {self.pointer} {self.keyword}"


def flaws_of(case: CorpusCase) -> tuple[Flaw, ...]:
    """Everything that is wrong with a request by the corrected contract; nothing if it is valid."""
    return (*_parameter_flaws(case), *_body_flaws(case))


def wrong_with(case: CorpusCase, reply: Reply) -> tuple[str, ...]:
    """Everything that is wrong with an answer, whatever the request was."""
    return tuple(_wrong_with(case, reply))


def _wrong_with(case: CorpusCase, reply: Reply) -> Iterator[str]:
    if reply.status >= 500:
        yield "a server error"
    headers = dict(reply.headers)
    if case.method == "HEAD" or reply.status in {204, 304}:
        if reply.body and case.method != "HEAD":
            yield "a body where none may be"
    elif headers.get("content-type") != "application/json":
        yield f"content type {headers.get('content-type')}"
    if case.mode == METHODS:
        if reply.status != 405 or not headers.get("allow"):
            yield f"{reply.status} with allow {headers.get('allow')!r} for a method not served"
        yield from _wrong_with_error(reply)
        return
    yield from _wrong_with_documented(case, reply)
    if reply.status >= 400 and case.operation_id != "getToken":
        yield from _wrong_with_error(reply)


def _wrong_with_documented(case: CorpusCase, reply: Reply) -> Iterator[str]:
    row = CONTRACT.response(case.operation_id, reply.status)
    if row is None:
        yield f"{reply.status} is not documented for {case.operation_id}"
    elif row.has_body and case.method != "HEAD":
        where = f"responses/{case.operation_id}/{row.status}"
        validator = schema_judge(CONTRACT)._validator(where, "readings")
        body = json.loads(reply.body)
        if validator.is_valid(body):
            return
        for problem in engine_schema._problems(validator, body, Level.MUST):
            yield f"body {problem.pointer} {problem.kind}: {problem.message}"


def _wrong_with_error(reply: Reply) -> Iterator[str]:
    if not reply.body:
        return
    error = json.loads(reply.body).get("error")
    if not isinstance(error, dict) or not {"message", "type", "code"} <= set(error):
        yield "no error body"
    elif error["code"] != reply.status:
        yield f"error.code {error['code']} in an answer with {reply.status}"


def _parameter_flaws(case: CorpusCase) -> Iterator[Flaw]:
    _, _, query = case.target.partition("?")
    values: dict[tuple[str, str], list[str]] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        values.setdefault(("query", name.lower()), []).append(value)
    for name, value in case.headers.items():
        values[("header", name.lower())] = [value]
    for (part, name), parameter in _parameters(case.operation_id).items():
        sent = values.get((part, name), [])
        if len(sent) > 1:
            yield Flaw(part, f"/{name}", "repeated")
        for value in sent:
            read = _read(parameter["schema"], value)
            for error in _validator_of(part, name, case.operation_id).iter_errors(read):
                yield Flaw(part, f"/{name}", engine_schema._kind(error))


@cache
def _parameters(operation_id: str) -> dict[tuple[str, str], Any]:
    document, operation = contract_document(), CONTRACT.operations[operation_id]
    item = document["paths"][operation.path]
    listed = [*item.get("parameters", ()), *item[operation.method.lower()].get("parameters", ())]
    resolved = [engine_schema._resolve(document, each) for each in listed]
    return {
        (each["in"], each["name"].lower()): {
            **each,
            "schema": engine_schema._resolve(document, each["schema"]),
        }
        for each in resolved
        if each["in"] != "path"
    }


@cache
def _validator_of(part: str, name: str, operation_id: str) -> jsonschema_rs.Validator:
    schema = _parameters(operation_id)[part, name]["schema"]
    components = contract_document()["components"]
    return jsonschema_rs.validator_for({"components": components, "allOf": [schema]})


def _read(schema: Any, value: str) -> Any:
    """A parameter as its schema reads it; text that cannot be read so stays text."""
    match schema.get("type"):
        case "integer" if _INTEGER.fullmatch(value):
            return int(value)
        case "boolean" if value in {"true", "false"}:
            return value == "true"
        case "array":
            return value.split(",") if value else []
    return value


def _body_flaws(case: CorpusCase) -> Iterator[Flaw]:
    operation = CONTRACT.operations[case.operation_id]
    if operation.request_schema is None:
        return
    if case.body is None:
        yield Flaw("body", "", "absent")
        return
    media = case.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if media != operation.request_media_type:
        yield Flaw("header", "/content-type", "media-type")
        return
    yield from json_flaws(case.operation_id, json_of(case))


def json_of(case: CorpusCase) -> Any:
    """The body of a request as JSON; a form is an object of its fields."""
    assert case.body is not None
    if CONTRACT.operations[case.operation_id].request_media_type == FORM:
        return dict(parse_qsl(case.body.decode(), keep_blank_values=True))
    return json.loads(case.body)


def json_flaws(operation_id: str, body: Any) -> Iterator[Flaw]:
    """What is wrong with a body; strict readings of the prose count for our own server."""
    validator = schema_judge(CONTRACT)._validator(f"requests/{operation_id}", "readings")
    if validator.is_valid(body):
        return
    for problem in engine_schema._problems(validator, body, Level.MUST):
        yield Flaw("body", problem.pointer, problem.kind)
