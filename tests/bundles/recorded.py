"""Records runs on catalogs in this process, and verifies their bundles."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from icecheck.bundles.bundle import Product
from icecheck.bundles.packing import open_bundle, pack
from icecheck.bundles.verification import Verification, verified
from icecheck.findings.verdict import Run
from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, Permissions, VendingSettings
from icecheck.mock_server.defects import defects
from icecheck.proof.defective import CREDENTIAL, SECOND, client_without_rights, target_of_mock
from icecheck.reports.exchanges import ExchangeLog, read_exchanges
from icecheck.run.options import RunOptions
from icecheck.run.output import Output
from icecheck.run.runner import run_checks
from icecheck.targets.target import Target
from icecheck.wire.exchange import Exchange
from tests.kill.killing import ADDRESS, TOKEN, WAREHOUSE

PRODUCT = Product("Acme", "Acme Catalog", "7.1", "conformance@acme.example")
GLOBS = (
    "createNamespace.*",
    "createTable.already-exists",
    "dropTable.*",
    "error.*",
    "etag.t*",
    "getToken.*",
    "listTables.l*",
    "loadCredentials.*",
    "loadTable.*",
    "planTableScan.e*",
    "race.drop",
    "renameView.*",
    "scenario.namespaces-and-tables",
    "assertion.*",
    "view-update.add-*",
)
"""Checks of many kinds: with shared objects, manifests, races, secrets, drawn data."""


def recorded_run(
    directory: Path, transport: httpx.BaseTransport, *, target: Target | None = None, **options: Any
) -> Run:
    """Run checks on a catalog, and write their report and exchanges into a directory."""
    wanted = RunOptions(
        target or Target(ADDRESS, warehouse=WAREHOUSE, token=TOKEN), run_id="recorded1", **options
    )
    output = Output(directory)
    run = run_checks(wanted, transport=transport, on_exchange=output.record)
    output.finish(run)
    return run


@contextmanager
def open_catalog(*names: str) -> Iterator[httpx.BaseTransport]:
    """Yield what sends requests to a mock without credentials that has these defects."""
    with MockCatalog(seed=1, token=TOKEN) as mock:
        for name in names:
            defects()[name].install(mock.registries)
        yield mock.httpx_transport()


@contextmanager
def secured_catalog() -> Iterator[tuple[httpx.BaseTransport, Target]]:
    """Yield what sends requests to a mock with three principals and vended keys, and its target."""
    client_id, _, secret = CREDENTIAL.partition(":")
    reader = Client("reader", "reader-secret", permissions=Permissions(read_only=True))
    clients = (Client(client_id, secret), client_without_rights(SECOND), reader)
    mock = MockCatalog(
        seed=1,
        token=TOKEN,
        oauth2=OAuth2Settings(clients=clients),
        vending=VendingSettings(storage="s3", table_config={"token": TOKEN}),
    )
    with mock:
        yield mock.httpx_transport(), target_of_mock()


def packed(directory: Path) -> Path:
    """Pack the report in a directory, and return its bundle."""
    bundle = directory / "bundle.zip"
    pack(directory, bundle, PRODUCT)
    return bundle


def verification_of(directory: Path) -> Verification:
    """Pack the report in a directory, and verify its bundle."""
    return verified(open_bundle(packed(directory)))


def lines_of(shown: Verification) -> list[str]:
    """Return the lines of what differs."""
    return [each.line for each in shown.differences]


def changed_report(directory: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a report; whoever packs it again computes the hashes of its bundle anew."""
    path = directory / "run.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def changed_exchanges(
    directory: Path, change: Callable[[list[Exchange]], Iterable[Exchange]]
) -> None:
    """Change the exchanges of a report, and its own hash of them."""
    path = directory / "exchanges.jsonl.zst"
    exchanges = [*change([*read_exchanges(path)])]
    log = ExchangeLog(path)
    for each in exchanges:
        log.write(each)
    log.close()
    content = path.read_bytes()

    def told(document: dict[str, Any]) -> None:
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        facts = {"sha256": digest, "bytes": len(content), "exchanges": len(exchanges)}
        document["artifacts"][0] |= facts

    changed_report(directory, told)
