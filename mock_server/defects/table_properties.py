"""Ways in which servers lose a new table's properties, its location or its format version."""

import re
from collections.abc import Callable

from icecheck.mock_server.context import Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import alter_request_body
from icecheck.mock_server.defects.storing import Body


def _properties_as(registries: Registries, alter: Callable[[Body], Body]) -> None:
    def altered(body: Body) -> Body:
        properties = body.get("properties")
        return body | {"properties": alter(properties)} if properties else body

    alter_request_body(registries, "createTable", altered)


@defect(
    "table-properties-lost",
    breaks="createTable.properties-kept",
    suffering="TBLPROPERTIES are ignored.",
)
def _properties_lost(registries: Registries) -> None:
    """Properties sent with a creation are not stored."""
    _properties_as(registries, lambda _properties: {})


@defect(
    "empty-properties-dropped",
    breaks="createTable.properties-kept",
    suffering="A property that was set to nothing falls back to the catalog's default.",
)
def _empty_properties_dropped(registries: Registries) -> None:
    """Properties with an empty value are taken for unset."""
    _properties_as(registries, lambda properties: {k: v for k, v in properties.items() if v})


@defect(
    "property-values-trimmed",
    breaks="createTable.properties-kept",
    suffering="A delimiter of one blank is gone.",
)
def _values_trimmed(registries: Registries) -> None:
    """Property values lose the blanks around them."""
    _properties_as(registries, lambda properties: {k: v.strip() for k, v in properties.items()})


@defect(
    "property-keys-lower-cased",
    breaks="createTable.properties-kept",
    suffering="Settings per column are lost for columns with capital letters.",
)
def _keys_lower_cased(registries: Registries) -> None:
    """Property keys pass through a store that writes them in small letters."""
    _properties_as(registries, lambda properties: {k.lower(): v for k, v in properties.items()})


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


@defect(
    "table-location-ignored",
    breaks="createTable.location-kept",
    suffering="Files end up in another bucket than the one that was named.",
)
def _location_ignored(registries: Registries) -> None:
    """A creation with a location succeeds, and the table lies elsewhere."""
    alter_request_body(registries, "createTable", lambda body: body | {"location": None})


# ------------------------------------------------------------------ format versions


def _version_as(registries: Registries, version: Callable[[str], str]) -> None:
    key = "format-version"
    _properties_as(
        registries,
        lambda properties: {k: version(v) if k == key else v for k, v in properties.items()},
    )


@defect(
    "format-version-always-2",
    breaks="createTable.format-version-property",
    suffering="TBLPROPERTIES ('format-version'='3') is ignored.",
)
def _always_version_2(registries: Registries) -> None:
    """The property format-version is ignored."""
    _version_as(registries, lambda _version: "2")


@defect(
    "format-version-always-newest",
    breaks="createTable.format-version-property",
    suffering="Old readers cannot read tables that were made for them.",
)
def _always_newest_version(registries: Registries) -> None:
    """Every table gets the newest format version."""
    _version_as(registries, lambda _version: "3")


@defect(
    "format-version-clamped",
    breaks="createTable.format-version-out-of-range",
    suffering="A table of a version that does not exist is made, in another one.",
)
def _version_clamped(registries: Registries) -> None:
    """A format version out of range is taken for the nearest one."""
    _version_as(registries, lambda version: str(min(3, max(1, int(version)))))
