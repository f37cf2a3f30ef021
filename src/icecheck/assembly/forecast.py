"""What a run would do to a catalog, found out on the mock: requests, objects, names."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import httpx

from icecheck.assembly.run import RunOptions, run_checks
from icecheck.contract import load
from icecheck.exchange import Exchange
from icecheck.mock_server import MockCatalog
from icecheck.offer import Offer
from icecheck.session import preflight
from icecheck.target import Target

__all__ = ["Forecast", "forecast"]

_TOKEN = "rehearsal"  # noqa: S105 - of a mock that nobody else can reach
_NEVER_HIDDEN = frozenset({"getConfig", "getToken"})
_MAKING = {
    "createNamespace": "namespaces",
    "createTable": "tables",
    "registerTable": "tables",
    "createView": "views",
}


@dataclass(frozen=True, slots=True)
class Forecast:
    """Requests by operationId, objects made by kind, and what the catalog does not claim."""

    requests: Mapping[str, int]
    made: Mapping[str, int]
    unclaimed: tuple[str, ...]
    owner: str


def forecast(options: RunOptions, transport: httpx.BaseTransport | None = None) -> Forecast:
    """Ask the catalog for its config, once, and rehearse the run on a mock that offers the same.

    Nothing is made on the catalog itself. What it does otherwise than the mock changes the run:
    a capability that it lacks makes it shorter. Raises TargetUnusable and UsageError as a run does.
    """
    contract = load(options.spec)
    offer = Offer.read(preflight(options.target, transport, options.redactor), options.target)
    unclaimed = tuple(id_ for id_ in contract.operations if not offer.claims(id_, contract))
    requests: Counter[str] = Counter()
    made: Counter[str] = Counter()

    def count(exchange: Exchange) -> None:
        operation_id = exchange.operation or f"{exchange.method} outside the contract"
        requests[operation_id] += 1
        kind = _MAKING.get(operation_id)
        if kind is not None and 200 <= (exchange.status or 0) < 300:
            made[kind] += 1

    token = _TOKEN if options.target.token or options.target.credential else None
    hidden = [id_ for id_ in unclaimed if id_ not in _NEVER_HIDDEN]
    mock = MockCatalog(seed=options.seed, token=token, hidden=hidden)
    try:
        rehearsed = replace(options, target=_like(options.target, token), ledger=None)
        run_checks(rehearsed, transport=mock.httpx_transport(), on_exchange=count)
    finally:
        mock.stop()
    return Forecast(
        requests=dict(requests.most_common()),
        made=dict(made),
        unclaimed=unclaimed,
        owner=f"icecheck_{options.run_id}",
    )


def _like(target: Target, token: str | None) -> Target:
    """A target that is worked on in the same way."""
    return Target(
        "http://rehearsal.invalid",
        token=token,
        isolation="auto" if target.isolation == "parent" else target.isolation,
        accept_residue=target.accept_residue,
    )
