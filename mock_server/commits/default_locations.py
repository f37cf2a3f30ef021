"""The location of a table or view for which a client has named none."""

from collections.abc import Iterator

from icecheck.mock_server.core.context import Context, TableLocations
from icecheck.mock_server.core.locations import written_places
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.metadata.builder import canonical_location
from icecheck.mock_server.objects.places import place_of
from icecheck.mock_server.protocol import names
from icecheck.mock_server.storage.places import is_on_disk, one_spelling

NAMESPACE_LOCATION = "location"


def namespace_location(context: Context, state: WarehouseState, namespace: tuple[str, ...]) -> str:
    """Return the directory for the tables of a namespace, without slashes at the end.

    This is the namespace's `location` property, which clients know, if it is absolute; otherwise a
    directory below its parent's location, or the warehouse's. The namespace need not exist.
    """
    directories: list[str] = []
    for depth in range(len(namespace), 0, -1):
        entry = state.namespace(namespace[:depth])
        own = "" if entry is None else entry.properties.get(NAMESPACE_LOCATION, "")
        if names.is_absolute(own):
            home = canonical_location(own) if own.strip("/") else ""
            return "/".join((home, *reversed(directories)))
        directories.append(names.directory_of(namespace[depth - 1]))
    return "/".join((context.location, *reversed(directories)))


def default_location(
    context: Context,
    state: WarehouseState,
    namespace: tuple[str, ...],
    name: str,
    uuid: str,
    *,
    is_staged: bool = False,
) -> str:
    """Return the location of a table or view that the client gave none: below its namespace's.

    It contains a part of the uuid, so that a table that is created again, or under a name that was
    renamed away, never meets the files of the other one. A warehouse whose locations are by name
    adds that only where something else is or was, or might have been, and to a staged table.
    """
    place = f"{namespace_location(context, state, namespace)}/{names.directory_of(name)}"
    if context.table_locations is TableLocations.BY_NAME:
        return _by_name(context, state, place, uuid, is_staged=is_staged)
    return _unique(place, uuid)


def _by_name(
    context: Context, state: WarehouseState, place: str, uuid: str, *, is_staged: bool
) -> str:
    """Return the place itself, or one beside what is there.

    A part of the uuid comes to the directory of another table that the place would be in, and to
    the place itself if it is another's, has another's in it, holds files of one that is gone, or
    may hold them.
    """
    spelled = one_spelling(place)
    # No state tells of a staged table, so nobody could keep its place free until it is committed.
    is_taken = (
        is_staged
        or not _shows_files(context, place)
        or any(map(context.files.hold_below, {place, spelled}))
    )
    above, below = _directories_above(spelled, one_spelling(context.location)), f"{spelled}/"
    around: list[str] = []
    for other in map(one_spelling, _locations(state)):
        if other in above:
            around.append(other)
        is_taken = is_taken or other == spelled or other.startswith(below)
    for other in sorted(around, key=len):
        beside = _unique(other, uuid)
        if _is_allowed(context, beside):
            return beside + spelled[len(other) :]
    return _unique(place, uuid) if is_taken else place


def _directories_above(place: str, warehouse: str) -> frozenset[str]:
    """Return the directories that a place is in, but the warehouse's own and those above it.

    A table may also have the location of the whole warehouse: nothing is beside that. Nor is
    anything beside a whole bucket.
    """
    top = place.find("/", place.find("://") + len("://"))
    ends = [number for number, letter in enumerate(place) if letter == "/" and number > top]
    above = (place[:end] for end in ends)
    return frozenset(each for each in above if not f"{warehouse}/".startswith(f"{each}/"))


def _shows_files(context: Context, place: str) -> bool:
    """Return whether this server sees each file that there ever was at a place.

    It sees those on disk and in its own object store. Where credentials are vended for another
    store, clients have their data there, and no purge reaches it. What is held in memory is all
    that there is only as long as this server is the first one with its state.
    """
    if is_on_disk(place) or (context.objects is not None and place_of(place) is not None):
        return True
    return context.vending is None and not context.is_kept


def _is_allowed(context: Context, location: str) -> bool:
    try:
        context.files.check(location)
    except OSError:
        return False
    return True


def _unique(place: str, uuid: str) -> str:
    return f"{place}-{uuid[:8]}"


def _locations(state: WarehouseState) -> Iterator[str]:
    for _, entry in state.namespaces.after():
        for _, table in entry.tables.after():
            yield from written_places(table.metadata)
        for _, view in entry.views.after():
            yield from written_places(view.metadata)
