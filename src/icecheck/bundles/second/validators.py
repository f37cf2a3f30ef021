"""Two validators of documented bodies: openapi-core and jsonschema, each on the same documents."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from icecheck.contract import Contract, Level
from icecheck.contract.document import resolve


class Text(Enum):
    """The readings of the contract's document by which a body may be judged.

    ``PUBLISHED`` is the document as it stands, ``REPAIRED`` what it must have meant, ``LATER`` that
    with what later documents allow. ``STRICT`` has also what the prose demands, ``READINGS`` what
    only a strict reading of the prose does. What only clients need is in none of them.
    """

    PUBLISHED = "published"
    REPAIRED = "repaired"
    LATER = "later"
    STRICT = "strict"
    READINGS = "readings"


def text_of(contract: Contract, text: Text) -> dict[str, Any]:
    """Return one reading of the contract's document."""
    needs = [id_ for id_, erratum in contract.errata.items() if erratum.level is Level.INTEROP]
    lesser = [id_ for id_, erratum in contract.errata.items() if erratum.level is Level.SHOULD]
    match text:
        case Text.PUBLISHED:
            return contract.raw
        case Text.REPAIRED:
            return contract.corrected(("repair",))
        case Text.LATER:
            return contract.tolerant()
        case Text.STRICT:
            return contract.corrected(("repair", "strict"), leave_out=(*lesser, *needs))
        case Text.READINGS:
            return contract.corrected(("repair", "strict"), leave_out=needs)


class Validator(Protocol):
    """Says whether a body fits a response in one reading of the document."""

    name: str

    def fits(self, text: Text, operation_id: str, status: str, value: Any) -> bool:
        """Return whether a value fits the response; ``status`` is as documented: "5XX"."""


class JsonSchemaValidator:
    """Validates by the schemas alone, with the package jsonschema (draft 2020-12)."""

    name = "jsonschema"

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._made: dict[tuple[Text, str, str], Any] = {}

    def fits(self, text: Text, operation_id: str, status: str, value: Any) -> bool:
        """Return whether a value fits the response."""
        return bool(self._validator(text, operation_id, status).is_valid(value))

    def request_fits(self, operation_id: str, value: Any) -> bool:
        """Return whether the body of a request fits, what the prose demands included.

        Where none is documented, nothing is wrong with it.
        """
        operation = self._contract.operations[operation_id]
        path = self._contract.raw["paths"][operation.path]
        if "requestBody" not in path[operation.method.lower()]:
            return True
        return bool(self._validator(Text.STRICT, operation_id, "").is_valid(value))

    def places(self, text: Text, operation_id: str, status: str, value: Any) -> Iterator[str]:
        """Yield the JSON pointers of what does not fit."""
        for error in self._validator(text, operation_id, status).iter_errors(value):
            yield "".join(f"/{part}" for part in error.absolute_path)

    def _validator(self, text: Text, operation_id: str, status: str) -> Any:
        """Return the validator of a response, of the request without a status; made once."""
        key = text, operation_id, status
        if key not in self._made:
            self._made[key] = self._new_validator(*key)
        return self._made[key]

    def _new_validator(self, text: Text, operation_id: str, status: str) -> Any:
        import jsonschema

        document = text_of(self._contract, text)
        operation = self._contract.operations[operation_id]
        node = document["paths"][operation.path][operation.method.lower()]
        told = node["responses"][status] if status else node["requestBody"]
        content = resolve(document, told)["content"]
        schema = next(iter(content.values()))["schema"]
        rooted = {"components": document["components"], "allOf": [schema]}
        return jsonschema.Draft202012Validator(rooted)


@dataclass(frozen=True, slots=True)
class _Request:
    """A request in the form in which openapi-core finds its operation."""

    host_url: str
    path: str
    method: str


@dataclass(frozen=True, slots=True)
class _Response:
    """A response in the form in which openapi-core reads it."""

    status_code: int
    data: bytes
    content_type: str
    headers: dict[str, Any]


class OpenApiCoreValidator:
    """Validates whole responses with openapi-core, which finds operation and schema itself."""

    name = "openapi-core"

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._made: dict[Text, Callable[[_Request, _Response], bool]] = {}

    def fits(self, text: Text, operation_id: str, status: str, value: Any) -> bool:
        """Return whether a value fits the response."""
        if text not in self._made:
            self._made[text] = _judge_of(text_of(self._contract, text))
        operation = self._contract.operations[operation_id]
        path = operation.path.replace("{", "").replace("}", "")
        request = _Request("https://localhost", path, operation.method.lower())
        # "5XX" stands for whatever status the operation has no row of its own for.
        code = int(status) if status.isdecimal() else int(f"{status[0]}99")
        response = _Response(code, json.dumps(value).encode(), "application/json", {})
        return self._made[text](request, response)


def _judge_of(document: dict[str, Any]) -> Callable[[_Request, _Response], bool]:
    from jsonschema_path import SchemaPath
    from openapi_core.validation.response.validators import V31ResponseDataValidator

    # Formats are annotations, as everywhere in the suite; headers are judged by checks.
    told = {**document, "servers": [{"url": "https://localhost"}]}
    validator = V31ResponseDataValidator(SchemaPath.from_dict(told), format_validators={})

    def judge(request: _Request, response: _Response) -> bool:
        return next(iter(validator.iter_errors(request, response)), None) is None

    return judge


def verdict_of(
    validator: Validator, operation_id: str, status: str, value: Any
) -> tuple[bool, bool]:
    """Return whether a body has the documented shape, and whether strict readings hold too.

    A body may follow the document as it was published or as it was meant; where both refuse it, it
    may follow a later document. What the prose demands is asked only of what fits the repaired one.
    """

    def fits(text: Text) -> bool:
        return validator.fits(text, operation_id, status, value)

    if fits(Text.READINGS):
        return True, True
    if not fits(Text.REPAIRED):
        return fits(Text.PUBLISHED) or fits(Text.LATER), True
    if not fits(Text.STRICT):
        return False, True
    return True, False
