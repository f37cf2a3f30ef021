"""The run as JUnit XML: one suite per profile, one case per check, outcomes as child elements."""

from collections import defaultdict
from xml.etree import ElementTree as ET

from icecheck.card import card_of, legible, one_line
from icecheck.contract import Contract
from icecheck.reports.joined import contract_of, family_of, gates
from icecheck.verdict import Outcome, Run, Verdict

__all__ = ["render"]

_NO_CASE_SAYS = frozenset({"interrupted", "target-unusable", "nothing-verified", "residue-left"})


def render(run: Run) -> str:
    """Return the XML text. ``tests`` counts cases only; what does not gate is never a failure.

    A failure below MUST is ``<skipped type="conformance.should">`` (or interop), and a run that
    ended badly without a failed check has one case more that says so: a CI system which reads
    only these elements agrees with the exit code.
    """
    contract = contract_of(run)
    root = ET.Element("testsuites", name="icecheck", id=run.run_id)
    by_profile: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in run.verdicts:
        by_profile[verdict.profile].append(verdict)
    for profile, verdicts in by_profile.items():
        _suite(root, run, profile, verdicts, contract)
    _count(root, list(run.verdicts))
    if run.exit_reason in _NO_CASE_SAYS:
        _gate(root, run)
    ET.indent(root, space=" ")
    body = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'


def _suite(
    root: ET.Element, run: Run, profile: str, verdicts: list[Verdict], contract: Contract
) -> None:
    suite = ET.SubElement(root, "testsuite", name=profile, timestamp=run.generated_at)
    _count(suite, verdicts)
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
    for verdict in verdicts:
        _case(suite, verdict, contract)


def _gate(root: ET.Element, run: Run) -> None:
    suite = ET.SubElement(root, "testsuite", name="run", timestamp=run.generated_at)
    case = ET.SubElement(suite, "testcase", classname="icecheck.run", name="gate", time="0.000")
    ET.SubElement(case, "error", message=one_line(run.headline), type=f"gate.{run.exit_reason}")
    for element in (suite, root):
        for name, more in (("tests", 1), ("errors", 1), ("failures", 0), ("skipped", 0)):
            element.set(name, str(int(element.get(name, "0")) + more))


def _count(element: ET.Element, verdicts: list[Verdict]) -> None:
    kinds = [_kind(v) for v in verdicts]
    element.set("tests", str(len(verdicts)))
    element.set("failures", str(kinds.count("failure")))
    element.set("errors", str(kinds.count("error")))
    element.set("skipped", str(kinds.count("skipped")))
    element.set("time", f"{sum(v.duration_ms for v in verdicts) / 1000:.3f}")


def _kind(verdict: Verdict) -> str:
    match verdict.outcome:
        case Outcome.PASS:
            return ""
        case Outcome.ERROR:
            return "error"
        case Outcome.SKIP:
            return "skipped"
        case _:
            return "failure" if gates(verdict) else "skipped"


def _case(suite: ET.Element, verdict: Verdict, contract: Contract) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        classname=f"icecheck.{verdict.group}.{legible(family_of(verdict))}",
        name=legible(verdict.check),
        time=f"{verdict.duration_ms / 1000:.3f}",
    )
    facts = [("severity", str(verdict.level)), ("title", verdict.title)]
    facts += [("requirement", r) for r in verdict.requirements]
    _properties(case, facts)
    kind = _kind(verdict)
    if not kind:
        return
    result = ET.SubElement(case, kind, message=one_line(verdict.summary), type=_type(verdict))
    if verdict.outcome is not Outcome.SKIP:
        result.text = card_of(verdict, contract)


def _type(verdict: Verdict) -> str:
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
