"""Records runs on catalogs in this process, and verifies their bundles."""

from pathlib import Path
from typing import Any

import httpx

from icecheck.bundles.bundle import Product
from icecheck.bundles.packing import open_bundle, pack
from icecheck.bundles.verification import Verification, verified
from icecheck.findings.verdict import Run
from icecheck.run.options import RunOptions
from icecheck.run.output import Output
from icecheck.run.runner import run_checks
from icecheck.targets.target import Target
from tests.kill.killing import ADDRESS, TOKEN, WAREHOUSE

GLOBS = ("createTable.*", "createNamespace.*", "loadTable.*", "auth.*", "states.created-at-once")
"""Few checks of several kinds."""


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


def packed(directory: Path) -> Path:
    """Pack the report in a directory, and return its bundle."""
    bundle = directory / "bundle.zip"
    pack(directory, bundle, Product(product="icecheck mock"))
    return bundle


def verification_of(directory: Path) -> Verification:
    """Pack the report in a directory, and verify its bundle."""
    return verified(open_bundle(packed(directory)))


def lines_of(shown: Verification) -> list[str]:
    """Return the lines of what differs."""
    return [each.line for each in shown.differences]
