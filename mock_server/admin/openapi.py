"""The OpenAPI document of the administration, made of its routes."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from icecheck.mock_server.admin.declared import PREFIX, AdminRoute, Empty

_REFERENCE = "#/components/schemas/{name}"
_ALWAYS_REFUSED = (400, 401, 403)


class ErrorModel(msgspec.Struct, frozen=True):
    """What was wrong, and what to do instead."""

    message: str
    type: str
    code: int


class ErrorAnswer(msgspec.Struct, frozen=True):
    """The body of every refusal, as the catalog's own."""

    error: ErrorModel


def openapi_document(routes: Sequence[AdminRoute]) -> dict[str, Any]:
    """Return the document of these routes."""
    from icecheck import __version__

    wanted = [ErrorAnswer]
    wanted += [
        each for route in routes for each in (route.answer, route.described, route.query) if each
    ]
    schemas, components = msgspec.json.schema_components(wanted, ref_template=_REFERENCE)
    of_type = dict(zip(map(repr, wanted), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        path = paths.setdefault(f"{PREFIX}{route.path}", {})
        path[route.method.lower()] = _operation(route, of_type, components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Administration of icecheck's mock catalog",
            "version": __version__,
            "description": "State, journal, faults, gates, defects and clock of a running mock.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"bearer": []}],
    }


def _operation(
    route: AdminRoute, of_type: dict[str, Any], components: dict[str, Any]
) -> dict[str, Any]:
    refused = {"content": {"application/json": {"schema": of_type[repr(ErrorAnswer)]}}}
    statuses = sorted({*_ALWAYS_REFUSED, *route.refusals, *((415,) if route.body else ())})
    answer: dict[str, Any] = {"description": "Done"}
    if route.answer is not Empty:
        schema = of_type[repr(route.answer)]
        answer["content"] = {route.media_type: {"schema": schema}}
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.words.partition(":")[0].partition(";")[0].rstrip("."),
        "description": route.words,
        "parameters": [
            {
                "name": name,
                "in": "path",
                "required": True,
                "schema": {"type": "string", "minLength": 1},
            }
            for name in re.findall(r"{(\w+)}", route.path)
        ],
        "responses": {
            str(route.status): answer,
            **{str(status): {"description": "Refused", **refused} for status in statuses},
        },
    }
    if route.query is not None:
        described = components[route.query.__name__]
        operation["parameters"] += [
            {"name": name, "in": "query", "required": False, "schema": schema}
            for name, schema in described["properties"].items()
        ]
    if route.body is not None:
        content = {"application/json": {"schema": of_type[repr(route.described)]}}
        operation["requestBody"] = {"required": _is_required(route.described), "content": content}
    return operation


def _is_required(body: Any) -> bool:
    """Return whether a body of this type cannot be left out: `{}` stands for one that is."""
    try:
        msgspec.convert({}, body)
    except msgspec.ValidationError:
        return True
    return False
