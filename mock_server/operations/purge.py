"""The files that a purge removes: everything that a table's snapshots name, data files included."""

from collections.abc import Iterator

from icecheck.mock_server.commits.publication import known_files
from icecheck.mock_server.core.state import TableEntry
from icecheck.mock_server.planning.avro_reading import AvroFile, read_avro
from icecheck.mock_server.planning.failure import PlanningFailure
from icecheck.mock_server.planning.manifests import manifests_of
from icecheck.mock_server.storage.files import Files

_GARBAGE_COLLECTION = "gc.enabled"
_DATA_FILE_ID, _FILE_PATH_ID = 2, 100


def purged_files(files: Files, entry: TableEntry, warehouse: str) -> Iterator[str]:
    """Return locations in a safe order of removal: a file goes after the files that it names.

    Files that other tables may share (`gc.enabled` false) are kept, as engines keep them. So are
    data files outside of the table's and the warehouse's locations: the table does not own those.
    The contents of a manifest that cannot be read are skipped: its own file is still removed.
    """
    own = (f"{entry.metadata.location}/", f"{warehouse}/")
    manifests: dict[str, None] = {}
    for snapshot in entry.metadata.snapshots:
        try:
            manifests |= dict.fromkeys(each.path for each in manifests_of(files, snapshot))
        except PlanningFailure:
            continue
    if entry.metadata.properties.get(_GARBAGE_COLLECTION, "true").lower() != "false":
        seen: set[str] = set()
        for manifest in manifests:
            for location in _files_in(files, manifest):
                if location not in seen and location.startswith(own) and "/../" not in location:
                    seen.add(location)
                    yield location
    yield from manifests
    yield from reversed(known_files(entry))


def _files_in(files: Files, manifest: str) -> Iterator[str]:
    try:
        avro: AvroFile = read_avro(files.read(manifest), manifest)
    except (OSError, PlanningFailure):
        return
    layout = avro.layout.within(_DATA_FILE_ID)
    for record in avro.records:
        data_file = avro.layout.select(record, {_DATA_FILE_ID: "data_file"}).get("data_file")
        if isinstance(data_file, dict):
            location = layout.select(data_file, {_FILE_PATH_ID: "file_path"}).get("file_path")
            if isinstance(location, str):
                yield location
