"""Defects of registerTable that show in some states of the table only."""

from collections.abc import Callable

from msgspec.structs import replace

from icecheck.mock_server.commits import publication
from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import TableEntry, WarehouseState
from icecheck.mock_server.defects.kit.declaring import defect, through
from icecheck.mock_server.defects.kit.remembering import remembering
from icecheck.mock_server.defects.kit.requests import Json, sent_json, sent_name
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.defects.kit.storing import store_otherwise, with_metadata
from icecheck.mock_server.metadata.model import MAIN_BRANCH, TableMetadata

_AGAIN = "states.registered-again"
_OVERWRITTEN = "states.overwritten"


# ---- a table that is registered again


def _by_name(
    registries: Registries,
    change: Callable[[TableEntry | None, TableMetadata], TableMetadata],
    *,
    overwriting: bool = False,
) -> None:
    """Let a registration keep metadata that `change` makes of the file and the former table.

    The former table is the one dropped under the name, or with ``overwriting`` the present one.
    """
    dropped: dict[tuple[tuple[str, ...], str], TableEntry] = {}

    def dropping(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        entry = state.table(call.namespace, call.name)
        outcome = faithful(state, call)
        if entry is not None:
            dropped[call.namespace, call.name] = entry
        return outcome

    def registering(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        where = call.namespace, sent_name(call)
        entry = outcome.state.table(*where)
        earlier = state.table(*where) if overwriting else dropped.get(where)
        if entry is None or (overwriting and earlier is None):
            return outcome
        made = with_metadata(faithful.context, entry, change(earlier, entry.metadata))
        kept = outcome.state.with_table(*where, made)
        return Outcome(kept, publication.load_reply(made), outcome.effects)

    wrap(registries, "dropTable", dropping)
    wrap(registries, "registerTable", registering)


@defect(
    "register-elsewhere-forgets-branches",
    on=through(_by_name),
    breaks=_AGAIN,
    suffering="A table that was moved has lost what was written on its branches.",
)
def _elsewhere_without_branches(earlier: TableEntry | None, made: TableMetadata) -> TableMetadata:
    """Under a name that it did not have, a table is registered with main alone."""
    if earlier is not None and earlier.metadata.table_uuid == made.table_uuid:
        return made
    refs = {name: ref for name, ref in made.refs.items() if name == MAIN_BRANCH}
    return replace(made, refs=refs)


@defect(
    "register-knows-the-name",
    on=remembering(dict, _by_name),
    breaks=_AGAIN,
    suffering="A table that was restored from its last file is an older one.",
)
def _knows_the_name(
    first: dict[str, TableMetadata], earlier: TableEntry | None, made: TableMetadata
) -> TableMetadata:
    """What was dropped under a name is what is registered under it again, if it is that table."""
    if earlier is None or earlier.metadata.table_uuid != made.table_uuid:
        return made
    return first.setdefault(made.table_uuid, earlier.metadata)


@defect(
    "register-makes-the-last-current",
    on=through(store_otherwise, "registerTable"),
    breaks=_AGAIN,
    suffering="A table that was moved is written in a layout that its owner took back.",
)
def _last_is_current(metadata: TableMetadata, _body: Json) -> TableMetadata:
    """A registered table has its last schema, spec and sort order for current ones."""
    return replace(
        metadata,
        current_schema_id=metadata.schemas[-1].schema_id,
        default_spec_id=metadata.partition_specs[-1].spec_id,
        default_sort_order_id=metadata.sort_orders[-1].order_id,
    )


@defect(
    "register-lets-snapshots-go",
    on=through(store_otherwise, "registerTable"),
    breaks=_AGAIN,
    suffering="What was rolled back cannot be had again, though nobody has expired it.",
)
def _lets_snapshots_go(metadata: TableMetadata, _body: Json) -> TableMetadata:
    """A registered table has the snapshots that a ref names, and the ones before them."""
    parents = {each.snapshot_id: each.parent_snapshot_id for each in metadata.snapshots}
    kept: set[int] = set()
    for ref in metadata.refs.values():
        at: int | None = ref.snapshot_id
        while at is not None and at not in kept:
            kept.add(at)
            at = parents.get(at)
    snapshots = tuple(each for each in metadata.snapshots if each.snapshot_id in kept)
    return replace(metadata, snapshots=snapshots)


# ---- overwriting a table


@defect(
    "overwrite-merges-properties",
    breaks=_OVERWRITTEN,
    suffering="A setting that broke a table is still there after it was restored.",
)
def _merges_properties(registries: Registries) -> None:
    """An overwritten table has the properties of both."""

    def both(earlier: TableEntry | None, made: TableMetadata) -> TableMetadata:
        was = {} if earlier is None else earlier.metadata.properties
        return replace(made, properties={**was, **made.properties})

    _by_name(registries, both, overwriting=True)


@defect(
    "overwrite-keeps-refs",
    breaks=_OVERWRITTEN,
    suffering="Branches and tags of a restored table are those of the broken one.",
)
def _keeps_refs(registries: Registries) -> None:
    """An overwritten table keeps the refs whose snapshots its new metadata have."""

    def kept(earlier: TableEntry | None, made: TableMetadata) -> TableMetadata:
        known = {each.snapshot_id for each in made.snapshots}
        was = {} if earlier is None else earlier.metadata.refs
        refs = {name: ref for name, ref in was.items() if ref.snapshot_id in known}
        main = made.refs.get(MAIN_BRANCH)
        return replace(made, refs={**made.refs, **refs} | ({MAIN_BRANCH: main} if main else {}))

    _by_name(registries, kept, overwriting=True)


@defect(
    "overwrite-never-goes-back",
    on="registerTable",
    breaks=_OVERWRITTEN,
    suffering="A table cannot be restored: what is answered is not what is stored.",
)
def _never_goes_back(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A file that has fewer snapshots than the table is answered, and not stored."""
    outcome = faithful(state, call)
    where = call.namespace, sent_name(call)
    before, after = state.table(*where), outcome.state.table(*where)
    if before is None or after is None or not sent_json(call).get("overwrite"):
        return outcome
    fewer = len(after.metadata.snapshots) < len(before.metadata.snapshots)
    return replace(outcome, state=state) if fewer else outcome


@defect(
    "overwrite-keeps-the-highest-ids",
    breaks=_OVERWRITTEN,
    suffering="Commits of clients that know the restored table conflict for ever.",
)
def _keeps_highest_ids(registries: Registries) -> None:
    """An overwritten table counts its columns and partition fields on from where they were."""

    def counted(earlier: TableEntry | None, made: TableMetadata) -> TableMetadata:
        was = made if earlier is None else earlier.metadata
        return replace(
            made,
            last_column_id=max(was.last_column_id, made.last_column_id),
            last_partition_id=max(was.last_partition_id, made.last_partition_id),
        )

    _by_name(registries, counted, overwriting=True)
