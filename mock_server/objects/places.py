"""Places in the object store: a bucket and the keys below a location of it."""

import re
from collections.abc import Iterable

import msgspec

from icecheck.mock_server.storage.places import S3_SCHEMES

_BUCKET = re.compile(r"(?!\d+(\.\d+){3}$)(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_DOTS = frozenset({".", ".."})


class PlaceRefused(PermissionError):
    """Raised for a location that is not below the one of a warehouse in the object store."""

    def __init__(self, location: str, below: str) -> None:
        super().__init__(f"{location} is not below {below}/, where this warehouse has its objects")


class Place(msgspec.Struct, frozen=True, array_like=True):
    """A location in a bucket; `key` has no slash at its end, and is empty for the whole bucket."""

    bucket: str
    key: str

    def holds(self, bucket: str, key: str) -> bool:
        """Return whether a key, or the beginning of keys, is below this place."""
        return bucket == self.bucket and (not self.key or key.startswith(f"{self.key}/"))

    def is_object_of(self, home: "Place") -> bool:
        """Return whether this place is below another one, however its key is read."""
        return bool(self.key) and home.holds(self.bucket, self.key) and not has_dots(self.key)


def place_of(location: str) -> Place | None:
    """Return the place that a location names; None if its scheme is another one.

    Nothing is unescaped: clients take the text after the bucket as the key.
    """
    scheme, separator, rest = location.partition("://")
    if not separator or scheme.lower() not in S3_SCHEMES:
        return None
    bucket, _, key = rest.partition("/")
    return Place(bucket, key.rstrip("/"))


def is_bucket(name: str) -> bool:
    """Return whether a bucket can have this name."""
    return _BUCKET.fullmatch(name) is not None


def has_dots(key: str) -> bool:
    """Return whether a key has a segment `.` or `..`, which some readers resolve."""
    return not _DOTS.isdisjoint(key.split("/"))


def places_in(locations: Iterable[str]) -> tuple[Place, ...]:
    """Return the places of the locations that are in a bucket, each once; no whole bucket."""
    found = (place_of(each) for each in locations)
    return tuple(dict.fromkeys(each for each in found if each is not None and _is_closed(each)))


def places_below(locations: Iterable[str], below: str) -> tuple[Place, ...]:
    """Return the places of the locations that are below a location, each once."""
    home = place_of(below)
    return () if home is None else tuple(p for p in places_in(locations) if p.is_object_of(home))


def _is_closed(place: Place) -> bool:
    """Return whether a place is a part of its bucket, however its key is read."""
    return bool(place.key) and is_bucket(place.bucket) and not has_dots(place.key)
