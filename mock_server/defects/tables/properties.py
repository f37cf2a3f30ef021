"""Defects of a new table's properties, its location or its format version."""

import re
from collections.abc import Callable

from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.rewriting import alter_request_body


def _properties_as(registries: Registries, alter: Callable[[Json], Json]) -> None:
    def altered(body: Json) -> Json:
        properties = body.get("properties")
        return body | {"properties": alter(properties)} if properties else body

    alter_request_body(registries, "createTable", altered)


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


declare_each(
    ("table-properties-lost", "createTable.properties-kept",
     "Properties sent with a creation are not stored.", "TBLPROPERTIES are ignored.",
     by(_properties_as, lambda _properties: {})),
    ("empty-properties-dropped", "createTable.properties-kept",
     "Properties with an empty value are taken for unset.",
     "A property that was set to nothing falls back to the catalog's default.",
     by(_properties_as, lambda properties: {k: v for k, v in properties.items() if v})),
    ("property-values-trimmed", "createTable.properties-kept",
     "Property values lose the blanks around them.", "A delimiter of one blank is gone.",
     by(_properties_as, lambda properties: {k: v.strip() for k, v in properties.items()})),
    ("property-keys-lower-cased", "createTable.properties-kept",
     "Property keys pass through a store that writes them in small letters.",
     "Settings per column are lost for columns with capital letters.",
     by(_properties_as, lambda properties: {k.lower(): v for k, v in properties.items()})),
    ("table-location-ignored", "createTable.location-kept",
     "A creation with a location succeeds, and the table lies elsewhere.",
     "Files end up in another bucket than the one that was named.",
     by(alter_request_body, "createTable", lambda body: body | {"location": None})),
)  # fmt: skip


# ------------------------------------------------------------------ format versions


def _version_as(registries: Registries, version: Callable[[str], str]) -> None:
    key = "format-version"
    _properties_as(
        registries,
        lambda properties: {k: version(v) if k == key else v for k, v in properties.items()},
    )


declare_each(
    ("format-version-always-2", "createTable.format-version-property",
     "The property format-version is ignored.", "TBLPROPERTIES ('format-version'='3') is ignored.",
     by(_version_as, lambda _version: "2")),
    ("format-version-always-newest", "createTable.format-version-property",
     "Every table gets the newest format version.",
     "Old readers cannot read tables that were made for them.",
     by(_version_as, lambda _version: "3")),
    ("format-version-clamped", "createTable.format-version-out-of-range",
     "A format version out of range is taken for the nearest one.",
     "A table of a version that does not exist is made, in another one.",
     by(_version_as, lambda version: str(min(3, max(1, int(version)))))),
)  # fmt: skip
