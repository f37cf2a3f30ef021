"""A checked scan of one table, and the files that it has to read."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from msgspec import Struct

from icecheck.mock_server.metadata.model import Snapshot
from icecheck.mock_server.metadata.schemas import Column
from icecheck.mock_server.planning.content_files import ContentFile, ManifestFile
from icecheck.mock_server.planning.delete_index import DeleteIndex
from icecheck.mock_server.planning.filters.expressions import Expression
from icecheck.mock_server.planning.filters.predicates import BoundExpression, unbound
from icecheck.mock_server.planning.filters.projection import BoundPartitionSpec
from icecheck.mock_server.planning.manifests import live_files, manifests_of
from icecheck.mock_server.planning.pruning import SpecFilter, spec_filter
from icecheck.mock_server.storage.files import Files


class Scan(Struct, frozen=True):
    """The checked and bound input of planning, immutable.

    `snapshots` are those whose manifests are read: one, or none for an empty table. With
    `appends_only` only data files that these snapshots themselves added are read, and no deletes.
    `columns` has every column that the table ever had, by id. `statistics_ids` are the columns
    whose statistics are in the answer.
    """

    snapshots: tuple[Snapshot, ...]
    appends_only: bool
    expression: BoundExpression
    specs: Mapping[int, BoundPartitionSpec]
    columns: Mapping[int, Column]
    statistics_ids: frozenset[int]


class FileScanTask(Struct, frozen=True):
    """A data file to read, the deletes to apply, and the residual filter."""

    data_file: ContentFile
    delete_files: tuple[ContentFile, ...]
    residual: Expression


def plan_files(files: Files, scan: Scan) -> tuple[FileScanTask, ...]:
    """Return the tasks of a scan, in the order of the manifests.

    PlanningFailure if files are at fault. It only reads: files through `files`, and the scan; so it
    may run in any thread.
    """
    filters = {spec_id: spec_filter(scan.expression, spec) for spec_id, spec in scan.specs.items()}
    manifests = _manifests(files, scan)
    matching = partial(_matching_files, files, scan, filters)
    data_files = list(matching(each for each in manifests if not each.holds_deletes))
    if scan.appends_only or not data_files:
        deletes = None
    else:
        delete_files = matching(each for each in manifests if each.holds_deletes)
        deletes = DeleteIndex(delete_files, scan.specs, scan.columns)
    return tuple(
        FileScanTask(
            file,
            () if deletes is None else deletes.applying_to(file),
            unbound(filters[file.spec_id].residual(file)),
        )
        for file in data_files
    )


def _manifests(files: Files, scan: Scan) -> tuple[ManifestFile, ...]:
    found: dict[str, ManifestFile] = {}
    added_by = {snapshot.snapshot_id for snapshot in scan.snapshots}
    for snapshot in scan.snapshots:
        for manifest in manifests_of(files, snapshot):
            # Without a manifest list the snapshot that added a manifest is unknown: its entries
            # have it.
            added = manifest.added_snapshot_id in added_by or manifest.added_snapshot_id is None
            if not scan.appends_only or (added and not manifest.holds_deletes):
                found.setdefault(manifest.path, manifest)
    return tuple(found.values())


def _matching_files(
    files: Files, scan: Scan, filters: Mapping[int, SpecFilter], manifests: Iterable[ManifestFile]
) -> Iterator[ContentFile]:
    added_by = {snapshot.snapshot_id for snapshot in scan.snapshots}
    for manifest in manifests:
        if (manifest.added_files, manifest.existing_files) == (0, 0):
            continue
        known = None if manifest.spec_id is None else filters.get(manifest.spec_id)
        if known is not None and not known.could_match_manifest(manifest):
            continue
        for file in live_files(files, manifest, scan.specs):
            wanted = not scan.appends_only or (file.is_added and file.snapshot_id in added_by)
            if wanted and filters[file.spec_id].could_match_file(file):
                yield file
