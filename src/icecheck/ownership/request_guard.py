"""The last test of a request before it is sent: does it go to the target, for the run's own?

Neither a config that a catalog announces nor a mistake in a check may make a run change what
belongs to somebody else.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from icecheck.contract import Action, Contract, Facts, Object, Operation, Place
from icecheck.findings.symptoms import Severity, declare
from icecheck.ownership.effects import changes_nothing, read_body
from icecheck.ownership.ledger import Entry, bears_token
from icecheck.replies.expect import Violation
from icecheck.targets.addresses import climbs_out, is_allowed_host, origin_of, spelled_separator
from icecheck.targets.offer import Offer, encode_segment
from icecheck.targets.target import Namespace, Target
from icecheck.wire.connection import Wire

_PLAN_ID = declare("plan-id", "Gives a plan an id that cannot be put into a path", Severity.SHAPE)


_READING = frozenset({"GET", "HEAD"})


class ForeignRequest(Exception):
    """A request was not sent: it might have reached objects that are not the run's own."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A namespace in the spelling of a path; ``levels`` are percent-encoded."""

    levels: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.levels)


@dataclass(frozen=True, slots=True)
class RequestGuard:
    """Decides which requests a run may send to its target.

    ``own`` is the target as the user described it, ``target`` the same with the settings of the
    config. ``ledgered`` are objects of the run whose own names do not contain its token.
    ``elsewhere`` are the offers for other warehouses of the target: there, too, a request may only
    name what bears the token.
    """

    contract: Contract
    offer: Offer
    own: Target
    target: Target
    owner: str
    ledgered: Mapping[Entry, int]
    elsewhere: Sequence[Offer] = ()

    def __call__(self, wire: Wire) -> None:
        """Raise ForeignRequest for a request that must not be sent.

        Raises Violation where a plan-id of the catalog cannot be put into a path.
        """
        hosts = self.own.allow_hosts
        if not is_allowed_host(origin_of(wire.url), origin_of(self.own.base_url), hosts):
            raise ForeignRequest(f"{wire.method} {wire.url} goes to a host not named by the user")
        if wire.method in _READING:
            return  # an address to read at may be the catalog's, as for fresh credentials
        operation = self.contract.operations.get(str(wire.operation))
        if operation is not None and self._signs(wire, operation):
            return  # it changes nothing, and where its clients find it the catalog says
        bases = [base for base in self._bases if wire.url.startswith(f"{base}/v1/")]
        if operation is None or not bases:
            raise ForeignRequest(f"{wire.method} {wire.url} is no request of the specification")
        path = wire.url[len(bases[0]) :].partition("?")[0]
        names = self._names_in(path, wire, operation)
        if not changes_nothing(operation, wire.method):
            for problem in self._problems(operation.facts, names, read_body(wire.body)):
                raise ForeignRequest(f"{wire.method} {path}: {problem}")

    @property
    def _bases(self) -> tuple[str, str]:
        return self.own.base_url, self.target.base_url

    def _signs(self, wire: Wire, operation: Operation) -> bool:
        """Return whether it asks for a signature, at an address of no other operation."""
        url = wire.url.partition("?")[0]
        paths = [url[len(base) :] for base in self._bases if url.startswith(f"{base}/")]
        if operation.facts.action is not Action.SIGN or wire.method != operation.method:
            return False
        offers = (self.offer, *self.elsewhere)
        found = [o.operation_of(self.contract, wire.method, p) for o in offers for p in paths]
        leads_elsewhere = not paths or climbs_out(paths[0])
        return not leads_elsewhere and all(e is None or e[0] == operation.id for e in found)

    def _names_in(self, path: str, wire: Wire, operation: Operation) -> Mapping[str, str]:
        """Return parameter -> percent-encoded value of the operation's path."""
        for offer in (self.offer, *self.elsewhere):
            found = offer.operation_of(self.contract, wire.method, path)
            if found is not None and found[0] == wire.operation:
                return found[1]
        if operation.facts.action is Action.CANCEL_PLAN:
            raise Violation(_PLAN_ID, "a plan-id that can be put into a path", path)
        raise ForeignRequest(f"{wire.method} {path} is no path of {wire.operation}")

    def _problems(
        self, facts: Facts, names: Mapping[str, str], body: Mapping[str, Any]
    ) -> Iterator[str]:
        path_place = self._place(names.get("namespace", ""))
        if facts.object is Object.NAMESPACE and Place.PATH in facts.names:
            yield from self._namespace(path_place)
        elif path_place:
            yield from self._container(path_place)
        for kind in ("table", "view"):
            if kind in names:
                yield from self._named(kind, path_place, names[kind])
        if Place.NAMESPACE in facts.names:
            levels = _strings(body.get("namespace"))
            yield from self._namespace(_Place(tuple(map(encode_segment, levels))))
        elif path_place and isinstance(body.get("name"), str):
            yield from self._named(facts.object, path_place, encode_segment(body["name"]))
        for identifier in _identifiers(body):
            yield from self._identified(facts.object, identifier)

    def _identified(self, kind: Object, identifier: Mapping[str, Any]) -> Iterator[str]:
        place = _Place(tuple(map(encode_segment, _strings(identifier.get("namespace")))))
        if place:
            yield from self._container(place)
        if isinstance(identifier.get("name"), str):
            yield from self._named(kind, place, encode_segment(identifier["name"]))

    def _namespace(self, place: _Place) -> Iterator[str]:
        if not place:
            return
        if not (bears_token(self.owner, place.levels[-1]) or self._is_ledgered("namespace", place)):
            yield f"the namespace {'.'.join(place.levels)} is not the run's own"
        if place.levels[:-1]:
            yield from self._container(_Place(place.levels[:-1]))

    def _container(self, place: _Place) -> Iterator[str]:
        """Yield a problem unless a containing namespace is the run's, or the user's parent."""
        if place.levels == tuple(map(encode_segment, self.target.namespace)):
            return
        if not any(bears_token(self.owner, level) for level in place.levels):
            yield f"the namespace {'.'.join(place.levels)} is not the run's own"

    def _named(self, kind: str, place: _Place, name: str) -> Iterator[str]:
        if not (bears_token(self.owner, name) or self._is_ledgered(kind, place, name)):
            yield f"the {kind} {name} is not the run's own"

    def _is_ledgered(self, kind: str, place: _Place, name: str = "") -> bool:
        """Return whether an object is in the ledger.

        Names are compared as spelled in paths, because a dot that joins levels may also be part of
        a name.
        """
        wanted = (kind, self._spelled(place.levels), name)
        return any(
            (entry.kind, self._spelled(map(encode_segment, entry.namespace)), spelled) == wanted
            for entry, times in tuple(self.ledgered.items())
            if times > 0 and (spelled := encode_segment(entry.name)) == name
        )

    def _spelled(self, levels: Any) -> str:
        return spelled_separator(self.offer.separator).join(levels)

    def _place(self, segment: str) -> _Place:
        if not segment:
            return _Place(())
        return _Place(tuple(segment.split(spelled_separator(self.offer.separator))))


def _strings(value: Any) -> Namespace:
    """Return the levels of a namespace; () for a malformed value."""
    if isinstance(value, list) and all(isinstance(level, str) for level in value):
        return tuple(value)
    return ()


def _identifiers(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the identifiers in the body of a commit, a transaction or a rename."""
    changes = body.get("table-changes")
    listed = changes if isinstance(changes, list) else []
    commits = [body, *(change for change in listed if isinstance(change, dict))]
    found = [commit.get("identifier") for commit in commits]
    found += [body.get("source"), body.get("destination")]
    yield from (each for each in found if isinstance(each, dict))
