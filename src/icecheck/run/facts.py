"""The blocks of a run that are recorded rather than computed: suite, spec, target, timing."""

import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

import icecheck
from icecheck.client.session import SessionSummary
from icecheck.contract import Contract, Requirement
from icecheck.contract.frozen import (
    RequirementSet,
    frozen_as,
    proving_checks,
    requirement_set,
    set_id,
)
from icecheck.findings.verdict import Group
from icecheck.judging.check import Check
from icecheck.run.collect import collect
from icecheck.run.options import RunOptions
from icecheck.targets.offer import Offer
from icecheck.targets.recorded import recorded_target
from icecheck.targets.secret_marks import without_marks

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
    engine: str = "",
) -> dict[str, dict[str, Any]]:
    """Return the recorded blocks of run.json; none of them holds a secret.

    ``wall`` is in seconds; ``engine`` names the Spark and Iceberg that took part, if any did.
    """
    tag, sha256, url = contract.document_at(options.spec)
    return {
        "suite": {
            "name": "icecheck",
            "version": icecheck.__version__,
            "checks_total": checks_total,
            "requirement_set": f"iceberg-rest/{contract.version}",
            **_requirement_set(options.requirement_set, contract),
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
            **({"reason": options.spec_reason} if options.spec_reason else {}),
        },
        "target": _target(options, session),
        "environment": {
            "python": platform.python_version(),
            "os": f"{sys.platform}-{platform.machine()}",
            "ci": os.environ.get("CI", "") not in {"", "false"},
            **({"spark": engine} if engine else {}),
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


def _requirement_set(judged_by: RequirementSet | None, contract: Contract) -> dict[str, Any]:
    """Return the set by which the run was judged, and whether it is one that never changes.

    ``drift`` are requirements of a frozen set that this release words or proves otherwise.
    """
    now = requirement_set_of(contract)
    frozen = judged_by or frozen_as(now.sha256)
    drift = [] if judged_by is None else [*judged_by.drift_from(now)]
    return {
        "requirement_set_frozen": frozen is not None and not drift,
        "requirement_set_sha256": (judged_by or now).sha256,
        "frozen_set": None if frozen is None else frozen.id,
        "drift": drift,
    }


def _target(options: RunOptions, session: SessionSummary) -> dict[str, Any]:
    target = options.target
    offer = None if session.config is None else Offer.read(session.config, target)
    method = "bearer" if target.token else "none"
    if target.credential:
        method = "oauth2-client-credentials"
    if target.sigv4 is not None:
        method = "sigv4"
    principals = (method != "none") + sum(p is not None for p in (target.second, target.reader))
    return {
        "url": target.url,
        "warehouse": target.warehouse,
        "prefix": target.prefix if offer is None else offer.prefix,
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
        "endpoints": None if offer is None or offer.endpoints is None else list(offer.endpoints),
        "fingerprint": {
            "server_header": session.server_header,
            "config_sha256": None if session.config is None else _sha256(session.config),
        },
    }


def _timing(
    session: SessionSummary, started_at: datetime, finished_at: datetime, wall: float
) -> dict[str, Any]:
    every = sorted(took for answers in session.latencies_ms.values() for took in answers)
    return {
        "started_at": started_at.isoformat(timespec="seconds"),
        "finished_at": finished_at.isoformat(timespec="seconds"),
        "wall_s": round(wall, 2),
        "requests": session.requests,
        "latency_ms": {"p50": _percentile(every, 0.5), "p95": _percentile(every, 0.95)},
        "operations": _by_operation(session.latencies_ms),
    }


def _by_operation(latencies_ms: Mapping[str, list[float]]) -> list[dict[str, Any]]:
    """Return how long each operation took to answer, those that took longest in all first."""
    in_order = sorted(latencies_ms.items(), key=lambda each: (-sum(each[1]), each[0]))
    return [
        {
            "id": operation_id,
            "requests": len(answers),
            "p50_ms": _percentile(sorted(answers), 0.5),
            "p95_ms": _percentile(sorted(answers), 0.95),
            "max_ms": round(max(answers), 2),
        }
        for operation_id, answers in in_order
        if operation_id and answers
    ]


def _percentile(in_order: Sequence[float], share: float) -> float:
    if not in_order:
        return 0.0
    return round(in_order[min(len(in_order) - 1, int(share * len(in_order)))], 2)


def _sha256(value: Any) -> str:
    # The marks of secrets differ from run to run, and the catalog's config need not.
    text = without_marks(json.dumps(value, sort_keys=True, default=str))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


@cache
def requirement_set_of(contract: Contract) -> RequirementSet:
    """Return the set of requirements of this release of the suite, and the checks that prove them.

    Checks that need more than a catalog are left out: the set is the same in every environment.
    """
    checks = collect(_GROUPS, contract, disruptive=True)
    return set_of(contract.version, contract.requirements.values(), checks)


def set_of(
    document: str, requirements: Iterable[Requirement], checks: Iterable[Check]
) -> RequirementSet:
    """Return the set of these requirements as these checks prove them, under this release's id."""
    proving = proving_checks((check.id, check.proves) for check in checks)
    return requirement_set(set_id(document, icecheck.__version__), document, requirements, proving)
