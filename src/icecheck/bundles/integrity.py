"""Compares the members of a bundle with its manifest, and with each other."""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from icecheck.bundles.bundle import EXCHANGES, RUN, Bundle, BundleUnusable, sha256_of
from icecheck.bundles.differences import Difference
from icecheck.contract import Contract
from icecheck.findings.comparison import read_run
from icecheck.reports import run_json
from icecheck.reports.exchanges import ExchangesUnreadable, exchanges_in
from icecheck.targets.target import UsageError
from icecheck.wire.exchange import Exchange

_RECORDED_BYTES_MAX = 1 << 31
_PROBLEMS_MAX = 5


def differing_hashes(bundle: Bundle) -> Iterator[Difference]:
    """Yield each member that is not what the manifest says of it."""
    told = {str(row["name"]): row for row in bundle.manifest["members"]}
    for name, content in bundle.members.items():
        row = told.get(name)
        if row is None:
            yield Difference(f"manifest: {name}", "nothing of it", sha256_of(content))
        elif row["sha256"] != sha256_of(content):
            yield Difference(f"manifest: {name}", row["sha256"], sha256_of(content))
        elif row.get("bytes") != len(content):
            yield Difference(f"manifest: {name}", f"{row.get('bytes')} B", f"{len(content)} B")
    for name in told.keys() - bundle.members.keys():
        yield Difference(f"manifest: {name}", "a member", "none of this name")


def report_in(bundle: Bundle) -> dict[str, Any]:
    """Return the report of a bundle.

    Raises BundleUnusable for a text that is no report.
    """
    try:
        return read_run(bundle.members[RUN], RUN)
    except UsageError as wrong:
        raise BundleUnusable(str(wrong)) from None


def recorded_in(bundle: Bundle) -> list[Exchange]:
    """Return the exchanges of a bundle in recorded order.

    Raises BundleUnusable for what is no recording, or inflates beyond what a run can be.
    """
    try:
        content = io.BytesIO(bundle.members[EXCHANGES])
        return [*exchanges_in(content, bytes_max=_RECORDED_BYTES_MAX)]
    except ExchangesUnreadable as wrong:
        raise BundleUnusable(f"{EXCHANGES} {wrong}") from None


def breaches_of_schema(bundle: Bundle) -> Iterator[Difference]:
    """Yield where the report breaks its published schema."""
    problems = run_json.problems_of(bundle.members[RUN].decode("utf-8", "replace"))
    for problem in problems[:_PROBLEMS_MAX]:
        yield Difference("run.json: its schema", "a report of icecheck", problem)


def differing_members(
    bundle: Bundle, document: Mapping[str, Any], exchanges: Sequence[Exchange]
) -> Iterator[Difference]:
    """Yield what shows that report and exchanges are not two members of one run's report."""
    if bundle.manifest.get("run_id") != document["run_id"]:
        run_id = str(bundle.manifest.get("run_id"))
        yield Difference("manifest: run_id", run_id, f"{document['run_id']} in run.json")
    artifacts = [a for a in document.get("artifacts", ()) if a.get("name") == EXCHANGES]
    content = bundle.members[EXCHANGES]
    if not artifacts:
        yield Difference("run.json: artifacts", f"no {EXCHANGES}", sha256_of(content))
    for artifact in artifacts:
        facts = {"sha256": sha256_of(content), "bytes": len(content), "exchanges": len(exchanges)}
        for name, derived in facts.items():
            if artifact.get(name) != derived:
                yield Difference(f"run.json: artifacts {name}", str(artifact[name]), str(derived))
    owner = str(document["safety"]["namespace_prefix"])
    if document["safety"]["created"] and not any(map(_naming(owner), exchanges)):
        yield Difference("the exchanges", f"those of the run {owner}", "none of them names it")


def with_known_operations(
    exchanges: Sequence[Exchange], contract: Contract
) -> tuple[list[Exchange], list[Difference]]:
    """Return the exchanges, those of an operation that the document lacks without it; name them."""
    strange = {e.operation for e in exchanges if e.operation} - contract.operations.keys()
    kept = [replace(e, operation=None) if e.operation in strange else e for e in exchanges]
    lacking = f"no operation of iceberg-rest/{contract.version}"
    return kept, [Difference("the exchanges", f"requests for {name}", lacking) for name in strange]


def _naming(owner: str) -> Any:
    return lambda each: owner in each.url or owner.encode() in (each.request_body or b"")
