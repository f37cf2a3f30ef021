"""Defects of requests that the server could refuse, but accepts without effect."""

from typing import Any

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, defect, through
from icecheck.mock_server.defects.kit.places import request_of, table_update
from icecheck.mock_server.defects.kit.rewriting import Faithful
from icecheck.mock_server.defects.kit.updating import FaithfulUpdate, ignore_update
from icecheck.mock_server.metadata.model import MAIN_BRANCH
from icecheck.mock_server.protocol.problem import bad_request
from icecheck.mock_server.protocol.wire import Reply

_PROPERTY_BYTES_MAX = 64 * 1024
_COLUMNS_MAX = 500


@defect(
    "update-main-removal-refused",
    on=table_update("remove-snapshot-ref"),
    breaks="update.remove-snapshot-ref.main",
    suffering="REPLACE TABLE fails.",
)
def _main_removal_refused(faithful: FaithfulUpdate, update: Any, draft: Any) -> None:
    """Main is not removed, and the client is told so."""
    if update.ref_name == MAIN_BRANCH:
        raise bad_request("Cannot remove the main branch")
    faithful(update, draft)


@defect(
    "update-tagged-snapshot-stays",
    on=through(ignore_update, "remove-snapshots"),
    breaks="update.remove-snapshots.effect",
    suffering="Snapshots that were expired keep their files for ever.",
)
def _tagged_snapshot_stays(update: Any, draft: Any) -> bool:
    """A snapshot that a branch or tag names is left out of a removal, and nothing is said."""
    ids = {ref.snapshot_id for ref in draft.metadata.refs.values()}
    return not ids.isdisjoint(update.snapshot_ids)


declare(
    "update-spec-without-field-ids-left-out",
    "A spec whose fields have no ids is not understood, and left out.",
    by(
        ignore_update,
        "add-spec",
        lambda update, _: any(field.field_id is None for field in update.spec.fields),
    ),
    breaks="update.add-spec.effect",
    suffering="A partition spec that was added is not there.",
)


@defect(
    "update-large-property-refused",
    on=table_update("set-properties"),
    breaks="update.set-properties.large",
    suffering="Wide tables cannot be imported: their name mapping is refused.",
)
def _large_property_refused(faithful: FaithfulUpdate, update: Any, draft: Any) -> None:
    """A property is refused that is longer than the column of a database."""
    if any(len(value) > _PROPERTY_BYTES_MAX for value in update.updates.values()):
        raise bad_request("Value too long")
    faithful(update, draft)


@defect(
    "columns-cut-at-500",
    on=request_of("createTable"),
    breaks="createTable.schema-kept",
    suffering="Wide tables of sensors and features lose half of their columns.",
)
def _columns_cut(body: dict[str, Any]) -> dict[str, Any]:
    """A table is created with its first 500 columns."""
    schema = body.get("schema")
    if not isinstance(schema, dict) or len(schema.get("fields", ())) <= _COLUMNS_MAX:
        return body
    return {**body, "schema": {**schema, "fields": schema["fields"][:_COLUMNS_MAX]}}


@defect(
    "partition-by-column-zero-left-out",
    on=request_of("createTable"),
    breaks="createTable.partition-spec-kept",
    suffering="Tables that Spark partitions by their first column are not partitioned.",
)
def _column_zero_left_out(body: dict[str, Any]) -> dict[str, Any]:
    """A source id of 0 is none, and the partition field that has it is left out."""
    spec = body.get("partition-spec")
    if not isinstance(spec, dict) or not isinstance(spec.get("fields"), list):
        return body
    kept = [field for field in spec["fields"] if field.get("source-id")]
    return {**body, "partition-spec": {**spec, "fields": kept}}


@defect(
    "view-last-added-version-ignored",
    breaks="view-update.set-current-view-version.effect",
    suffering="CREATE OR REPLACE VIEW succeeds, and the view is what it was.",
)
def _last_added_ignored(registries: Registries) -> None:
    """A version id of -1 is no version, and nothing becomes current."""
    faithful = registries.view_updates["set-current-view-version"]

    def apply(update: Any, draft: Any) -> None:
        if update.view_version_id >= 0:
            faithful(update, draft)

    registries.view_updates["set-current-view-version"] = apply


@defect(
    "drop-capital-boolean-ignored",
    on="dropTable",
    breaks="dropTable.gone",
    suffering="PyIceberg drops a table, and it is still there.",
)
def _capital_boolean_ignored(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A drop whose purgeRequested cannot be read is put aside, and answered 204."""
    if call.query.get("purgeRequested") in {"True", "False"}:
        return Outcome(state, Reply(204, (), b""))
    return faithful(state, call)


@defect(
    "drop-false-drops-not",
    on="dropTable",
    breaks="dropTable.gone",
    suffering="Spark's DROP TABLE does nothing: it sends purgeRequested=false.",
)
def _false_drops_not(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A drop that says that nothing shall be purged drops nothing."""
    if call.query.get("purgeRequested") == "false":
        return Outcome(state, Reply(204, (), b""))
    return faithful(state, call)
