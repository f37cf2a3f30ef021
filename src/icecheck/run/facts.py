"""The blocks of a run that are recorded rather than computed: suite, spec, target, timing."""

import hashlib
import json
import os
import platform
import sys
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import Any

import icecheck
from icecheck.client.session import SessionSummary
from icecheck.contract import Contract, Requirement
from icecheck.findings.verdict import Group
from icecheck.judging.check import Check
from icecheck.run.collect import collect
from icecheck.run.options import RunOptions
from icecheck.targets.offer import Offer
from icecheck.targets.recorded import recorded_target

_GROUPS = (Group.CHECKS, Group.GENERATED, Group.SCENARIOS)
"""The groups whose checks need nothing but a catalog: the hash is the same in every environment."""


def facts_of(
    options: RunOptions,
    session: SessionSummary,
    contract: Contract,
    *,
    started_at: datetime,
    finished_at: datetime,
    wall: float,
    checks_total: int,
) -> dict[str, dict[str, Any]]:
    """Return the recorded blocks of run.json; none of them holds a secret.

    ``wall`` is in seconds.
    """
    tag, sha256, url = contract.document_at(options.spec)
    return {
        "suite": {
            "name": "icecheck",
            "version": icecheck.__version__,
            "checks_total": checks_total,
            "requirement_set": f"iceberg-rest/{contract.version}",
            "requirement_set_frozen": False,
            "requirement_set_sha256": requirement_set_sha256(contract),
        },
        "spec": {
            # The document of the release that the run holds to; the requirements and their lines
            # are the contract's.
            "id": f"iceberg-rest/{options.spec}",
            "git_tag": tag,
            "sha256": f"sha256:{sha256}",
            "url": url,
            "overlays": [{"id": "icecheck-errata", "applied": sorted(contract.errata)}],
            "channel": "release",
        },
        "target": _target(options, session),
        "environment": {
            "python": platform.python_version(),
            "os": f"{sys.platform}-{platform.machine()}",
            "ci": os.environ.get("CI", "") not in {"", "false"},
        },
        "config": {
            "seed": options.seed,
            "safety": options.target.safety,
            "groups": [str(g) for g in options.groups],
            "globs": list(options.globs),
            "isolation": session.isolation,
            "witnessed_only": options.witnessed_only,
            "timeout_seconds": options.target.timeout_seconds,
            "command": options.command,
            "workers": options.workers,
            "fail_fast": options.fail_fast,
            "replays": bool(options.replays.by_check),
            "target": recorded_target(options.target),
        },
        "timing": _timing(session, started_at, finished_at, wall),
        "safety": {
            "level": options.target.safety,
            "namespace_prefix": session.owner,
            "name_pattern": options.target.name_pattern,
            "created": session.created,
            "deleted": session.deleted,
            "residue": session.residue,
            "touched_foreign": session.foreign,
        },
    }


def _target(options: RunOptions, session: SessionSummary) -> dict[str, Any]:
    target = options.target
    offer = Offer.read(session.config, target)
    method = "bearer" if target.token else "none"
    if target.credential:
        method = "oauth2-client-credentials"
    if target.sigv4 is not None:
        method = "sigv4"
    principals = (method != "none") + sum(p is not None for p in (target.second, target.reader))
    return {
        "url": target.url,
        "warehouse": target.warehouse,
        "prefix": offer.prefix,
        "namespace": list(target.namespace),
        "implementation": {"project": options.implementation or "unnamed"},
        "auth": {
            "method": method,
            "principals": principals,
            "client_certificate": target.client_cert is not None,
            "answered": session.answered_strangers,
        },
        "agent": target.agent,
        "accommodations": session.adaptations,
        "endpoints": None if offer.endpoints is None else list(offer.endpoints),
        "fingerprint": {
            "server_header": session.server_header,
            "config_sha256": _sha256(session.config),
        },
    }


def _timing(
    session: SessionSummary, started_at: datetime, finished_at: datetime, wall: float
) -> dict[str, Any]:
    latencies = sorted(session.latencies_ms)

    def percentile(share: float) -> float:
        if not latencies:
            return 0.0
        return round(latencies[min(len(latencies) - 1, int(share * len(latencies)))], 2)

    return {
        "started_at": started_at.isoformat(timespec="seconds"),
        "finished_at": finished_at.isoformat(timespec="seconds"),
        "wall_s": round(wall, 2),
        "requests": session.requests,
        "latency_ms": {"p50": percentile(0.5), "p95": percentile(0.95)},
    }


def _sha256(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


@cache
def requirement_set_sha256(contract: Contract) -> str:
    """Return the hash of a contract's requirements and of the checks that prove them."""
    checks = collect(_GROUPS, contract, disruptive=True)
    return digest_of(contract.requirements.values(), checks)


def digest_of(requirements: Iterable[Requirement], checks: Iterable[Check]) -> str:
    """Return one hash of what is demanded, at which level, under which condition, and proven how.

    A requirement that is added, changed or proven by other checks gives another hash. Lines of the
    document and the words on clients do not count: they change no verdict.
    """
    proving: defaultdict[str, list[str]] = defaultdict(list)
    for check in checks:
        for requirement_id in check.proves:
            proving[requirement_id].append(check.id)
    rows = [
        {
            "id": each.id,
            "level": str(each.level),
            "condition": each.condition,
            "text": each.text,
            "basis": str(each.basis),
            "refs": sorted(map(str, each.refs)),
            "profile": each.profile,
            "since": each.since,
            "checks": sorted(proving[each.id]),
        }
        for each in sorted(requirements, key=lambda each: each.id)
    ]
    return _sha256(rows)
