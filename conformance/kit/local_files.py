"""Finds the files of a table where a catalog keeps them on this machine."""

from pathlib import Path

from icecheck.client.catalog import Catalog, Table
from icecheck.findings.verdict import SkipKind
from icecheck.replies.expect import NotOffered


def folder_here(catalog: Catalog, table: Table, location: str) -> Path:
    """Return the folder on this machine for the metadata of a table at this location.

    A replay has a folder of its own for it. Raises NotOffered when the metadata file that the
    catalog wrote cannot be read here.
    """
    elsewhere = NotOffered(
        "the table's files are not on this machine: run with --spark, or verify a catalog whose "
        "warehouse is a local directory",
        SkipKind.MISSING_FIXTURE,
    )
    if (recorded := catalog.session.recorded) is not None:
        replayed = recorded.folder_for(catalog.check_id, table.name)
        if replayed is None:
            raise elsewhere
        return replayed
    written = _local_path(table.metadata_location or "")
    folder = _local_path(f"{location}/metadata")
    if written is None or folder is None:
        raise elsewhere
    try:
        known = table.uuid.encode() in written.read_bytes()
    except OSError:
        known = False
    if not known:
        raise elsewhere
    return folder


def _local_path(location: str) -> Path | None:
    """Return the path of a location on this machine, or None if it is of another kind.

    Nothing is unescaped: engines take the text after the scheme literally.
    """
    for scheme in ("file:///", "file://localhost/", "file:/", "/"):
        if location.startswith(scheme) and "\0" not in location:
            rest = location[len(scheme) :]
            return None if rest.startswith("/") else Path("/" + rest)
    return None
