"""Finds the operation of a request that passes, by the configs that passed before it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from icecheck.contract import Contract, Operation
from icecheck.targets.addresses import has_same_origin, spelled_separator
from icecheck.targets.offer import Offer
from icecheck.targets.target import Namespace, Target


@dataclass(frozen=True, slots=True)
class Routed:
    """The operation of a request, its parameters decoded, and what the catalog offers there."""

    operation: Operation
    names: Mapping[str, str | Namespace]
    offer: Offer | None
    """None where no config has passed."""

    @property
    def prefix(self) -> str:
        """The prefix that the request was sent under."""
        return "" if self.offer is None else self.offer.prefix


class Routes:
    """The routes of a catalog, as its configs tell clients; not safe for threads.

    ``config`` is the last config that passed, None if none has.
    """

    def __init__(self, contract: Contract, target: Target) -> None:
        self._contract = contract
        self._target = target
        self._bases = [urlsplit(target.base_url).path]
        self._unknown = Offer.read({}, target)
        self._offers: dict[str, Offer] = {}
        self.config: dict[str, Any] | None = None

    @property
    def offer(self) -> Offer | None:
        """What the last config offers; None if none has passed."""
        return None if self.config is None else Offer.read(self.config, self._target)

    def offer_at(self, prefix: str) -> Offer | None:
        """Return what the newest config with this prefix offers; None if none has passed."""
        return next((each for each in self._offers.values() if each.prefix == prefix), None)

    def learn(self, query: str, config: dict[str, Any]) -> None:
        """Take in a config that was answered to a request with this query."""
        self.config = config
        offer = Offer.read(config, self._target)
        offer = replace(offer, prefix=offer.prefix.strip("/"))  # as clients join it
        asked = parse_qs(query).get("warehouse", [""])
        # The newest first: a client that asks again goes by the newer one.
        self._offers.pop(asked[-1], None)
        self._offers = {asked[-1]: offer, **self._offers}
        uri = offer.overrides.get("uri", offer.defaults.get("uri"))
        if isinstance(uri, str) and has_same_origin(uri, self._target.base_url):
            base = urlsplit(uri).path.rstrip("/")
            self._bases = list(dict.fromkeys([*self._bases, base]))

    def find(self, method: str, raw_path: str) -> Routed | None:
        """Return the operation of a request; None if the document has none there."""
        for base in self._bases:
            path = raw_path.removeprefix(base)
            if not raw_path.startswith(f"{base}/v1/"):
                continue
            for offer in (*self._offers.values(), self._unknown):
                found = offer.operation_of(self._contract, method, path)
                if found is not None:
                    operation = self._contract.operations[found[0]]
                    known = None if offer is self._unknown else offer
                    return Routed(operation, _decoded(found[1], offer), known)
        return None


def _decoded(names: Mapping[str, str], offer: Offer) -> dict[str, str | Namespace]:
    separator = spelled_separator(offer.separator)
    return {
        name: _levels(value, separator) if name == "namespace" else unquote(value)
        for name, value in names.items()
    }


def _levels(text: str, separator: str) -> Namespace:
    """Return the levels of a namespace in a path; escapes have capitals or not."""
    joined = text.replace(separator.lower(), separator)
    return tuple(unquote(level) for level in joined.split(separator))
