"""Builds the finished run from what one or several workers saw."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from icecheck.client.session import SessionSummary
from icecheck.contract import Contract, Level, contract_for
from icecheck.findings.capability_assessment import capabilities_of
from icecheck.findings.causes import causes_of
from icecheck.findings.conclusion import (
    as_frozen,
    conclude,
    profiles_of,
    ungated_if_disputed,
    ungated_if_unwitnessed,
    without_room,
)
from icecheck.findings.release import observations_of
from icecheck.findings.shared_symptoms import STALE_READ_AFTER_COMMIT
from icecheck.findings.verdict import Capability, Cause, Evidence, Run, SkipKind, Verdict, asked_of
from icecheck.judging.check import Check
from icecheck.judging.envelopes import members_beside_errors
from icecheck.judging.judge import not_run
from icecheck.judging.observed import Observed
from icecheck.judging.probes import CAPABILITIES
from icecheck.judging.settling import settled_with_passive
from icecheck.run.facts import facts_of
from icecheck.run.options import RunOptions
from icecheck.run.releases.beside import told_beside
from icecheck.run.releases.demands import demanded_verdicts
from icecheck.targets.offer import Offer

_STOPPED = "the run was to end at the first failure (--fail-fast, under pytest --maxfail)"


@dataclass(frozen=True, slots=True)
class ProcessReport:
    """What one process of a run knows at its end, beside the verdicts.

    ``observed`` is passive check id -> what passive judgement saw. ``tripped`` says why the circuit
    breaker opened, or why no check could begin, and is empty if neither is so. ``unwritten`` says
    which file could not be written, if any. ``preflight`` is what was sent where no check could
    begin. ``engine`` names the Spark and Iceberg that checks used, and is empty if none did.
    ``observed_beside`` is by the version of each contract beside that of the run.
    """

    session: SessionSummary
    observed: Mapping[str, Observed]
    tripped: str = ""
    unwritten: str = ""
    preflight: tuple[Evidence, ...] = ()
    engine: str = ""
    observed_beside: Mapping[str, Mapping[str, Observed]] = field(default_factory=dict)


def finish(
    options: RunOptions,
    processes: Sequence[ProcessReport],
    verdicts: Sequence[Verdict],
    *,
    interrupted: bool,
    started_at: datetime,
    wall_seconds: float,
    left_out: Collection[Check] = (),
    announced: int | None = None,
) -> Run:
    """Return the run: passive verdicts added, causes grouped, profiles and exit code computed.

    ``processes`` are those in which checks were or should have been judged, at least one.
    ``left_out`` are checks of the same groups that the user did not select: a profile that lacks a
    MUST check is at best partial. ``announced`` is the number of checks that the run was to make,
    if known; a run that ended early has verdicts on fewer, and its headline says why it ended.
    """
    contract = options.contract
    session = _together([process.session for process in processes])
    observed = _merged([process.observed for process in processes])
    tripped = _first(process.tripped for process in processes)
    unwritten = _first(process.unwritten for process in processes)
    offer = None if session.config is None else Offer.read(session.config, options.target)
    verdicts, passive = settled_with_passive(verdicts, session.permitted, observed, contract)
    due = (*verdicts, *demanded_verdicts(passive, options.spec, contract))
    everything = tuple(as_counted(verdict, options) for verdict in due)
    causes = causes_of(everything, contract)
    in_part = {c.profile for c in left_out if c.level is Level.MUST}
    profiles = profiles_of(everything, offer, contract, in_part)
    conclusion = conclude(
        everything,
        profiles,
        causes,
        complete=not (interrupted or unwritten),
        residue=bool(session.residue),
        tripped=bool(tripped),
    )
    before = "interrupted; until then " if interrupted and not unwritten else ""
    finished_at = datetime.now(UTC)
    run = Run(
        run_id=options.run_id,
        generated_at=finished_at.isoformat(timespec="seconds"),
        complete=not (interrupted or tripped),
        status=conclusion.status,
        headline=tripped or f"{before}{conclusion.headline}{_left_for_residue(session)}",
        exit_code=conclusion.exit_code,
        exit_reason=conclusion.exit_reason,
        verdicts=everything,
        causes=causes,
        capabilities=_capabilities(everything, causes, offer, contract, session),
        profiles=profiles,
        observations=(
            *(() if offer is None else observations_of(everything, offer, contract)),
            *members_beside_errors(observed),
        ),
        facts=facts_of(
            options,
            session,
            contract,
            started_at=started_at,
            finished_at=finished_at,
            wall=wall_seconds,
            checks_total=len(asked_of(verdicts)) if announced is None else announced,
            engine=_first(process.engine for process in processes),
        ),
        preflight=next((process.preflight for process in processes if process.preflight), ()),
    )
    _tell_of_others(run, options, processes, session, offer, left_out)
    return without_room(run, unwritten) if unwritten else run


def _tell_of_others(
    run: Run,
    options: RunOptions,
    processes: Sequence[ProcessReport],
    session: SessionSummary,
    offer: Offer | None,
    left_out: Collection[Check],
) -> None:
    """Add to the facts of a run what the releases beside its own say."""
    apart = {check.id for check in left_out}
    for release in options.beside:
        version = contract_for(release).version
        seen = _merged([process.observed_beside.get(version, {}) for process in processes])
        told = told_beside(
            release, run, options.groups, seen, session, offer, options.contract, apart
        )
        run.facts["spec"].setdefault("beside", []).append(told)


def as_counted(verdict: Verdict, options: RunOptions) -> Verdict:
    """Return a verdict as it counts: by what is witnessed, disputed, and in a frozen set."""
    if options.witnessed_only:
        verdict = ungated_if_unwitnessed(verdict)
    verdict = ungated_if_disputed(verdict, options.contract)
    if options.requirement_set is None:
        return verdict
    return as_frozen(verdict, options.requirement_set, options.contract)


def _left_for_residue(session: SessionSummary) -> str:
    """Return why nothing but one drop was judged; "" if that is not so."""
    if not session.undropped:
        return ""
    return (
        f"; nothing else was judged: a {session.undropped[0]} that the catalog says it has dropped "
        "is still there, as all that a run makes would be; to let it, add --accept-residue"
    )


def _first(words: Iterable[str]) -> str:
    """Return the first words that are not empty, or none."""
    return next(filter(None, words), "")


def left_to_skip(checks: Iterable[Check], verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return skips for the checks without a verdict in a run that ended at its first failure."""
    judged = {verdict.check for verdict in verdicts}
    return [
        not_run(check, SkipKind.EXCLUDED_BY_USER, _STOPPED)
        for check in checks
        if check.id not in judged
    ]


def _merged(observed: Iterable[Mapping[str, Observed]]) -> dict[str, Observed]:
    """Merge the passive observations of several processes."""
    merged: dict[str, Observed] = {}
    for each in observed:
        for check, seen in each.items():
            merged.setdefault(check, Observed()).merge(seen)
    return merged


def _capabilities(
    verdicts: Sequence[Verdict],
    causes: Sequence[Cause],
    offer: Offer | None,
    contract: Contract,
    session: SessionSummary,
) -> tuple[Capability, ...]:
    return capabilities_of(
        verdicts,
        offer,
        contract,
        undeclared=session.undeclared,
        probed=session.capabilities,
        needed_by=session.needed_by,
        traits={name: (trait.operation, trait.loses) for name, trait in CAPABILITIES.items()},
        shown_late=frozenset(
            check
            for cause in causes
            if cause.symptom == STALE_READ_AFTER_COMMIT.slug
            for check in cause.checks
        ),
    )


def _together(sessions: Sequence[SessionSummary]) -> SessionSummary:
    """Merge the summaries of several workers' sessions, those that know the config first."""
    first, *others = sorted(sessions, key=lambda session: session.config is None)
    for other in others:
        first = replace(
            first,
            requests=first.requests + other.requests,
            latencies_ms=_all_of(first.latencies_ms, other.latencies_ms),
            created=first.created + other.created,
            deleted=first.deleted + other.deleted,
            residue=[*first.residue, *other.residue],
            foreign=[*first.foreign, *other.foreign],
            capabilities=_worst(first.capabilities, other.capabilities),
            needed_by=_joined(first.needed_by, other.needed_by),
            answered_strangers=_joined(first.answered_strangers, other.answered_strangers),
            permitted=[*first.permitted, *other.permitted],
            undeclared=first.undeclared | other.undeclared,
            adaptations=[*dict.fromkeys([*first.adaptations, *other.adaptations])],
            undropped=sorted({*first.undropped, *other.undropped}),
        )
    return first


def _all_of(
    one: Mapping[str, list[float]], other: Mapping[str, list[float]]
) -> dict[str, list[float]]:
    """Merge the times of two workers."""
    return {name: [*one.get(name, ()), *other.get(name, ())] for name in {**one, **other}}


def _joined(one: Mapping[str, list[str]], other: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Merge what two workers noted under each name, sorted."""
    names = {**one, **other}
    return {name: sorted({*one.get(name, ()), *other.get(name, ())}) for name in names}


def _worst(
    one: Mapping[str, bool | None], other: Mapping[str, bool | None]
) -> dict[str, bool | None]:
    """Merge the capabilities that two workers saw: one lack decides, then any result beats None."""
    joined = {**one}
    for name, seen in other.items():
        mine = joined.get(name)
        joined[name] = False if False in (mine, seen) else mine or seen
    return joined
