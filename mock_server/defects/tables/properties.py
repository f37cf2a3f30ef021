"""Defects of a new table's properties, its location or its format version."""

import re
from collections.abc import Callable
from typing import Any

from msgspec import structs

from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.kit.declaring import by, declare_each
from icecheck.mock_server.defects.kit.rewriting import alter_created, alter_request_body
from icecheck.mock_server.defects.kit.updating import FaithfulUpdate, alter_update
from icecheck.mock_server.metadata.builder import Draft


def _without_zeros(value: str) -> str:
    return str(int(value)) if re.fullmatch("[0-9]+", value) else value


declare_each(
    ("property-numbers-reformatted", "createTable.properties-kept",
     "Property values that look like numbers are stored as numbers.",
     "An identifier made of digits loses its leading zeros.",
     by(alter_created, "properties",
        lambda properties: {k: _without_zeros(v) for k, v in properties.items()})),
    ("table-properties-lost", "createTable.properties-kept",
     "Properties sent with a creation are not stored.", "TBLPROPERTIES are ignored.",
     by(alter_created, "properties", lambda _properties: {})),
    ("empty-properties-dropped", "createTable.properties-kept",
     "Properties with an empty value are taken for unset.",
     "A property that was set to nothing falls back to the catalog's default.",
     by(alter_created, "properties", lambda sent: {k: v for k, v in sent.items() if v})),
    ("property-values-trimmed", "createTable.properties-kept",
     "Property values lose the blanks around them.", "A delimiter of one blank is gone.",
     by(alter_created, "properties", lambda sent: {k: v.strip() for k, v in sent.items()})),
    ("property-keys-lower-cased", "createTable.properties-kept",
     "Property keys pass through a store that writes them in small letters.",
     "Settings per column are lost for columns with capital letters.",
     by(alter_created, "properties", lambda sent: {k.lower(): v for k, v in sent.items()})),
    ("table-location-ignored", "createTable.location-kept",
     "A creation with a location succeeds, and the table lies elsewhere.",
     "Files end up in another bucket than the one that was named.",
     by(alter_request_body, "createTable", lambda body: body | {"location": None})),
)  # fmt: skip


# -------------------------------------------------------------- what engines obey


def _stored_as(registries: Registries, kept: Callable[[str, str], str | None]) -> None:
    """Store other values of properties that are set later; None: they are not stored."""

    def altered(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
        found = {key: kept(key, value) for key, value in update.updates.items()}
        stored = {key: value for key, value in found.items() if value is not None}
        faithful(structs.replace(update, updates=stored), draft)

    alter_update(registries, "set-properties", altered)


declare_each(
    ("table-metrics-of-columns-lost", "alike.table-well-known-keys",
     "Of the settings of metrics, only those for all columns have a place in the store.",
     "Engines write no statistics for the columns that somebody has chosen.",
     by(_stored_as, lambda k, v: None if k.startswith("write.metadata.metrics.column.") else v)),
    ("table-places-are-the-servers", "alike.table-well-known-keys",
     "The place of a table's files is put back to the server's choice, in silence.",
     "Files end up in another bucket than the one that was named.",
     by(_stored_as, lambda k, v: v.rpartition("-")[0] if k.endswith(".path") else v)),
)  # fmt: skip


# ------------------------------------------------------------------ format versions


def _version_as(registries: Registries, version: Callable[[str], str]) -> None:
    key = "format-version"
    alter_created(
        registries,
        "properties",
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
