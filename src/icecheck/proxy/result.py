"""Builds the finished run of a proxy: what answers broke, what clients sent, and what is not known.

A proxy sends no request of its own: nobody asked the catalog for what no client needed. So it finds
faults, and never that a catalog conforms.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from icecheck.client.session import SessionSummary
from icecheck.contract import Contract, Level
from icecheck.findings.capability_assessment import capabilities_of
from icecheck.findings.causes import causes_of
from icecheck.findings.conclusion import ExitCode, profiles_of
from icecheck.findings.never_worked import NOT_SERVED_STATUSES
from icecheck.findings.verdict import Outcome, Profile, Run, Verdict
from icecheck.judging.envelopes import members_beside_errors
from icecheck.judging.observed import Observed
from icecheck.judging.passive import passive_verdicts
from icecheck.proxy.watching import UNKNOWN, Watch
from icecheck.run.facts import facts_of
from icecheck.run.finish import as_counted
from icecheck.run.options import RunOptions
from icecheck.targets.offer import Offer

_UNKNOWN = "unknown"
_VIOLATIONS_MAX = 50


def proxied_run(
    options: RunOptions,
    watch: Watch,
    *,
    started_at: datetime,
    past: tuple[str, ...] = (),
    refused: Mapping[str, int] = MappingProxyType({}),
) -> Run:
    """Return the run of a proxy whose `watch` has ended.

    ``past`` are addresses by which the catalog's config leads clients past the proxy,
    ``refused`` why it handed how many requests not on.
    """
    contract, offer = options.contract, watch.routes.offer
    finished_at = datetime.now(UTC)
    wall = (finished_at - started_at).total_seconds()
    observed = _of_what_is_served(options, watch)
    told = passive_verdicts(observed, contract)
    verdicts = tuple(as_counted(verdict, options) for verdict in told)
    causes = causes_of(verdicts, contract)
    session = _summary(options, watch)
    failed = [v for v in verdicts if v.outcome is Outcome.FAIL]
    gating = [v for v in failed if v.level is Level.MUST and v.gating]
    code, reason = ExitCode.SATISFIED, "gate-satisfied"
    if gating:
        code, reason = ExitCode.UNEXPECTED, "unexpected-failure"
    elif watch.failures:
        code, reason = ExitCode.SUITE_ERROR, "suite-error"
    elif not verdicts:
        code, reason = ExitCode.NOTHING_VERIFIED, "nothing-verified"
    return Run(
        run_id=options.run_id,
        generated_at=finished_at.isoformat(timespec="seconds"),
        complete=True,
        status="not-conformant" if gating else "no-verdict",
        headline=_headline(watch, verdicts),
        exit_code=code,
        exit_reason=reason,
        verdicts=verdicts,
        causes=causes,
        capabilities=capabilities_of(verdicts, offer, contract, undeclared={}, probed={}),
        profiles=_profiles(verdicts, offer, contract),
        observations=(*_observations(watch, past, refused), *members_beside_errors(observed)),
        facts=facts_of(
            options,
            session,
            contract,
            started_at=started_at,
            finished_at=finished_at,
            wall=wall,
            checks_total=0,
        ),
    )


def _profiles(
    verdicts: Sequence[Verdict], offer: Offer | None, contract: Contract
) -> tuple[Profile, ...]:
    """Return the profiles; one of which no answer failed is not verified, and no more is known."""
    failed = {v.profile for v in verdicts if v.outcome is Outcome.FAIL and v.level is Level.MUST}
    return tuple(
        replace(profile, status="not-verified")
        if profile.status == "not-conformant" and profile.id not in failed
        else profile
        for profile in profiles_of(verdicts, offer, contract)
    )


def _of_what_is_served(options: RunOptions, watch: Watch) -> dict[str, Observed]:
    """Return what was seen of all prefixes, but for operations neither claimed nor served there.

    What a router says of a path that it does not know is outside the document. Where no config has
    passed, nothing is known to be claimed.
    """
    merged: dict[str, Observed] = {}
    for (prefix, operation_id, _), observed in watch.observed.items():
        offer = watch.routes.offer_at(prefix)
        claimed = offer is not None and offer.claims(operation_id, options.contract)
        if not claimed and watch.statuses[prefix, operation_id] <= NOT_SERVED_STATUSES:
            continue
        for check_id, seen in observed.items():
            merged.setdefault(check_id, Observed()).merge(seen)
    return merged


def _summary(options: RunOptions, watch: Watch) -> SessionSummary:
    return SessionSummary(
        config=watch.routes.config,
        isolation=_UNKNOWN,
        owner=options.target.owner(options.run_id),
        server_header=watch.server_header,
        requests=watch.passed,
        latencies_ms=dict(watch.latencies_ms),
        created=0,
        deleted=0,
        residue=[],
        foreign=[],
    )


def _headline(watch: Watch, verdicts: tuple[Verdict, ...]) -> str:
    many = f"{watch.passed} request{'s' * (watch.passed != 1)} passed"
    if not verdicts:
        return f"{many}, and no answer could be judged"
    failed = [v for v in verdicts if v.outcome is Outcome.FAIL]
    if 2 * watch.not_judged[UNKNOWN] > watch.passed:
        many += f", most of them {UNKNOWN}"
    if not failed:
        return f"{many}; nothing is wrong with the answers as far as they were judged"
    required = sum(v.level is Level.MUST for v in failed)
    checks = f"{len(failed)} of {len(verdicts)} checks of the answers fail"
    return f"{many}; {checks}, {required} of them required"


def _observations(
    watch: Watch, past: tuple[str, ...], refused: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    violations = () if watch.lint is None else watch.lint.violations
    for each in violations[:_VIOLATIONS_MAX]:
        yield {
            "id": "client-sent",
            "question": f"The client {each.client} sent what the document does not allow",
            "answer": f"{each.operation or 'any operation'}, {each.place}: {each.words} "
            f"({each.requests} request{'s' * (each.requests != 1)}, first number {each.sequence})",
            "spec_says": each.lines,
        }
    if len(violations) > _VIOLATIONS_MAX:
        yield {
            "id": "client-sent",
            "question": "Clients sent more that the document does not allow",
            "answer": f"{len(violations) - _VIOLATIONS_MAX} more of the kind",
            "spec_says": "",
        }
    for check_id, seen in sorted(watch.older.items()):
        first = next(iter(seen.findings.values()))
        yield {
            "id": "older-metadata",
            "question": "Metadata of tables and views that were there before: not the catalog's "
            "fault for certain, and not judged",
            "answer": f"{check_id} at {first.pointer}: {first.actual}",
            "spec_says": f"expected {first.expected}",
        }
    if watch.server_errors:
        told = sorted(watch.server_errors.items())
        yield {
            "id": "server-errors",
            "question": "Server errors, which no check of the answers judges",
            "answer": ", ".join(f"{id_} {status} ({many})" for (id_, status), many in told),
            "spec_says": "",
        }
    if watch.failures:
        yield {
            "id": "suite-errors",
            "question": "Errors of icecheck itself: these exchanges were not judged",
            "answer": ", ".join(watch.failures[:_VIOLATIONS_MAX]),
            "spec_says": "please report them with the exchanges of this report",
        }
    if past:
        yield {
            "id": "leads-past",
            "question": "The catalog's config leads clients past the proxy",
            "answer": ", ".join(dict.fromkeys(map(_without_secrets, past))),
            "spec_says": "name the address that clients are led to, and start the proxy for that",
        }
    if refused:
        yield {
            "id": "refused",
            "question": "Requests that the proxy did not hand on",
            "answer": ", ".join(f"{why} ({many})" for why, many in sorted(refused.items())),
            "spec_says": "",
        }
    if watch.not_judged:
        yield {
            "id": "not-judged",
            "question": "Exchanges that were not judged",
            "answer": ", ".join(f"{why} ({n})" for why, n in sorted(watch.not_judged.items())),
            "spec_says": "",
        }


def _without_secrets(told: str) -> str:
    """Return a name and an address without user, query and fragment."""
    name, _, url = told.partition(" ")
    try:
        parts = urlsplit(url)
    except ValueError:
        return f"{name}, which is no URL"
    shown = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
    return f"{name} {shown.geturl()}"
