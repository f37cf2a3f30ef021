"""What a server might have refused, and says that it has done while it has not."""

from typing import Any

from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import alter_request_body, wrap
from icecheck.mock_server.defects.versions import Faithful, alter_update, ignore_update
from icecheck.mock_server.model import MAIN_BRANCH
from icecheck.mock_server.problem import bad_request
from icecheck.mock_server.state import WarehouseState
from icecheck.mock_server.wire import Reply

_PROPERTY_BYTES_MAX = 64 * 1024
_COLUMNS_MAX = 500


@defect(
    "update-main-removal-refused",
    breaks="update.remove-snapshot-ref.main",
    suffering="REPLACE TABLE fails.",
)
def _main_removal_refused(registries: Registries) -> None:
    """Main is not removed, and the client is told so."""

    def refusing(faithful: Faithful, update: Any, draft: Any) -> None:
        if update.ref_name == MAIN_BRANCH:
            raise bad_request("Cannot remove the main branch")
        faithful(update, draft)

    alter_update(registries, "remove-snapshot-ref", refusing)


@defect(
    "update-tagged-snapshot-stays",
    breaks="update.remove-snapshots.effect",
    suffering="Snapshots that were expired keep their files for ever.",
)
def _tagged_snapshot_stays(registries: Registries) -> None:
    """A snapshot that a branch or tag names is left out of a removal, and nothing is said."""

    def named(update: Any, draft: Any) -> bool:
        ids = {ref.snapshot_id for ref in draft.metadata.refs.values()}
        return not ids.isdisjoint(update.snapshot_ids)

    ignore_update(registries, "remove-snapshots", named)


@defect(
    "update-spec-without-field-ids-left-out",
    breaks="update.add-spec.effect",
    suffering="A partition spec that was added is not there.",
)
def _spec_left_out(registries: Registries) -> None:
    """A spec whose fields have no ids is not understood, and left out."""
    ignore_update(
        registries,
        "add-spec",
        lambda update, _: any(field.field_id is None for field in update.spec.fields),
    )


@defect(
    "update-large-property-refused",
    breaks="update.set-properties.large",
    suffering="Wide tables cannot be imported: their name mapping is refused.",
)
def _large_property_refused(registries: Registries) -> None:
    """A property is refused that is longer than the column of a database."""

    def refusing(faithful: Faithful, update: Any, draft: Any) -> None:
        if any(len(value) > _PROPERTY_BYTES_MAX for value in update.updates.values()):
            raise bad_request("Value too long")
        faithful(update, draft)

    alter_update(registries, "set-properties", refusing)


@defect(
    "columns-cut-at-500",
    breaks="createTable.schema-kept",
    suffering="Wide tables of sensors and features lose half of their columns.",
)
def _columns_cut(registries: Registries) -> None:
    """A table is created with its first 500 columns."""

    def cut(body: dict[str, Any]) -> dict[str, Any]:
        schema = body.get("schema")
        if not isinstance(schema, dict) or len(schema.get("fields", ())) <= _COLUMNS_MAX:
            return body
        return {**body, "schema": {**schema, "fields": schema["fields"][:_COLUMNS_MAX]}}

    alter_request_body(registries, "createTable", cut)


@defect(
    "partition-by-column-zero-left-out",
    breaks="createTable.partition-spec-kept",
    suffering="Tables that Spark partitions by their first column are not partitioned.",
)
def _column_zero_left_out(registries: Registries) -> None:
    """A source id of 0 is none, and the partition field that has it is left out."""

    def without(body: dict[str, Any]) -> dict[str, Any]:
        spec = body.get("partition-spec")
        if not isinstance(spec, dict) or not isinstance(spec.get("fields"), list):
            return body
        kept = [field for field in spec["fields"] if field.get("source-id")]
        return {**body, "partition-spec": {**spec, "fields": kept}}

    alter_request_body(registries, "createTable", without)


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
    breaks="dropTable.gone",
    suffering="PyIceberg drops a table, and it is still there.",
)
def _capital_boolean_ignored(registries: Registries) -> None:
    """A drop whose purgeRequested cannot be read is put aside, and answered 204."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if call.query.get("purgeRequested") in {"True", "False"}:
            return Outcome(state, Reply(204, (), b""))
        return faithful(context, state, call)

    wrap(registries, "dropTable", around)


@defect(
    "drop-false-drops-not",
    breaks="dropTable.gone",
    suffering="Spark's DROP TABLE does nothing: it sends purgeRequested=false.",
)
def _false_drops_not(registries: Registries) -> None:
    """A drop that says that nothing shall be purged drops nothing."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if call.query.get("purgeRequested") == "false":
            return Outcome(state, Reply(204, (), b""))
        return faithful(context, state, call)

    wrap(registries, "dropTable", around)
