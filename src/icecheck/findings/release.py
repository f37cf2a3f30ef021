"""Finds out which release of the document a catalog follows, as far as its config shows.

Older releases demand less, later ones more.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from icecheck.contract import (
    DEFAULT_SPEC_VERSION,
    SPEC_VERSIONS,
    Contract,
    Later,
    Ref,
    RefKind,
    load,
)
from icecheck.contract.releases import is_newer, newest
from icecheck.findings.verdict import Outcome, Verdict
from icecheck.targets.offer import Offer

_LIST = Ref(RefKind.SCHEMA, "CatalogConfig")
_LIST_MEMBER = "/components/schemas/CatalogConfig/properties/endpoints"


_READ_BY_CLIENTS: Mapping[str, Callable[[Offer], str | None]] = {
    "idempotency-key-lifetime": lambda offer: offer.idempotency_key_lifetime,
    "overrides.namespace-separator": lambda offer: offer.announced_separator,
}
"""Members that announce something only if a client can read it, wherever it may look for it."""


def evident_release(offer: Offer, contract: Contract) -> str | None:
    """Return the oldest release whose document has all that the configuration shows.

    None when it shows nothing: a catalog without a list of endpoints may follow any release.
    Endpoints that only a later document has count as the contract's own version.
    """
    if offer.endpoints is None:
        return None
    known = {o.endpoint: Ref(RefKind.OPERATION, o.id) for o in contract.operations.values()}
    shown = {contract.since(known[e]) for e in offer.endpoints if e in known}
    if _later_endpoints(offer, contract):
        shown.add(contract.version)
    return newest({contract.since(_LIST, contract.lines(_LIST_MEMBER)), *shown})


def shown_version(config: Mapping[str, Any], offer: Offer) -> tuple[str, str]:
    """Return the newest version of which a config shows a feature, and why, in words.

    Features are those that an older version knows to be in later documents: endpoints, and members
    of the config. The default version is the answer to a config that shows nothing newer.
    """
    before = load(DEFAULT_SPEC_VERSION)
    shown = {
        fact.name: fact.release
        for fact in before.later
        if fact.release in SPEC_VERSIONS and _shows(config, offer, fact)
    }
    version = newest({DEFAULT_SPEC_VERSION, *shown.values()})
    names = [name for name, release in shown.items() if release == version]
    if not names:
        return version, "auto: the config shows nothing of a later document"
    return version, f"auto: the config shows {', '.join(names)}"


def _shows(config: Mapping[str, Any], offer: Offer, fact: Later) -> bool:
    if fact.kind == "endpoint":
        return fact.name in (offer.endpoints or ())
    schema, _, path = fact.name.partition(".")
    if fact.kind != "member" or schema != "CatalogConfig":
        return False
    if path in _READ_BY_CLIENTS:
        return _READ_BY_CLIENTS[path](offer) is not None
    found: Any = config
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found is not None


def observations_of(
    verdicts: Iterable[Verdict], offer: Offer, contract: Contract
) -> tuple[dict[str, Any], ...]:
    """Return observations about the document that the catalog follows; none is a finding.

    Each has `id`, `question`, `answer` and `spec_says`. They are about endpoints that only a later
    document defines, and failed checks whose requirements are newer than anything the catalog
    shows.
    """
    found = []
    if endpoints := _later_endpoints(offer, contract):
        found.append(
            {
                "id": "later-endpoints",
                "question": f"Endpoints that only documents after {contract.version} define",
                "answer": ", ".join(endpoints),
                "spec_says": "; ".join(f"{name}: {text}" for name, text in endpoints.items()),
            }
        )
    shown = evident_release(offer, contract)
    newer = _newer_failures(verdicts, shown, contract) if shown else {}
    if newer:
        found.append(
            {
                "id": "newer-requirements",
                "question": f"Findings newer than what the configuration shows ({shown})",
                "answer": ", ".join(f"{check} (since {r})" for check, r in newer.items()),
                "spec_says": "a catalog that follows an older document is held to that by --spec",
            }
        )
    return tuple(found)


def _later_endpoints(offer: Offer, contract: Contract) -> dict[str, str]:
    told = {fact.name: fact for fact in contract.later if fact.kind == "endpoint"}
    return {
        name: f"{told[name].release}, {told[name].text}"
        for name in offer.endpoints or ()
        if name in told
    }


def _newer_failures(verdicts: Iterable[Verdict], shown: str, contract: Contract) -> dict[str, str]:
    """Return the failed checks that prove something newer than ``shown``, with its release."""
    register = contract.requirements
    found = {}
    for verdict in verdicts:
        if verdict.outcome is Outcome.FAIL:
            proven = [register[r].since for r in verdict.requirements if r in register]
            if is_newer(newest([shown, *proven]), shown):
                found[verdict.check] = newest(proven)
    return found
