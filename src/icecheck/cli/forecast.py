"""Finds out on the mock what a run would do to a catalog: requests, objects, names."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

import httpx

from icecheck.client.bodies import DEFAULT_SCHEMA, create_table_body
from icecheck.client.opening import preflight
from icecheck.contract import Action
from icecheck.findings.verdict import SkipKind, Verdict, asked_of
from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, Permissions
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.offer import Offer
from icecheck.targets.target import Principal, Target
from icecheck.wire.exchange import Exchange

_TOKEN = "rehearsal"  # noqa: S105 - of a mock that nobody else can reach
_NOBODY = Client("nobody", "rehearsal-of-nobody", permissions=Permissions.nothing())
_READER = Client("reader", "rehearsal-of-reader", permissions=Permissions(read_only=True))
_MAKING = frozenset({Action.CREATE, Action.REGISTER})


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a run would do: its checks, requests, made objects, and unclaimed operations.

    ``checks`` is their number, ``requests`` counts by operationId, ``made`` counts objects by kind.
    ``prefix`` begins with a slash, or is empty.
    """

    checks: int
    requests: Mapping[str, int]
    made: Mapping[str, int]
    unclaimed: tuple[str, ...]
    owner: str
    prefix: str


def forecast(options: RunOptions, transport: httpx.BaseTransport | None = None) -> Forecast:
    """Ask the catalog for its config, once, and rehearse the run on a mock that offers the same.

    Nothing is made on the catalog itself. Where it differs from the mock the run differs: a
    capability that it lacks makes it shorter. Raises TargetUnusable and UsageError as a run does.
    """
    contract = options.contract
    offer = Offer.read(
        preflight(options.target, contract, transport, options.redactor), options.target
    )
    unclaimed = tuple(id_ for id_ in contract.operations if not offer.claims(id_, contract))
    requests: Counter[str] = Counter()
    made: Counter[str] = Counter()

    def count(exchange: Exchange) -> None:
        operation_id = exchange.operation or f"{exchange.method} outside the contract"
        requests[operation_id] += 1
        asked = contract.operations.get(operation_id)
        done = 200 <= (exchange.status or 0) < 300
        if done and asked is not None and asked.facts.action in _MAKING:
            made[f"{asked.facts.object}s"] += 1

    target = _like(options.target)
    others = target.second or target.reader
    hidden = [id_ for id_ in unclaimed if id_ not in contract.before_config]
    mock = MockCatalog(
        spec=contract.version,
        seed=options.seed,
        token=target.token,
        hidden=hidden,
        oauth2=OAuth2Settings(clients=(_NOBODY, _READER)) if others else None,
    )
    try:
        _make_given(target, mock.httpx_transport())
        rehearsed = replace(options, target=target, ledger=None)
        run = run_checks(rehearsed, transport=mock.httpx_transport(), on_exchange=count)
    finally:
        mock.stop()
    return Forecast(
        checks=sum(not _is_of_another_version(verdict) for verdict in asked_of(run.verdicts)),
        requests=dict(requests.most_common()),
        made=dict(made),
        unclaimed=unclaimed,
        owner=options.target.owner(options.run_id),
        prefix=f"/{offer.prefix}" if offer.prefix else "",
    )


def _is_of_another_version(verdict: Verdict) -> bool:
    return verdict.skip is not None and verdict.skip.kind is SkipKind.SPEC_VERSION


def _as(client: Client) -> Principal:
    return Principal(credential=f"{client.id}:{client.secret}")


def _like(target: Target) -> Target:
    """Return a target that is used in the same way, with credentials for the mock."""
    # A mock with tokens for other principals demands one of everybody.
    entering = target.token or target.credential or target.second or target.reader
    return Target(
        "http://rehearsal.invalid",
        token=_TOKEN if entering else None,
        second=_as(_NOBODY) if target.second else None,
        reader=_as(_READER) if target.reader else None,
        warehouse="rehearsal" if target.second_warehouse else None,
        second_warehouse=target.second_warehouse and "another rehearsal",
        isolation="auto" if target.isolation == "parent" else target.isolation,
        accept_residue=target.accept_residue,
        read_only=target.read_only,
        given=target.given,
        disruptive=target.disruptive,
        race_rounds=target.race_rounds,
        fuzz_cases=target.fuzz_cases,
        fuzz_seconds=target.fuzz_seconds,
    )


def _view_body(name: str) -> dict[str, Any]:
    text = {"type": "sql", "sql": "SELECT 1 AS id", "dialect": "spark"}
    version = {
        "version-id": 1,
        "timestamp-ms": 1,
        "schema-id": 0,
        "summary": {},
        "default-namespace": [],
        "representations": [text],
    }
    return {"name": name, "schema": DEFAULT_SCHEMA, "view-version": version, "properties": {}}


def _make_given(target: Target, transport: httpx.BaseTransport) -> None:
    """Make on the mock the objects that the user gave; those that it refuses are left out."""
    given = target.given
    named = [(given.table, "tables", create_table_body), (given.view, "views", _view_body)]
    places = [given.namespace, *(what[0] for what, _, _ in named if what is not None)]
    headers = {"Authorization": f"Bearer {target.token}"} if target.token else {}
    with httpx.Client(transport=transport, base_url=target.base_url, headers=headers) as client:
        config = Offer.read(client.get(target.config_path).json(), target)
        root = f"/v1/{config.prefix}/namespaces" if config.prefix else "/v1/namespaces"
        for place in places:
            for depth in range(1, len(place) + 1):
                client.post(root, json={"namespace": place[:depth]})
        for what, collection, body in named:
            if what is not None:
                parent = quote("\x1f".join(what[0]), safe="")
                client.post(f"{root}/{parent}/{collection}", json=body(what[1]))
