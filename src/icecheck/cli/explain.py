"""``icecheck explain ID``: what a check or a requirement demands, and on what grounds."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from icecheck.cli.ending import fail
from icecheck.cli.extras import require_suite

if TYPE_CHECKING:
    from icecheck.cli.catalogue import CheckRow
    from icecheck.contract import Contract, Requirement

__all__ = ["command"]

_USAGE = 2
_DEFECTS_MAX = 5


@click.command("explain", short_help="Say what a check or a requirement demands.")
@click.argument("id_", metavar="ID")
def command(id_: str) -> None:
    """Say what a check or a requirement demands, where the specification says so, and who is hurt
    when a catalog does otherwise.
    """
    require_suite()
    from icecheck.cli.catalogue import check_rows
    from icecheck.contract import load

    contract = load()
    checks = {row.id: row for row in check_rows(contract)}
    requirement = contract.requirements.get(id_)
    if id_ not in checks and requirement is None:
        fail(_unknown(id_, [*checks, *contract.requirements]), _USAGE)
    lines: list[str] = []
    if id_ in checks:
        lines += _check(checks[id_], contract)
    if requirement is not None:
        lines += [""] * bool(lines)
        lines += _requirement(requirement, contract)
        lines += _proof(requirement, checks.values())
    click.echo("\n".join(lines))


def _unknown(id_: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    lowered = {name.lower(): name for name in known}
    close = [lowered[m] for m in get_close_matches(id_.lower(), lowered, n=4, cutoff=0.6)]
    hint = f"did you mean {', '.join(close)}?" if close else "see `icecheck list`"
    return f"no check or requirement is called {id_!r}: {hint}"


def _check(row: "CheckRow", contract: "Contract") -> Iterator[str]:
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
            yield from (f"    {line}" for line in _requirement(requirement, contract))


def _witnesses(row: "CheckRow") -> Iterator[str]:
    from icecheck.card import UNWITNESSED
    from icecheck.contract import Level
    from icecheck.contract.witnesses import (
        is_unwitnessed,
        reasons_without_witness,
        witnesses_of,
    )

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


def _requirement(requirement: "Requirement", contract: "Contract") -> Iterator[str]:
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


def _proof(requirement: "Requirement", checks: Iterable["CheckRow"]) -> Iterator[str]:
    proving = [row for row in checks if requirement.id in row.requirements]
    if proving:
        yield "  proven by"
        yield from (f"    {row.id}: {row.title}" for row in proving)
    if requirement.not_tested:
        yield f"  not brought about: {requirement.not_tested}"
    elif not proving:
        yield "  proven by no check yet"
