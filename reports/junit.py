"""Renders a run as JUnit XML: one suite per profile, one case per check, outcomes as elements."""

from collections import defaultdict
from xml.etree import ElementTree as ET

from icecheck.contract import Contract
from icecheck.findings.expected_failures import EntryFailure, EntryMatch, EntryResult
from icecheck.findings.telling.finding_card import card_of, legible, one_line
from icecheck.findings.verdict import Outcome, Run, Verdict
from icecheck.reports.joined import contract_of, family_of, gates, note_of

_NO_CASE_SAYS = frozenset(
    {"interrupted", "target-unusable", "no-room", "nothing-verified", "residue-left"}
)

_WHY_CHARACTERS_MAX = 1_000


def render(run: Run) -> str:
    """Return the XML text.

    ``tests`` counts cases only; a check that does not gate is never a failure. A failure below MUST
    is a case that passed, with the property ``outcome`` ``fail`` and its card as ``<system-out>``:
    it ran, so it is no skip. An expected failure is ``<skipped type="conformance.known-failure">``
    (or flaky, waived), as pytest writes it. A run that ended badly without a failed
    check has one more case that says so, and so has every stale or expired entry of the user: a CI
    system which reads only these elements agrees with the exit code.
    """
    contract = contract_of(run)
    root = ET.Element("testsuites", name="icecheck", id=run.run_id)
    by_profile: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in run.verdicts:
        by_profile[verdict.profile].append(verdict)
    for profile, verdicts in by_profile.items():
        _suite(root, run, profile, verdicts, contract)
    _count(root, list(run.verdicts), run)
    if run.exit_reason in _NO_CASE_SAYS:
        said = (one_line(run.headline, _WHY_CHARACTERS_MAX), f"gate.{run.exit_reason}")
        _add(_extra(root, run, "run"), root, "gate", ("error", "errors"), said)
    _entries(root, run)
    ET.indent(root, space=" ")
    body = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'


def _suite(
    root: ET.Element, run: Run, profile: str, verdicts: list[Verdict], contract: Contract
) -> None:
    suite = ET.SubElement(root, "testsuite", name=profile, timestamp=run.generated_at)
    _count(suite, verdicts, run)
    status = next((p.status for p in run.profiles if p.id == profile), "not-verified")
    facts = {
        "spec": run.facts["spec"]["id"],
        "spec.sha256": run.facts["spec"]["sha256"],
        "requirement_set": run.facts["suite"]["requirement_set"],
        "profile": status,
        "verdict": run.status,
        "run_id": run.run_id,
    }
    _properties(suite, facts)
    marks = run.expectations.by_check
    for verdict in verdicts:
        _case(suite, verdict, contract, marks.get(verdict.check))


def _entries(root: ET.Element, run: Run) -> None:
    """Add a case for each unmet entry that no check's own case shows."""
    wrong = [u for u in run.expectations.unmet if u.kind is not EntryFailure.FAILS_DIFFERENTLY]
    if not wrong:
        return
    suite = _extra(root, run, "expectations")
    for unmet in wrong:
        said = (one_line(unmet.why), f"expectation.{unmet.kind}")
        _add(suite, root, unmet.entry.words, ("failure", "failures"), said)


def _extra(root: ET.Element, run: Run, name: str) -> ET.Element:
    suite = ET.SubElement(root, "testsuite", name=name, timestamp=run.generated_at)
    for count in ("tests", "errors", "failures", "skipped"):
        suite.set(count, "0")
    return suite


def _add(
    suite: ET.Element, root: ET.Element, name: str, kind: tuple[str, str], said: tuple[str, str]
) -> None:
    """Add a case that did not pass to a suite without a profile, and to the counts."""
    where = f"icecheck.{suite.get('name')}"
    case = ET.SubElement(suite, "testcase", classname=where, name=legible(name), time="0.000")
    ET.SubElement(case, kind[0], message=said[0], type=said[1])
    for element in (suite, root):
        for count in ("tests", kind[1]):
            element.set(count, str(int(element.get(count, "0")) + 1))


def _count(element: ET.Element, verdicts: list[Verdict], run: Run) -> None:
    marks = run.expectations.by_check
    kinds = [_kind(v, marks.get(v.check)) for v in verdicts]
    element.set("tests", str(len(verdicts)))
    element.set("failures", str(kinds.count("failure")))
    element.set("errors", str(kinds.count("error")))
    element.set("skipped", str(kinds.count("skipped")))
    element.set("time", f"{sum(v.duration_ms for v in verdicts) / 1000:.3f}")


def _kind(verdict: Verdict, mark: EntryMatch | None) -> str:
    match verdict.outcome:
        case Outcome.PASS:
            return ""
        case Outcome.ERROR if mark is None or not mark.excuses:
            return "error"
        case Outcome.SKIP | Outcome.ERROR:
            return "skipped"
        case _ if gates(verdict, mark):
            return "failure"
        case Outcome.FAIL if mark is None:
            return ""
        case _:
            return "skipped"


def _case(suite: ET.Element, verdict: Verdict, contract: Contract, mark: EntryMatch | None) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        classname=f"icecheck.{verdict.group}.{legible(family_of(verdict))}",
        name=legible(verdict.check),
        time=f"{verdict.duration_ms / 1000:.3f}",
    )
    facts = [("severity", str(verdict.level)), ("title", verdict.title)]
    # One property: readers that keep properties by name refuse a name that stands there twice.
    facts += [("requirements", ", ".join(verdict.requirements))]
    facts += [("expectation", note_of(mark))] if mark else []
    kind = _kind(verdict, mark)
    warns = not kind and verdict.outcome is Outcome.FAIL
    facts += [("outcome", str(verdict.outcome))] if warns else []
    _properties(case, facts)
    if warns:
        ET.SubElement(case, "system-out").text = card_of(verdict, contract)
    if not kind:
        return
    said = f"{note_of(mark)}; {verdict.summary}" if mark else verdict.summary
    result = ET.SubElement(case, kind, message=one_line(said), type=_type(verdict, mark))
    if verdict.outcome is not Outcome.SKIP:
        result.text = card_of(verdict, contract)


def _type(verdict: Verdict, mark: EntryMatch | None) -> str:
    if mark is not None and mark.excuses:
        return f"conformance.{mark.entry.kind}"
    if mark is not None and mark.met is EntryResult.FAILS_DIFFERENTLY:
        return f"conformance.{mark.met}"
    match verdict.outcome:
        case Outcome.FAIL:
            return str(verdict.level) if gates(verdict) else f"conformance.{verdict.level}"
        case Outcome.SKIP if verdict.skip is not None:
            return f"conformance.{verdict.skip.kind}"
        case _:
            return f"conformance.{verdict.outcome}"


def _properties(element: ET.Element, facts: dict[str, str] | list[tuple[str, str]]) -> None:
    properties = ET.SubElement(element, "properties")
    for name, value in facts.items() if isinstance(facts, dict) else facts:
        ET.SubElement(properties, "property", name=name, value=legible(str(value)))
