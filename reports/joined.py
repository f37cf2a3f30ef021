"""Facts of a run that several formats need: its contract, causes by check, what gates."""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping

from icecheck.contract import Changes, Contract, load
from icecheck.findings.expected_failures import EntryMatch, EntryResult, ExpectationKind
from icecheck.findings.verdict import (
    Cause,
    Group,
    Level,
    Outcome,
    Run,
    Verdict,
    asked_of,
    totals_of,
)

_WRONG = frozenset({Outcome.FAIL, Outcome.BLOCKED, Outcome.ERROR})
_NAMED_MAX = 6


def contract_of(run: Run) -> Contract:
    """Return the contract that the run was judged by."""
    # The run may hold to an older release; its requirements are those of the contract.
    return load(str(run.facts["suite"]["requirement_set"]).rpartition("/")[2])


def access_lines(run: Run) -> list[str]:
    """Return a line on each way of coming without valid credentials that was answered all the same.

    Which routes need credentials is the catalog's own business, so this is no finding.
    """
    answered = run.facts["target"]["auth"].get("answered", {})
    changes = {
        o.id for o in contract_of(run).operations.values() if o.facts.changes is Changes.OBJECTS
    }
    lines = []
    for how, operations in answered.items():
        named = sorted(operations, key=lambda id_: (id_ not in changes, id_))
        more = f" and {len(named) - _NAMED_MAX} more" if len(named) > _NAMED_MAX else ""
        lines.append(f"the catalog answers {how}: {', '.join(named[:_NAMED_MAX])}{more}")
    return lines


def is_judged(run: Run) -> bool:
    """Return whether there is anything to tell about what works: no run that ended too early."""
    return run.complete or totals_of(asked_of(run.verdicts))["executed"] > 0


def next_step(run: Run) -> str:
    """Return the command that looks closer at a target that could not be used; "" otherwise."""
    if run.exit_reason != "target-unusable" or is_judged(run):
        return ""
    return f"icecheck doctor {shlex.quote(str(run.facts['target']['url']))}"


def verdicts_by_check(run: Run) -> dict[str, Verdict]:
    """Return check id -> verdict."""
    return {v.check: v for v in run.verdicts}


def causes_by_check(run: Run) -> dict[str, Cause]:
    """Return check id -> the cause that fails or blocks it."""
    return {check: cause for cause in run.causes for check in cause.checks}


def checks_by_requirement(run: Run) -> Mapping[str, list[Verdict]]:
    """Return requirement id -> the verdicts on it."""
    found: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in run.verdicts:
        for requirement in verdict.requirements:
            found[requirement].append(verdict)
    return found


def result_of(verdicts: Iterable[Verdict]) -> str:
    """Return the result for a requirement: the worst outcome of its checks, or not-run."""
    outcomes = {v.outcome for v in verdicts}
    for worst in (Outcome.FAIL, Outcome.BLOCKED, Outcome.ERROR, Outcome.PASS):
        if worst in outcomes:
            return str(worst)
    return "not-run"


def family_of(verdict: Verdict) -> str:
    """Return the family under which a check is listed: its group, and the operation or topic."""
    topic = verdict.check.split(".")[1 if verdict.check.startswith("schema.") else 0]
    return topic if verdict.group is Group.CHECKS else str(verdict.group)


def families(run: Run) -> dict[str, list[Verdict]]:
    """Return family -> its verdicts, in the order in which the run met them."""
    grouped: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in run.verdicts:
        grouped[family_of(verdict)].append(verdict)
    return dict(grouped)


def gates(verdict: Verdict, mark: EntryMatch | None = None) -> bool:
    """Return whether a failure of this check would fail the gate, given the mark of its entry."""
    if mark is None or mark.met is EntryResult.NOT_JUDGED:
        return verdict.level is Level.MUST and verdict.gating
    return not mark.excuses


def is_unexpected(verdict: Verdict, mark: EntryMatch | None) -> bool:
    """Return whether the outcome is a failure that no entry expects, or contradicts its entry."""
    if mark is None or mark.met is EntryResult.NOT_JUDGED:
        return verdict.outcome in _WRONG
    return not mark.excuses


def note_of(mark: EntryMatch | None) -> str:
    """Return the mark in one line for a reader; "" for a check that no entry names."""
    if mark is None:
        return ""
    entry = mark.entry
    issue = f" ({entry.issue})" if entry.issue else ""
    said = f"{entry.kind}: {entry.reason}{issue}"
    return said if mark.excuses else f"{said} [{str(mark.met).replace('-', ' ')}]"


def expected_causes(run: Run) -> frozenset[str]:
    """Return the ids of the causes of known failures: something is excused, and nothing gates."""
    marks, verdicts = run.expectations.by_check, verdicts_by_check(run)
    excused = run.expectations.excused
    known = []
    for cause in run.causes:
        gating = any(gates(verdicts[c], marks.get(c)) for c in cause.checks if c in verdicts)
        if not gating and not excused.isdisjoint(cause.checks):
            known.append(cause.id)
    return frozenset(known)


def counts_words(run: Run) -> str:
    """Return the counts of the outcomes of the run's own checks, then those of passive verdicts.

    For a run that ended early the words also say how many of the checks have a verdict.
    """
    asked = asked_of(run.verdicts)
    totals, passive = totals_of(asked), totals_of(v for v in run.verdicts if v.passive)
    words = ", ".join(f"{totals[outcome]} {outcome}" for outcome in map(str, Outcome))
    announced = run.facts["suite"]["checks_total"]
    if announced > len(asked):
        words = f"{len(asked)} of {announced} judged: {words}"
    if passive["executed"]:
        words += f"; judged from their answers: {passive['pass']} pass, {passive['fail']} fail"
    return words


def excused_words(run: Run) -> str:
    """Return how many failures the user's entries excuse, by kind of entry; "" for none."""
    failing = {v.check for v in run.verdicts if v.outcome in _WRONG}
    counts = dict.fromkeys(ExpectationKind, 0)
    for mark in run.expectations.marks:
        counts[mark.entry.kind] += mark.excuses and mark.check in failing
    plural = "s" if counts[ExpectationKind.KNOWN_FAILURE] != 1 else ""
    names = {ExpectationKind.KNOWN_FAILURE: f"known failure{plural}"}
    return ", ".join(f"{many} {names.get(kind, kind)}" for kind, many in counts.items() if many)


def release_lines(run: Run) -> list[str]:
    """Return why the release was chosen, if the user named none, and what others say."""
    spec = run.facts["spec"]
    lines = [f"spec: {spec['id']} ({spec['reason']})"] if "reason" in spec else []
    for other in spec.get("beside", ()):
        words = str(other["status"]).replace("-", " ").upper()
        otherwise = f"; {len(other['differs'])} end otherwise there" * bool(other["differs"])
        lines.append(f"by {other['id']}: {words}: {other['headline']}{otherwise}")
    return lines
