"""Updates of a table's partition specs."""

from msgspec import Struct, structs

from icecheck.mock_server.metadata.binding import bound_spec, highest_partition_field_id, same_spec
from icecheck.mock_server.metadata.builder import Draft, named_id, next_id
from icecheck.mock_server.metadata.column_types import Int32
from icecheck.mock_server.metadata.requested import RequestedPartitionSpec
from icecheck.mock_server.protocol.problem import bad_request
from icecheck.mock_server.updates.registry import table_update


@table_update
class AddPartitionSpecUpdate(Struct, frozen=True, gc=False, tag="add-spec", tag_field="action"):
    """Add a partition spec bound to the current schema, which does not make it the default.

    The server decides the spec id, and the ids of fields that come without one.
    """

    spec: RequestedPartitionSpec

    def apply(self, draft: Draft) -> None:
        """Append the spec, or reuse one with equal fields: then nothing changes."""
        metadata = draft.metadata
        spec = bound_spec(
            self.spec,
            draft.columns(),
            format_version=metadata.format_version,
            last_partition_id=metadata.last_partition_id,
            specs=metadata.partition_specs,
        )
        for existing in metadata.partition_specs:
            if same_spec(existing, spec):
                is_after_new = draft.last_added_spec_id in draft.added_spec_ids
                draft.last_added_spec_id = existing.spec_id if is_after_new else None
                return
        spec_id = next_id((existing.spec_id for existing in metadata.partition_specs), 0)
        draft.added_spec_ids.add(spec_id)
        draft.last_added_spec_id = spec_id
        draft.change(
            partition_specs=(*metadata.partition_specs, structs.replace(spec, spec_id=spec_id)),
            last_partition_id=max(metadata.last_partition_id, highest_partition_field_id(spec)),
        )


@table_update
class SetDefaultSpecUpdate(
    Struct, frozen=True, gc=False, tag="set-default-spec", tag_field="action", rename="kebab"
):
    """Make a partition spec the default; -1 means the one that this commit added last."""

    spec_id: Int32

    def apply(self, draft: Draft) -> None:
        """Move the pointer; refuse (400) an unknown id, and -1 if no spec was added."""
        known = [spec.spec_id for spec in draft.metadata.partition_specs]
        spec_id = named_id(self.spec_id, draft.last_added_spec_id, known, "partition spec")
        if spec_id != draft.metadata.default_spec_id:
            draft.change(default_spec_id=spec_id)


@table_update
class RemovePartitionSpecsUpdate(
    Struct,
    frozen=True,
    gc=False,
    tag="remove-partition-specs",
    tag_field="action",
    rename="kebab",
):
    """Remove partition specs that are not the default; unknown ids are ignored."""

    spec_ids: tuple[Int32, ...]

    def apply(self, draft: Draft) -> None:
        """Remove; even unknown ids are a change, an empty list is none; the default is 400."""
        if not self.spec_ids:
            return
        removed = set(self.spec_ids)
        if draft.metadata.default_spec_id in removed:
            raise bad_request("The default spec stays: it cannot be removed")
        draft.added_spec_ids -= removed
        draft.change(
            partition_specs=tuple(
                spec for spec in draft.metadata.partition_specs if spec.spec_id not in removed
            )
        )
