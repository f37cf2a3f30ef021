"""Judges requests by the document, with openapi-core: what a client sent that is not allowed.

The server itself is lenient where the document leaves room; a client that relies on that fails on
another catalog. This is asked for, and never done while a request is answered.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from icecheck.contract import Contract, Level
from icecheck.contract.document import resolve
from icecheck.mock_server.core.journal_entry import JournalEntry
from icecheck.mock_server.linting.request_texts import can_be_read, decoded, is_coded, text_flaws
from icecheck.mock_server.protocol.wire import Request

_HOST = "http://localhost"
# What libraries of some languages make of a token that is not there.
_NO_TOKENS = frozenset({"", "none", "null", "undefined", "nil"})
_WORDS_MAX = 300


class LintUnavailable(Exception):
    """Raised where openapi-core is not installed; the message says how to install it."""


class Violation(Struct, frozen=True):
    """One thing that a client sent and that the document does not allow.

    `operation` is "" for what has to do with none. `requests` counts how often it was seen,
    `sequence` is the first of them in the journal. `place` is a parameter or a JSON pointer into
    the body, with `*` for every place in a list and every name in a map; `lines` are those of the
    official document.
    """

    client: str
    operation: str
    place: str
    words: str
    lines: str
    sequence: int
    requests: int


class _Parameters(Struct):
    """Parameters of a request in the form in which openapi-core reads them."""

    query: Mapping[str, Any]
    header: Mapping[str, Any]
    cookie: Mapping[str, Any]
    path: Mapping[str, Any]

    def __getitem__(self, place: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = getattr(self, place)
        return found


class _Asked(Struct):
    """A request in the form in which openapi-core finds its operation."""

    host_url: str
    path: str
    method: str
    parameters: _Parameters
    content_type: str
    body: bytes | None


def violations(entries: Iterable[JournalEntry], contract: Contract) -> tuple[Violation, ...]:
    """Return what a version does not allow in these requests, the same thing of one client once.

    Requests that no operation answered, and those whose content was forgotten, are not judged.
    Raises LintUnavailable without openapi-core.
    """
    lint = ClientLint(contract)
    for entry in entries:
        if entry.content.request is not None and entry.operation:
            lint.add(entry.operation, entry.content.request, entry.sequence)
    return lint.violations


class ClientLint:
    """Judges one request after the other by a version; the same of one client is found once.

    Not safe for threads.
    """

    __slots__ = ("_contract", "_found")

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._found: dict[tuple[str, str, str, str], Violation] = {}

    @property
    def violations(self) -> tuple[Violation, ...]:
        """What was found so far."""
        return tuple(self._found.values())

    def add(self, operation_id: str, request: Request, sequence: int) -> None:
        """Judge a request to an operation; raises LintUnavailable without openapi-core."""
        client = _client(request)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of members that the document has
            for operation, place, words, lines in _wrong(self._contract, operation_id, request):
                key = client, operation, place, words
                seen = self._found.get(key)
                self._found[key] = (
                    Violation(*key, lines, sequence, 1)
                    if seen is None
                    else msgspec.structs.replace(seen, requests=seen.requests + 1)
                )


def _wrong(
    contract: Contract, operation_id: str, request: Request
) -> Iterator[tuple[str, str, str, str]]:
    """Yield operation, place, words and lines of what is wrong with a request."""
    scheme, _, token = (request.headers.get("authorization") or "").partition(" ")
    if scheme.lower() == "bearer" and token.strip().lower() in _NO_TOKENS:
        words = f"a bearer token that is none: {token.strip()!r}"
        yield "", "header Authorization", words, ""
    operation = contract.operations.get(operation_id)
    if operation is None:
        return  # it is of a later document, and served nevertheless
    parameters, bodies = _validators(contract)
    request = decoded(request)
    if not can_be_read(request):
        yield operation_id, "body", "it cannot be read", ""
        return
    asked = _asked(contract, operation.path, operation.method, request)
    for error in parameters.iter_errors(asked):
        name = getattr(error, "name", "")
        lines = _parameter_lines(contract, operation.path, operation.method, name)
        for place, words in _explained(error, f"{getattr(error, 'location', '')} {name}".strip()):
            yield operation_id, place, words, lines
    if operation.request_media_type is None or is_coded(request):
        return
    for words in text_flaws(request):
        yield operation_id, "body", words, ""
    for error in bodies.iter_errors(asked):
        within = f"/paths/{_escaped(operation.path)}/{operation.method.lower()}/requestBody"
        for place, words in _explained(error, "body"):
            yield operation_id, place, words, _span(contract, within)


def _explained(error: Any, where: str) -> Iterator[tuple[str, str]]:
    """Yield the places at which a parameter or a body is wrong, and what is."""
    inner = getattr(error.__cause__, "schema_errors", None)
    if not inner:
        yield where, _words(error)
        return
    for each in inner:
        deepest = _most_telling(each)
        yield f"{where} {_pointer(deepest)}".strip(), _demand(deepest)


def _pointer(error: Any) -> str:
    """Return where an error is; places in lists and names in maps are `*`, as they are many."""
    names, keywords = [*error.absolute_path], [*error.absolute_schema_path]
    parts: list[str] = []
    at = 0
    while at < len(keywords) and len(parts) < len(names):
        match keywords[at]:
            case "properties":
                parts.append(str(names[len(parts)]))
                at += 1  # the name, which is no keyword
            case "additionalProperties" | "items":
                parts.append("*")
        at += 1
    parts += map(str, names[len(parts) :])
    return "".join(f"/{part}" for part in parts)


def _most_telling(error: Any) -> Any:
    """Return the innermost error that says most.

    Of alternatives that is one of the alternative that was meant, such as the update whose `action`
    it has: none of its constants is missed.
    """
    while error.context:
        missed = {e.schema_path[0] for e in error.context if e.validator in ("const", "enum")}
        meant = [e for e in error.context if e.schema_path[0] not in missed] or error.context
        error = max(meant, key=lambda each: len(each.absolute_path))
    return error


def _demand(error: Any) -> str:
    """Return in words what a schema demands; the value that was sent may be a secret."""
    wanted = error.validator_value
    match error.validator:
        case "required":
            missing = [name for name in wanted if name not in error.instance]
            return f"{missing[0] if missing else wanted!r} is missing"
        case "type":
            return f"it has to be of type {wanted}"
        case "enum":
            return f"it has to be one of {wanted}"[:_WORDS_MAX]
        case "const":
            return f"it has to be {wanted!r}"
        case other:
            return f"it does not fit: {other} {wanted!r}"[:_WORDS_MAX]


def _words(error: Exception) -> str:
    cause = error.__cause__ or error
    wanted = getattr(cause, "type", "")
    return f"it cannot be read as {wanted}" if wanted else type(cause).__name__


def _asked(contract: Contract, path: str, method: str, request: Request) -> _Asked:
    from urllib.parse import parse_qs

    names = path.replace("{", "").replace("}", "")
    query = {
        name: values[-1]
        for name, values in parse_qs(request.query_string, keep_blank_values=True).items()
    }
    headers = {
        name.title(): _tight(value) if name.title() in _list_headers(contract) else value
        for name, value in request.headers.items()
    }
    sent = (request.headers.get("content-type") or "application/json").partition(";")[0].strip()
    return _Asked(
        _HOST,
        names,
        method.lower(),
        _Parameters(query, _Insensitive(headers), {}, _Anything()),
        sent,
        request.body or None,
    )


def _tight(value: str) -> str:
    """Return a list without the blanks around its elements: they say nothing (RFC 9110, 5.6.1)."""
    return ",".join(element.strip(" \t") for element in value.split(","))


@cache
def _list_headers(contract: Contract) -> frozenset[str]:
    """Return the names of the headers that are lists, each word of them with a capital."""
    document = contract.corrected(("repair",))
    of_operations = (
        told
        for path in document["paths"].values()
        for operation in path.values()
        if isinstance(operation, Mapping)
        for told in operation.get("parameters", ())
    )
    parameters = [resolve(document, told) for told in of_operations]
    return frozenset(
        parameter["name"].title()
        for parameter in parameters
        if parameter["in"] == "header"
        and resolve(document, parameter["schema"]).get("type") == "array"
    )


class _Insensitive(dict[str, Any]):
    """Headers by names in any spelling."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(str(name).title())

    def __getitem__(self, name: str) -> Any:
        return super().__getitem__(name.title())


class _Anything(dict[str, Any]):
    """Parameters of a path: the router has read them, and any text is allowed."""

    def __contains__(self, _name: object) -> bool:
        return True

    def __getitem__(self, name: str) -> Any:
        return name


@cache
def _validators(contract: Contract) -> tuple[Any, Any]:
    """Return the validators of parameters and of bodies, made once."""
    try:
        from jsonschema_path import SchemaPath
        from openapi_core.validation.request.validators import (
            V31RequestBodyValidator,
            V31RequestParametersValidator,
        )
    except ModuleNotFoundError as missing:
        from icecheck.installing import install_command

        raise LintUnavailable(
            f"{missing.name} is not installed: {install_command('suite')}"
        ) from None
    # What the prose demands of a request, and the schemas leave out; not what it only recommends.
    strict = {id_: each for id_, each in contract.errata.items() if each.part == "strict"}
    lesser = {id_ for id_, each in strict.items() if each.level is not Level.MUST}
    demanded = contract.corrected(("repair", "strict"), leave_out=lesser)
    told = {**demanded, "servers": [{"url": _HOST}]}
    document = SchemaPath.from_dict(told)
    return (
        V31RequestParametersValidator(document, format_validators={}),
        V31RequestBodyValidator(document, format_validators={}),
    )


def _parameter_lines(contract: Contract, path: str, method: str, name: str) -> str:
    """Return the lines that describe a parameter, or else those of the operation."""
    document = contract.raw
    within = f"/paths/{_escaped(path)}"
    for pointer, node in (
        (f"{within}/{method.lower()}", document["paths"][path][method.lower()]),
        (within, document["paths"][path]),
    ):
        for position, told in enumerate(node.get("parameters", ())):
            if resolve(document, told)["name"] == name:
                own = _span(contract, f"{pointer}/parameters/{position}")
                return own or _span(contract, told.get("$ref", "").removeprefix("#"))
    return _span(contract, f"{within}/{method.lower()}")


def _span(contract: Contract, pointer: str) -> str:
    from icecheck.contract.model import UnknownRef

    try:
        first, last = contract.lines(pointer)
    except UnknownRef:
        return ""
    return f"L{first}" if first == last else f"L{first}-L{last}"


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


def _client(request: Request) -> str:
    """Return what a client calls itself; Iceberg's own header says more than that of its HTTP."""
    named = request.headers.get("x-client-version") or request.headers.get("user-agent")
    return (named or "unnamed")[:_WORDS_MAX]
