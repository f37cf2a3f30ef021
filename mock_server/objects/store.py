"""The object store of a server: its buckets, its credentials, and the server's own files there."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from itertools import permutations
from typing import Protocol
from urllib.parse import unquote
from xml.etree.ElementTree import fromstring

from icecheck.mock_server.objects.access import AccessKeys, Grant, Keys
from icecheck.mock_server.objects.addresses import at_endpoint
from icecheck.mock_server.objects.calls import S3Call
from icecheck.mock_server.objects.guard import Guard
from icecheck.mock_server.objects.moto_buckets import Buckets, check_installed
from icecheck.mock_server.objects.places import (
    Place,
    PlaceRefused,
    has_dots,
    is_bucket,
    place_of,
    places_below,
)
from icecheck.mock_server.objects.signer import RequestToSign, headers_for
from icecheck.mock_server.protocol.wire import Reply, Request
from icecheck.mock_server.storage.files import Held

_PAGE = "1000"
_XML_NAMESPACE = "{http://s3.amazonaws.com/doc/2006-03-01/}"


class ServedAddress(Protocol):
    """Where the object store is reached; it listens from the first time that it is asked for."""

    def uri(self, answer: Callable[[Request], Reply]) -> str:
        """Return its address."""

    def stop(self) -> None:
        """Stop listening."""


class ObjectStore:
    """Buckets behind an address of their own; the locations are checked ones."""

    def __init__(
        self,
        locations: Iterable[str],
        key: bytes,
        now_ms: Callable[[], int],
        address: ServedAddress,
    ) -> None:
        self._buckets = Buckets(map(_bucket_of, locations))
        self._access_keys = AccessKeys(key)
        self._guard = Guard(self._access_keys, self._buckets, now_ms)
        self._address = address
        self._now_ms = now_ms

    def start(self) -> None:
        """Listen, with the buckets made."""
        self._buckets.load()
        _ = self.endpoint

    def stop(self) -> None:
        """Stop listening, and forget every object."""
        self._address.stop()
        self._buckets.clear()

    @property
    def endpoint(self) -> str:
        """Where clients reach it, with the bucket in the path."""
        return self._address.uri(self._guard.answer)

    @property
    def root(self) -> Keys:
        """The credentials of the server itself, which permit everything."""
        return self._access_keys.root

    def properties(self, keys: Keys | None = None) -> dict[str, str]:
        """Return the properties of Iceberg's clients for these credentials, by default `root`."""
        keys = keys or self.root
        token = keys.session_token
        return {
            "s3.access-key-id": keys.access_key_id,
            "s3.secret-access-key": keys.secret_access_key,
            **({} if token is None else {"s3.session-token": token}),
            **self.address_properties(),
        }

    def address_properties(self) -> dict[str, str]:
        """Return the properties that lead Iceberg's clients here."""
        return {"s3.endpoint": self.endpoint, "s3.path-style-access": "true"}

    def vend(
        self, locations: Iterable[str], below: str, *, may_write: bool, expires_ms: int
    ) -> Keys | None:
        """Return credentials for these locations, as far as they are below another one.

        None if none of them is.
        """
        grant = Grant(places_below(locations, below), may_write, expires_ms)
        return self._access_keys.vend(grant) if grant.places else None

    def sign(self, asked: RequestToSign, grant: Grant) -> dict[str, list[str]]:
        """Return the headers with which a request has the rights of vended credentials.

        S3Refusal if those would not permit it.
        """
        keys, to = self._access_keys.vend(grant), at_endpoint(asked.uri, self.endpoint)
        return headers_for(asked, to, keys, grant, self._now_ms(), datetime.now(UTC))

    def granted_by(self, token: str) -> Grant:
        """Return what a session token permits; S3Refusal if it is none of this server's."""
        return self._access_keys.granted_by(token)

    def files(self, location: str, others: Held) -> "BucketFiles":
        """Return the server's files below a location; those of other schemes are in `others`."""
        return BucketFiles(self._buckets, location, others)


class BucketFiles:
    """The files of a warehouse in the object store: objects below its location, and no others.

    Whoever names another location (a metadata file to register, a manifest) gets nothing by the
    server's own rights.
    """

    __slots__ = ("_buckets", "_home", "_location", "_others")

    def __init__(self, buckets: Buckets, location: str, others: Held) -> None:
        self._buckets = buckets
        self._location = location
        self._home = place_of(location)
        self._others = others

    def check(self, location: str) -> None:
        """Raise PlaceRefused for a location in another place of the object store."""
        self._place(location)

    def get(self, location: str) -> bytes | None:
        """Return the content of an object, or None."""
        place = self._place(location)
        if place is None:
            return self._others.get(location)
        reply = self._buckets.perform(S3Call("GET", place.bucket, place.key))
        return reply.body if reply.status == 200 else None

    def hold(self, location: str, content: bytes) -> None:
        """Write an object; OSError if that is refused."""
        place = self._place(location)
        if place is None:
            self._others.hold(location, content)
            return
        self._written(S3Call("PUT", place.bucket, place.key, body=content), location)

    def forget(self, location: str) -> None:
        """Delete an object; a missing one is no error."""
        place = self._place(location)
        if place is None:
            self._others.forget(location)
        else:
            self._written(S3Call("DELETE", place.bucket, place.key), location)

    def forget_below(self, location: str) -> None:
        """Delete every object below a location of this warehouse."""
        place = place_of(location)
        if place is None or self._home is None:
            self._others.forget_below(location)
            return
        if place != self._home:
            self._place(location)
        prefix = f"{place.key}/" if place.key else ""
        before: list[str] = []
        while (keys := self._listed(place.bucket, prefix, _PAGE)) and keys != before:
            answers = [self._buckets.perform(S3Call("DELETE", place.bucket, key)) for key in keys]
            if any(each.status >= 300 for each in answers):
                return
            before = keys

    def has_below(self, location: str) -> bool:
        """Return whether there is an object below a location."""
        place = self._place(location)
        if place is None:
            return self._others.has_below(location)
        return bool(self._listed(place.bucket, f"{place.key}/", "1"))

    def _listed(self, bucket: str, prefix: str, keys_max: str) -> list[str]:
        """Return the first keys with a prefix; escaped in the XML, which cannot have every one."""
        query = {
            "list-type": "2", "prefix": prefix, "max-keys": keys_max, "encoding-type": "url",
        }  # fmt: skip
        reply = self._buckets.perform(S3Call("GET", bucket, query=query))
        if reply.status != 200:
            return []
        found = fromstring(reply.body).iter(f"{_XML_NAMESPACE}Key")  # noqa: S314 - moto's own XML
        return [unquote(key.text or "") for key in found]

    def _written(self, call: S3Call, location: str) -> None:
        reply = self._buckets.perform(call)
        if reply.status >= 300:
            raise OSError(f"the object store refused {location}: {reply.status}")

    def _place(self, location: str) -> Place | None:
        place = place_of(location)
        if place is None or self._home is None:
            return None
        if not place.is_object_of(self._home):
            raise PlaceRefused(location, self._location)
        return place


def check_locations(locations: Sequence[str]) -> None:
    """Raise ValueError for one without a bucket or in another one, or if moto is not installed."""
    for location in locations:
        _bucket_of(location)
    for one, other in permutations(locations, 2):
        if _is_within(one, other):
            raise ValueError(
                f"{one} is within {other}, and what is removed below one warehouse would be missing"
                " in the other: give each warehouse a location beside the others"
            )
    check_installed()


def _is_within(location: str, other: str) -> bool:
    place, home = place_of(location), place_of(other)
    return (
        place is not None
        and home is not None
        and (place == home or home.holds(place.bucket, place.key))
    )


def _bucket_of(location: str) -> str:
    place = place_of(location)
    if place is None or not is_bucket(place.bucket):
        name = "" if place is None else place.bucket
        raise ValueError(
            f"{location} has no bucket {name!r}: a bucket's name has 3 to 63 lower-case letters, "
            "digits, hyphens and dots; write s3://BUCKET or s3://BUCKET/PATH"
        )
    if has_dots(place.key):
        raise ValueError(f"{location}: no segment of a location in a bucket can be . or ..")
    return place.bucket
