"""``icecheck explain ID``: what a check, requirement, operation, defect or symptom means."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from icecheck.cli.ending import fail

if TYPE_CHECKING:
    from icecheck.cli.listings.catalogue import CheckRow
    from icecheck.contract import Contract
    from icecheck.mock_server.defects import Defect

_USAGE = 2
_HINTS_MAX = 4


@click.command("explain", short_help="Say what a check, requirement, operation or defect means.")
@click.argument("id_", metavar="ID")
def command(id_: str) -> None:
    """Say what ID means, where the specification says so, and who is hurt when a catalog does
    otherwise.

    ID is a check, a requirement, an operation (its operationId), a defect of the mock, or a symptom
    that a report names.
    """
    from icecheck.cli.listings.explanations import (
        explain_check,
        explain_defect,
        explain_operation,
        explain_requirement,
        explain_symptom,
    )
    from icecheck.findings.symptoms import symptom_named
    from icecheck.mock_server.defects import defects
    from icecheck.run.known_symptoms import known_symptoms

    planted = defects()
    contract, rows = _told_by(id_, planted.get(id_))
    checks = {row.id: row for row in rows}
    found: list[Iterable[str]] = []
    if id_ in contract.operations:
        found.append(explain_operation(contract.operations[id_], contract, rows, planted.values()))
    if id_ in checks:
        found.append(explain_check(checks[id_], contract))
    if id_ in contract.requirements:
        found.append(explain_requirement(contract.requirements[id_], contract, rows))
    if id_ in planted:
        found.append(explain_defect(planted[id_], contract, rows))
    known = known_symptoms()
    if not found and (symptom := symptom_named(id_)) is not None:
        found.append(explain_symptom(symptom))
    if not found:
        fail(_unknown(id_, _known(contract, rows, [*planted, *known])), _USAGE)
    click.echo("\n\n".join("\n".join(lines) for lines in found))


def _told_by(id_: str, planted: "Defect | None") -> "tuple[Contract, Sequence[CheckRow]]":
    """Return the oldest contract that has an operation, a requirement or a check, and its checks.

    A defect is explained by the one that it is planted in, anything else by the default one.
    """
    from icecheck.cli.listings.catalogue import check_rows
    from icecheck.contract import DEFAULT_SPEC_VERSION, JUDGED_VERSIONS, load
    from icecheck.contract.releases import number
    from icecheck.proof.kill_matrix import planted_in

    versions = sorted(JUDGED_VERSIONS, key=number) if planted is None else [planted_in(planted)]
    for contract in map(load, versions):
        rows = check_rows(contract)
        known = {*contract.operations, *contract.requirements, *(row.id for row in rows)}
        if planted is not None or id_ in known:
            return contract, rows
    contract = load(DEFAULT_SPEC_VERSION)
    return contract, check_rows(contract)


def _known(contract: "Contract", rows: "Sequence[CheckRow]", others: "Iterable[str]") -> list[str]:
    named = [*contract.operations, *(row.id for row in rows), *contract.requirements]
    return list(dict.fromkeys([*named, *others]))


def _unknown(id_: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    lowered = {name.lower(): name for name in known}
    # A part of a long id is no close match, but shows what was meant.
    parts = [low for low in lowered if id_.lower() in low]
    matches = get_close_matches(id_.lower(), lowered, n=_HINTS_MAX, cutoff=0.6)
    close = [lowered[low] for low in dict.fromkeys([*sorted(parts, key=len), *matches])]
    close = close[:_HINTS_MAX]
    hint = (
        f"did you mean {', '.join(close)}?"
        if close
        else "see `icecheck list checks`, or list requirements, operations or defects"
    )
    return f"no check, requirement, operation, defect or symptom is called {id_!r}: {hint}"
