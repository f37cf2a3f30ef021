"""Defects of one operation that reads names differently from all others."""

from collections.abc import Callable
from typing import Any
from unicodedata import normalize
from urllib.parse import unquote

from msgspec import structs

from icecheck.mock_server.core.context import Call, Registries
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.rewriting import alter_body, alter_call, alter_request_body

Reading = Callable[[str], str]

_LOST = "What was made under such a name is not found by it, or something else answers."


def _nfc(name: str) -> str:
    return normalize("NFC", name)


_READINGS: dict[str, tuple[Reading, str]] = {
    "decoded-twice": (unquote, "decoded once more than they were encoded"),
    "composed": (_nfc, "compared in a normal form of Unicode"),
}
_IN_PATHS = {
    "loadNamespaceMetadata": "roundtrip.namespace-names",
    "loadTable": "roundtrip.table-names",
    "loadView": "roundtrip.view-names",
    "updateTable": "roundtrip.table-commits-by-name",
    "replaceView": "roundtrip.view-commits-by-name",
    "updateProperties": "roundtrip.properties-by-name",
    "createTable": "roundtrip.names-of-parents",
}
_IN_BODIES = {
    "renameTable": "roundtrip.table-renames",
    "renameView": "roundtrip.view-renames",
    "commitTransaction": "roundtrip.transaction-by-name",
    "registerTable": "roundtrip.registered-names",
}


def _read_anew(value: Any, reading: Reading) -> Any:
    """Return JSON in which every text under the key ``name``, at any depth, is read so."""
    if isinstance(value, list):
        return [_read_anew(each, reading) for each in value]
    if not isinstance(value, dict):
        return value
    anew = {key: _read_anew(item, reading) for key, item in value.items()}
    if isinstance(anew.get("name"), str):
        anew["name"] = reading(anew["name"])
    return anew


def _declare(operation_id: str, breaks: str, slip: str, *, in_path: bool) -> None:
    reading, words = _READINGS[slip]

    def misread(call: Call) -> Call:
        namespace = tuple(reading(level) for level in call.namespace)
        return structs.replace(call, namespace=namespace, name=reading(call.name))

    def install(registries: Registries) -> None:
        if in_path:
            alter_call(registries, operation_id, misread)
        else:
            alter_request_body(registries, operation_id, lambda body: _read_anew(body, reading))

    where = "path" if in_path else "body"
    declare(
        f"{operation_id}-names-{slip}",
        f"Names in the {where} of {operation_id} are {words}.",
        install,
        breaks=breaks,
        suffering=_LOST,
    )


for _slip in _READINGS:
    for _operation_id, _breaks in _IN_PATHS.items():
        _declare(_operation_id, _breaks, _slip, in_path=True)
    for _operation_id, _breaks in _IN_BODIES.items():
        _declare(_operation_id, _breaks, _slip, in_path=False)


def _hide(registries: Registries, operation_id: str) -> None:
    def shown(body: Json) -> Json:
        left = [each for each in body["identifiers"] if each["name"][0] not in "_."]
        return {**body, "identifiers": left}

    alter_body(registries, operation_id, shown)


declare_each(
    ("names-hidden-tables-unlisted", "roundtrip.table-names",
     "Tables are listed as a storage lists directories: none that begins with _ or a dot.", _LOST,
     by(_hide, "listTables")),
    ("names-hidden-views-unlisted", "roundtrip.view-names",
     "Views are listed as a storage lists directories: none that begins with _ or a dot.", _LOST,
     by(_hide, "listViews")),
)  # fmt: skip
