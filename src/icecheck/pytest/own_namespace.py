"""A namespace for one test on a shared catalog: only objects in it can be changed.

A test speaks to the catalog with a client of its own (PyIceberg). Each of its requests is read
before it is sent: one that changes something is sent only if every object that it names is in the
test's namespace, and objects that it may create are entered in the ledger first.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from icecheck.client.catalog import Catalog
from icecheck.client.given import arrange
from icecheck.client.session import Session
from icecheck.contract import Changes, Operation, Place
from icecheck.ownership.effects import Effect, effect_of
from icecheck.ownership.ledger import Entry
from icecheck.replies.expect import Blocked
from icecheck.targets.target import Namespace

_READING = frozenset({"GET", "HEAD"})
_IDENTIFIERS = frozenset({Place.IDENTIFIER, Place.SOURCE, Place.DESTINATION, Place.TABLE_CHANGES})


class ForeignObject(Exception):
    """A request of a test would change an object that is not the test's own; it was not sent."""


@dataclass(frozen=True, slots=True)
class Permit:
    """Permission to send a request: its effect if it succeeds, and its new ledger entries."""

    operation: str
    effect: Effect
    fresh: tuple[Entry, ...]


class OwnNamespace:
    """The namespace of one test; ``make`` creates it and ``remove`` removes it with its content.

    ``name`` is unique among the tests of the run.
    """

    def __init__(self, session: Session, name: str) -> None:
        self._session = session
        self._catalog = Catalog(session, name)
        self._base = _as_sent(session.target.base_url)
        self._config = f"{_as_sent(session.config_url)}/v1/config"
        self._tokens = {f"{self._base}/v1/oauth/tokens", _as_sent(session.target.token_endpoint)}
        self.path: Namespace = ()
        self.left: tuple[Entry, ...] = ()

    def make(self) -> None:
        """Create the namespace, unless the run may only read; an existing one is never used.

        Raises NotOffered, Blocked or Unreachable without success.
        """
        if self._session.target.read_only:
            return
        catalog = self._catalog
        namespace = catalog.new_namespace_name()
        try:
            arrange(catalog, "createNamespace", lambda: catalog.create_namespace(namespace))
        except Blocked:
            # A 409 after a retry: the first attempt made it, and its answer was lost.
            if catalog.exchanges[-1].status != 409 or len(catalog.exchanges) < 2:
                raise
            catalog.ledger_namespace(namespace)
        self.path = namespace

    def remove(self) -> None:
        """Remove what the test has made, newest first; objects that remain are in ``left``."""
        self._catalog.undo()
        self.left = tuple(self._catalog.ledger)
        self._session.exchanges.clear()  # no report uses them

    def permit(self, method: str, url: str, body: bytes | None) -> Permit:
        """Enter in the ledger what a request may create.

        ``url`` is the complete URL, as it will be sent. Raises ForeignObject if the request must
        not be sent.
        """
        asked = url.partition("?")[0]
        if method == "POST" and asked in self._tokens:
            return Permit("getToken", Effect(), ())
        if method == "GET" and asked == self._config:
            return Permit("getConfig", Effect(), ())
        if not asked.startswith(f"{self._base}/v1/"):
            raise ForeignObject(f"{method} {asked} leads away from the catalog at {self._base}")
        prefix = self._session.offer.prefix
        head = f"/v1/{prefix}" if prefix else "/v1"
        rest = asked.removeprefix(_as_sent(self._base + head))
        asked_for, names = (None, {}) if rest == asked else self._read(method, head + rest)
        if method in _READING:
            return Permit(asked_for.id if asked_for else "", Effect(), ())
        if asked_for is None:
            raise ForeignObject(
                f"{method} {asked} is no request that can be told to change only your own"
            )
        if asked_for.facts.changes is not Changes.OBJECTS:
            return Permit(asked_for.id, Effect(), ())
        effect = effect_of(asked_for, names, body)
        self._refuse_others(asked_for, names, body, effect)
        if asked_for.id == "dropTable" and _purges(url):
            raise ForeignObject(
                "a purge deletes files wherever the table's metadata points: drop the table instead"
            )
        return Permit(asked_for.id, effect, tuple(self._catalog.sender.enter(effect)))

    def settle(self, permit: Permit, status: int) -> None:
        """Correct the ledger once the answer is known."""
        self._catalog.sender.settle(status, permit.effect, permit.fresh)

    def _read(
        self, method: str, path: str
    ) -> "tuple[Operation | None, dict[str, str | Namespace]]":
        """Return the operation that has this path, and its names; (None, {}) if there is none."""
        session = self._session
        found = session.offer.operation_of(session.contract, method, path)
        if found is None or any(map(_leads_away, found[1].values())):
            return None, {}
        operation_id, encoded = found
        return session.contract.operations[operation_id], {
            key: self._levels(value) if key == "namespace" else unquote(value)
            for key, value in encoded.items()
        }

    def _levels(self, segment: str) -> Namespace:
        separator = unquote(self._session.offer.separator)
        either = f"{re.escape(quote(separator, safe=''))}|{re.escape(separator)}"
        return tuple(unquote(level) for level in re.split(either, segment, flags=re.IGNORECASE))

    def _refuse_others(
        self,
        operation: Operation,
        names: Mapping[str, str | Namespace],
        body: bytes | None,
        effect: Effect,
    ) -> None:
        namespaces = [entry.namespace for entry in (*effect.creates, *effect.removes)]
        namespaces += [value for key, value in names.items() if key == "namespace"]  # type: ignore[misc]
        namespaces += _named_in(operation, body)
        own = self.path
        others = [each for each in namespaces if not own or each[: len(own)] != own]
        if others or not namespaces:
            named = ".".join(others[0]) if others else "something"
            mine = f"its own namespace, {'.'.join(own)}" if own else "nothing: the run only reads"
            raise ForeignObject(
                f"{operation.id} in {named!r}: on the catalog at {self._base} a "
                f"test may change {mine}; the fixture iceberg_namespace gives its name"
            )


def _leads_away(segment: str) -> bool:
    """Return whether a segment is empty, or has dots by which a decoding server climbs the path."""
    return not segment or not {".", ".."}.isdisjoint(unquote(segment).split("/"))


def _named_in(operation: Operation, body: bytes | None) -> list[Namespace]:
    """Return the namespaces of the identifiers in a body; one that cannot be read is ()."""
    places = [place for place in operation.facts.names if place in _IDENTIFIERS]
    if not places:
        return []
    try:
        parsed = json.loads(body or b"{}")
        return [namespace for place in places for namespace in _identified(place, parsed)]
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return [()]


def _identified(place: Place, parsed: Any) -> Iterator[Namespace]:
    member = place.removeprefix("body.")
    if place is Place.TABLE_CHANGES:
        for change in parsed[member]:
            yield tuple(change["identifier"]["namespace"])
    elif place is not Place.IDENTIFIER or parsed.get(member) is not None:
        yield tuple(parsed[member]["namespace"])


def _purges(url: str) -> bool:
    asked = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    return any(k.casefold() == "purgerequested" and v.casefold() != "false" for k, v in asked)


def _as_sent(url: str) -> str:
    """Return a URL in the spelling in which PyIceberg's HTTP library sends it."""
    from requests import Request

    return str(Request("GET", url).prepare().url).rstrip("/")
