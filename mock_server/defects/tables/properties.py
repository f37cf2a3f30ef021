"""Defects of a new table's properties, its location or its format version."""

import re
from collections.abc import Callable

from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.kit.declaring import by, declare, defect
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.rewriting import alter_request_body


def _properties_as(registries: Registries, alter: Callable[[Json], Json]) -> None:
    def altered(body: Json) -> Json:
        properties = body.get("properties")
        return body | {"properties": alter(properties)} if properties else body

    alter_request_body(registries, "createTable", altered)


declare(
    "table-properties-lost",
    "Properties sent with a creation are not stored.",
    by(_properties_as, lambda _properties: {}),
    breaks="createTable.properties-kept",
    suffering="TBLPROPERTIES are ignored.",
)

declare(
    "empty-properties-dropped",
    "Properties with an empty value are taken for unset.",
    by(_properties_as, lambda properties: {k: v for k, v in properties.items() if v}),
    breaks="createTable.properties-kept",
    suffering="A property that was set to nothing falls back to the catalog's default.",
)

declare(
    "property-values-trimmed",
    "Property values lose the blanks around them.",
    by(_properties_as, lambda properties: {k: v.strip() for k, v in properties.items()}),
    breaks="createTable.properties-kept",
    suffering="A delimiter of one blank is gone.",
)

declare(
    "property-keys-lower-cased",
    "Property keys pass through a store that writes them in small letters.",
    by(_properties_as, lambda properties: {k.lower(): v for k, v in properties.items()}),
    breaks="createTable.properties-kept",
    suffering="Settings per column are lost for columns with capital letters.",
)


@defect(
    "property-numbers-reformatted",
    breaks="createTable.properties-kept",
    suffering="An identifier made of digits loses its leading zeros.",
)
def _numbers_reformatted(registries: Registries) -> None:
    """Property values that look like numbers are stored as numbers."""

    def reformatted(value: str) -> str:
        return str(int(value)) if re.fullmatch("[0-9]+", value) else value

    _properties_as(
        registries, lambda properties: {k: reformatted(v) for k, v in properties.items()}
    )


declare(
    "table-location-ignored",
    "A creation with a location succeeds, and the table lies elsewhere.",
    by(alter_request_body, "createTable", lambda body: body | {"location": None}),
    breaks="createTable.location-kept",
    suffering="Files end up in another bucket than the one that was named.",
)


# ------------------------------------------------------------------ format versions


def _version_as(registries: Registries, version: Callable[[str], str]) -> None:
    key = "format-version"
    _properties_as(
        registries,
        lambda properties: {k: version(v) if k == key else v for k, v in properties.items()},
    )


declare(
    "format-version-always-2",
    "The property format-version is ignored.",
    by(_version_as, lambda _version: "2"),
    breaks="createTable.format-version-property",
    suffering="TBLPROPERTIES ('format-version'='3') is ignored.",
)

declare(
    "format-version-always-newest",
    "Every table gets the newest format version.",
    by(_version_as, lambda _version: "3"),
    breaks="createTable.format-version-property",
    suffering="Old readers cannot read tables that were made for them.",
)

declare(
    "format-version-clamped",
    "A format version out of range is taken for the nearest one.",
    by(_version_as, lambda version: str(min(3, max(1, int(version))))),
    breaks="createTable.format-version-out-of-range",
    suffering="A table of a version that does not exist is made, in another one.",
)
