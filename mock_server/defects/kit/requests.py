"""Reads calls and makes altered copies of them, for defects that misread requests."""

import json
from typing import Any, TypeAlias

import msgspec

from icecheck.mock_server.core.context import Call

Json: TypeAlias = dict[str, Any]
Levels: TypeAlias = tuple[str, ...]
"""The name of a namespace."""
Name: TypeAlias = tuple[Levels, str]
"""The namespace and the name of a table or view."""


def sent_json(call: Call) -> Json:
    """Return the body of a request as a JSON object; an empty one if it is no object."""
    try:
        body = json.loads(call.request.body)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def sent_name(call: Call) -> str:
    """Return the name in the body of a creation; empty if there is none."""
    name = sent_json(call).get("name")
    return name if isinstance(name, str) else ""


def rename_end(call: Call, end: str) -> Name:
    """Return the source or destination of a rename; empty where the body names none."""
    identifier = sent_json(call).get(end)
    if not isinstance(identifier, dict):
        return (), ""
    return tuple(identifier.get("namespace", ())), str(identifier.get("name", ""))


def rename_ends(call: Call) -> tuple[Name, Name]:
    """Return source and destination of a rename that has succeeded."""
    return rename_end(call, "source"), rename_end(call, "destination")


def with_content(call: Call, content: bytes) -> Call:
    """Return the same call with another body."""
    return msgspec.structs.replace(
        call, request=msgspec.structs.replace(call.request, body=content)
    )


def unlisted(call: Call) -> Call:
    """Return the call with the object that stands alone in a list in place of that list."""
    content = call.request.body
    return with_content(call, content[1:-1]) if content.startswith(b"[") else call


def with_json(call: Call, body: Any) -> Call:
    """Return the same call with another JSON body."""
    return with_content(call, json.dumps(body).encode())


def with_members(call: Call, **members: Any) -> Call:
    """Return the same call with these members added to, or replaced in, its JSON object."""
    return with_json(call, {**sent_json(call), **members})
