"""The lines that `icecheck explain` prints for each kind of named thing."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from icecheck.cli.listings.catalogue import CheckRow
from icecheck.contract import Contract, Operation, Requirement
from icecheck.findings.symptoms import Severity, Symptom

if TYPE_CHECKING:
    from icecheck.mock_server.defects import Defect

_DEFECTS_MAX = 5


def explain_operation(
    operation: Operation,
    contract: Contract,
    checks: Sequence[CheckRow],
    defects: "Iterable[Defect]",
) -> Iterator[str]:
    """Yield the requirements of an operation, the checks that prove them, and its defects."""
    about = {r.id: r for r in contract.requirements.values() if _speaks_of(r, operation)}
    proving = [row for row in checks if about.keys() & set(row.requirements)]
    passing_by = sum(operation.id in row.operations for row in checks if row not in proving)
    breaking = [defect for defect in defects if defect.breaks in about]
    yield f"operation {operation.id}"
    yield f"  {operation.endpoint}"
    yield f"  {operation.summary}" if operation.summary else "  (the document has no summary)"
    yield f"  profile {operation.profile}, documented statuses: {', '.join(operation.responses)}"
    yield f"  {contract.permalink(operation.lines)}"
    yield f"  {len(about)} requirements"
    yield from (f"    {r.id} ({r.level}): {r.text}" for r in about.values())
    yield f"  {len(proving)} checks prove them, and {passing_by} more need the operation"
    yield from (f"    {row.id}: {row.title}" for row in proving)
    yield f"  {len(breaking)} defects of the mock break them"
    yield from (f"    {defect.name}: {defect.title}" for defect in breaking)


def _speaks_of(requirement: Requirement, operation: Operation) -> bool:
    """Return whether a requirement is about the operation or one of its responses."""
    named = (ref.name.partition(".")[0] for ref in requirement.refs)
    return operation.id in {*named, requirement.id.partition(".")[0]}


def explain_check(row: CheckRow, contract: Contract) -> Iterator[str]:
    """Yield what a check judges, how to run it alone, and the requirements that it proves."""
    yield f"check {row.id}"
    yield f"  {row.title}"
    yield f"  level {row.level}, profile {row.profile}, group {row.group}"
    if row.passive:
        yield "  judged from the answers that the other checks get"
    else:
        allowing = " --disruptive" if row.disruptive else ""
        yield f"  run it alone: icecheck run URL --only {row.group} --check '{row.id}'{allowing}"
        if row.disruptive:
            yield "  strains the catalog: part of a run with --disruptive only"
    if row.operations:
        yield f"  needs the catalog to claim: {', '.join(row.operations)}"
    yield from (f"  {line}" for line in _witnesses(row))
    yield f"  {_proven_by(row.id)}"
    if row.needs:
        yield f"  needs the catalog to have: {', '.join(row.needs)}"
    for requirement_id in row.requirements:
        requirement = contract.requirements.get(requirement_id)
        if requirement is not None:
            yield "  proves"
            yield from (f"    {line}" for line in _demand(requirement, contract))


def _witnesses(row: CheckRow) -> Iterator[str]:
    from icecheck.contract import Level
    from icecheck.contract.witnesses import (
        is_unwitnessed,
        reasons_without_witness,
        witnesses_of,
    )
    from icecheck.findings.telling.finding_card import UNWITNESSED

    if is_unwitnessed(row.id, Level(row.level)):
        yield UNWITNESSED
        yield from (f"  {why}" for why in reasons_without_witness().get(row.id, ()))
    elif passed := witnesses_of(row.id):
        yield f"passed by: {', '.join(passed)}"
    else:
        yield "passed by no recorded catalog"


def _proven_by(check_id: str) -> str:
    from icecheck.contract.proofs import proven_by

    defects = proven_by(check_id)
    if not defects:
        return "fails for answers that were spoiled by hand, and for no defect of the mock"
    more = f" and {len(defects) - _DEFECTS_MAX} more" if len(defects) > _DEFECTS_MAX else ""
    shown = ", ".join(defects[:_DEFECTS_MAX])
    return f"seen to fail for: {shown}{more} (icecheck serve --defect NAME)"


def explain_requirement(
    requirement: Requirement, contract: Contract, checks: Iterable[CheckRow]
) -> Iterator[str]:
    """Yield what a requirement demands, and the checks that prove it or why there are none."""
    yield from _demand(requirement, contract)
    proving = [row for row in checks if requirement.id in row.requirements]
    if proving:
        yield "  proven by"
        yield from (f"    {row.id}: {row.title}" for row in proving)
    if requirement.not_tested:
        yield f"  not brought about: {requirement.not_tested}"
    elif not proving:
        yield "  proven by no check yet"


def _demand(requirement: Requirement, contract: Contract) -> Iterator[str]:
    yield f"requirement {requirement.id}"
    yield f"  {requirement.text}"
    yield f"  level {requirement.level} (basis: {requirement.basis}), profile {requirement.profile}"
    if requirement.condition:
        yield f"  if {requirement.condition}"
    yield f"  since Iceberg {requirement.since}"
    if requirement.changed:
        yield f"  changed in {requirement.changed}"
    if requirement.errata:
        yield f"  errata: {', '.join(requirement.errata)}"
    yield f"  {contract.permalink(requirement.lines)}"
    yield f"  hurts: {requirement.hurts}"


def explain_defect(
    defect: "Defect", contract: Contract, checks: Iterable[CheckRow]
) -> Iterator[str]:
    """Yield how the mock misbehaves with a defect, what that breaks, and what notices it."""
    from icecheck.contract.proofs import proven_by

    noticing = [row for row in checks if defect.name in proven_by(row.id)]
    yield f"defect {defect.name}"
    yield f"  {defect.title}"
    if defect.suffering:
        yield f"  what users notice: {defect.suffering}"
    yield f"  serve it: icecheck serve --spec {contract.version} --defect {defect.name}"
    yield f"  {len(noticing)} checks were seen to fail for it"
    yield from (f"    {row.id}: {row.title}" for row in noticing)
    yield "  breaks"
    broken = contract.requirements[defect.breaks]
    yield from (f"    {line}" for line in _demand(broken, contract))


def explain_symptom(symptom: Symptom) -> Iterator[str]:
    """Yield what a symptom means, its severity, the affected clients, and where it is used."""
    yield f"symptom {symptom.slug}"
    yield f"  {symptom.meaning}"
    yield f"  severity {int(symptom.severity)} of {max(Severity):d}: {symptom.severity.words}"
    yield f"  hurts: {symptom.hurts}"
    if symptom.grouped_as != symptom:
        yield f"  grouped with {symptom.grouped_as.slug}: {symptom.grouped_as.meaning}"
    yield "  in run.json: the id of a check's assertion, or the symptom of a cause"
