"""Defects of updates that are kept slightly changed, or that change more than they name."""

import html
import unicodedata
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from msgspec import structs

from icecheck.mock_server.defects.kit.declaring import Install, by, declare
from icecheck.mock_server.defects.kit.json_values import numbers, objects, texts
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.updating import alter_sent_updates, change_also
from icecheck.mock_server.metadata.model import TableMetadata

Kept = Callable[[TableMetadata, Any], Json]
"""Returns, for the metadata after an update and the update, the members to change besides."""

_INT32_MAX = 2**31 - 1
_DOUBLE_EXACT_MAX = 2**53
_ACTION = "action"


def _sent(
    action: str, name: str, title: str, suffering: str, alter: Callable[[Json], Json]
) -> None:
    """Declare that an update is read in an altered form."""
    _declare(action, name, title, suffering, by(alter_sent_updates, action, alter))


def _beside(action: str, name: str, title: str, suffering: str, kept: Kept) -> None:
    """Declare that an update changes more than it names."""
    install = by(change_also, action, lambda _, after, update: kept(after, update))
    _declare(action, name, title, suffering, install)


def _declare(action: str, name: str, title: str, suffering: str, install: Install) -> None:
    breaks = f"roundtrip.updateTable.{action}"
    declare(f"roundtrip-{name}", title, install, breaks=breaks, suffering=suffering)


def _as_double(number: int) -> int:
    return int(float(number)) if _DOUBLE_EXACT_MAX < number < 2**62 else number


def _clamped(number: int) -> int:
    return min(number, _INT32_MAX)


# ---- kept otherwise than sent

_sent(
    "add-schema", "docs-escaped", "Docs of added columns are escaped as HTML",
    "Comments of columns are full of ampersands.",
    lambda u: objects(
        u, lambda f: f | {"doc": html.escape(f["doc"])} if isinstance(f.get("doc"), str) else f
    ),
)  # fmt: skip
_sent(
    "add-schema", "inner-values-optional", "Values of a map inside a list are optional",
    "A column takes nulls that its owner forbade.",
    lambda u: objects(
        u,
        lambda t: (
            t | {"element": t["element"] | {"value-required": False}}
            if isinstance(t.get("element"), dict) and "value-required" in t["element"]
            else t
        ),
    ),
)  # fmt: skip
_sent(
    "add-spec", "field-names-trimmed", "Names of partition fields lose the blanks around them",
    "Paths of partitions are not what their writer computes.",
    lambda u: objects(u, lambda f: f | {"name": f["name"].strip()} if "name" in f else f),
)  # fmt: skip
_sent(
    "add-spec", "fields-sorted", "The fields of a spec are sorted by their names",
    "Partitions have another order of levels than was asked for.",
    lambda u: u | {
        "spec": u["spec"] | {"fields": sorted(u["spec"]["fields"], key=lambda f: f["name"])}
    },
)  # fmt: skip
_sent(
    "add-sort-order", "nulls-always-first", "Nulls come first, wherever they were put",
    "Readers that trust the order skip the rows without a value.",
    lambda u: objects(
        u, lambda f: f | {"null-order": "nulls-first"} if "null-order" in f else f
    ),
)  # fmt: skip
_sent(
    "set-default-spec", "spec-zero-is-none", "A default spec of 0 is taken for none, and ignored",
    "The table stays partitioned in the way that was given up.",
    lambda u: u if u.get("spec-id") else {_ACTION: "remove-properties", "removals": ["icecheck"]},
)  # fmt: skip
_sent(
    "set-location", "location-decoded", "A location is percent-decoded",
    "Files are written to one place and looked for in another.",
    lambda u: u | {"location": unquote(str(u.get("location")))},
)  # fmt: skip
_sent(
    "set-properties", "values-composed", "Values of properties are stored in normal form C",
    "A path with an accent names another file.",
    lambda u: u | {"updates": texts(u["updates"], lambda t: unicodedata.normalize("NFC", t))},
)  # fmt: skip
_sent(
    "set-properties", "line-ends-normalised", "CR LF in values of properties becomes LF",
    "A script that is kept in a property does not run.",
    lambda u: u | {"updates": texts(u["updates"], lambda t: t.replace("\r\n", "\n"))},
)  # fmt: skip
_sent(
    "set-properties", "keys-trimmed", "Keys of properties lose the blanks around them",
    "A setting replaces another one.",
    lambda u: u | {"updates": {key.strip(): value for key, value in u["updates"].items()}},
)  # fmt: skip
_sent(
    "add-snapshot", "summary-empties-dropped", "Empty values of a summary are dropped",
    "A streaming job does not find where it stopped.",
    lambda u: u | {
        "snapshot": u["snapshot"]
        | {"summary": {k: v for k, v in u["snapshot"].get("summary", {}).items() if v}}
    },
)  # fmt: skip
_sent(
    "add-snapshot", "snapshot-numbers-as-doubles", "Numbers of a snapshot pass through doubles",
    "A snapshot has another id than its writer knows.",
    lambda u: u | {"snapshot": numbers(u["snapshot"], _as_double)},
)  # fmt: skip
_sent(
    "set-snapshot-ref", "ref-names-lower", "Names of refs are kept in small letters",
    "A branch is not found by its name, or is another one.",
    lambda u: u | {"ref-name": str(u.get("ref-name")).lower()},
)  # fmt: skip
_sent(
    "set-statistics", "statistics-fields-sorted", "The fields of a blob are sorted",
    "A sketch is read as one of other columns.",
    lambda u: objects(u, lambda b: b | {"fields": sorted(b["fields"])} if "fields" in b else b),
)  # fmt: skip
_sent(
    "set-partition-statistics", "partition-statistics-size-clamped",
    "Sizes of partition statistics have 32 bits",
    "A file is cut short when it is read.",
    lambda u: u | {
        "partition-statistics": u["partition-statistics"]
        | {"file-size-in-bytes": _clamped(u["partition-statistics"]["file-size-in-bytes"])}
    },
)  # fmt: skip
_sent(
    "add-encryption-key", "key-properties-lower", "Keys of a key's properties are lower-cased",
    "The key service does not know what it is asked for.",
    lambda u: u | {
        "encryption-key": u["encryption-key"]
        | {"properties": {
            k.lower(): v for k, v in (u["encryption-key"].get("properties") or {}).items()
        }}
    },
)  # fmt: skip


# ---- more changes than the named one


def _only_current_schema(metadata: TableMetadata, _update: Any) -> Json:
    current = [s for s in metadata.schemas if s.schema_id == metadata.current_schema_id]
    return {"schemas": tuple(current)}


def _orphans(metadata: TableMetadata, _update: Any) -> Json:
    return {
        "snapshots": tuple(structs.replace(s, parent_snapshot_id=None) for s in metadata.snapshots)
    }


_beside(
    "assign-uuid", "uuid-empties-statistics", "assign-uuid begins a table anew: no statistics",
    "Planning is slow after every repair.",
    lambda _metadata, _update: {"statistics": ()},
)  # fmt: skip
_beside(
    "upgrade-format-version", "upgrade-keeps-current-schema",
    "An upgrade copies the current schema, and no other one",
    "Old snapshots cannot be read.",
    _only_current_schema,
)  # fmt: skip
_beside(
    "set-current-schema", "current-schema-lowers-last-id",
    "The highest column id is that of the current schema",
    "A column id is given twice.",
    lambda metadata, _update: {
        "last_column_id": max(
            f.id
            for s in metadata.schemas
            if s.schema_id == metadata.current_schema_id
            for f in s.fields
        )
    },
)  # fmt: skip
_beside(
    "remove-schemas", "removed-schemas-up-to", "remove-schemas also removes those with lower ids",
    "Old snapshots cannot be read.",
    lambda metadata, update: {
        "schemas": tuple(
            s
            for s in metadata.schemas
            if s.schema_id > max(update.schema_ids) or s.schema_id == metadata.current_schema_id
        )
    },
)  # fmt: skip
_beside(
    "remove-partition-specs", "removed-specs-last-id",
    "The highest partition field id is that of the specs that are left",
    "Partition values are read under another name.",
    lambda metadata, _update: {
        "last_partition_id": max(
            [999, *(f.field_id for s in metadata.partition_specs for f in s.fields)]
        )
    },
)  # fmt: skip
_beside(
    "set-default-sort-order", "default-order-only", "A table keeps its default sort order only",
    "Files name sort orders that do not exist.",
    lambda metadata, _update: {
        "sort_orders": tuple(
            o for o in metadata.sort_orders if o.order_id == metadata.default_sort_order_id
        )
    },
)  # fmt: skip
_beside(
    "remove-properties", "removals-without-case", "Keys to be removed are compared without case",
    "A setting disappears that nobody named.",
    lambda metadata, update: {
        "properties": {
            key: value
            for key, value in metadata.properties.items()
            if key.lower() not in {each.lower() for each in update.removals}
        }
    },
)  # fmt: skip
_beside(
    "remove-snapshots", "removed-snapshots-orphan-all", "Snapshots that stay lose their parents",
    "Incremental reads fail.",
    _orphans,
)  # fmt: skip
_beside(
    "remove-snapshot-ref", "removed-refs-without-case", "A ref to be removed is found without case",
    "A tag disappears that nobody named.",
    lambda metadata, update: {
        "refs": {k: v for k, v in metadata.refs.items() if k.lower() != update.ref_name.lower()}
    },
)  # fmt: skip
_beside(
    "remove-statistics", "removed-statistics-both",
    "remove-statistics also removes the snapshot's partition statistics",
    "Planning is slow after every run of a clean-up.",
    lambda metadata, update: {
        "partition_statistics": tuple(
            f for f in metadata.partition_statistics if f.snapshot_id != update.snapshot_id
        )
    },
)  # fmt: skip
_beside(
    "remove-partition-statistics", "removed-partition-statistics-older",
    "Partition statistics of older snapshots go too",
    "Planning is slow for whoever travels in time.",
    lambda metadata, update: {
        "partition_statistics": tuple(
            f for f in metadata.partition_statistics if f.snapshot_id > update.snapshot_id
        )
    },
)  # fmt: skip
_beside(
    "remove-encryption-key", "removed-keys-trimmed", "Ids of keys are trimmed before they compare",
    "Files cannot be decrypted any more.",
    lambda metadata, update: {
        "encryption_keys": tuple(
            k for k in metadata.encryption_keys if k.key_id.strip() != update.key_id.strip()
        )
    },
)  # fmt: skip
