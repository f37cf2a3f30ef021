"""``icecheck self-test``: show that the checks fail on catalogs that misbehave."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from icecheck.cli.extras import require_suite

if TYPE_CHECKING:
    from icecheck.contract import Contract
    from icecheck.judging.check import Check
    from icecheck.mock_server.defects import Defect

_NOT_AS_DUE = 1


@click.command("self-test", short_help="Show that the checks notice every defect of the mock.")
@click.option(
    "--defect",
    "globs",
    multiple=True,
    metavar="GLOB",
    help="Only these defects (see `icecheck list defects`); repeatable.",
)
@click.option("-q", "--quiet", is_flag=True, help="Only what is wrong, and the closing line.")
def command(globs: tuple[str, ...], *, quiet: bool) -> int:
    """Plant each defect in a mock of its own, and judge the checks that are to notice it.

    The same checks have to pass on a mock without defects. Nothing is sent to any address. Exit 1
    if a defect is not caught, or not at the level of what it breaks, or if the faithful mock is
    blamed.
    """
    require_suite()
    from icecheck.cli.listings.defect_names import named_defects
    from icecheck.contract import load
    from icecheck.proof.kill_matrix import GROUPS, aimed_at, planted_in
    from icecheck.run.collect import collect

    started = time.monotonic()
    planted = named_defects(globs or ("*",))
    versions = {defect.name: planted_in(defect) for defect in planted}
    contracts = {version: load(version) for version in dict.fromkeys(versions.values())}
    checks = {v: collect(GROUPS, contract, disruptive=True) for v, contract in contracts.items()}
    aimed: dict[str, dict[str, Check]] = {version: {} for version in contracts}
    for defect in planted:
        version = versions[defect.name]
        aimed[version] |= {check.id: check for check in aimed_at(defect, checks[version])}
    blamed = sum(_blamed(list(each.values()), version) for version, each in aimed.items())
    missed = 0
    for number, defect in enumerate(planted, 1):
        version = versions[defect.name]
        words, caught = _noticed(defect, checks[version], contracts[version])
        missed += not caught
        if not (quiet and caught):
            click.echo(f"{number:>{len(str(len(planted)))}}/{len(planted)}  {words}")
    seconds = time.monotonic() - started
    click.echo(
        _closing(len(planted), missed, len({c for each in aimed.values() for c in each}), blamed)
        + f" ({seconds:.0f} s)"
    )
    return _NOT_AS_DUE if missed or blamed else 0


def _closing(planted: int, missed: int, aimed: int, blamed: int) -> str:
    caught = f"{planted - missed} caught, {missed} not" if missed else "all caught"
    faithful = f"fails {blamed}" if blamed else "passes all"
    many = "s" * (planted != 1)
    return (
        f"{planted} defect{many}, {caught}; the faithful mock {faithful} of the {aimed} checks "
        "they are for"
    )


def _blamed(checks: "Sequence[Check]", version: str) -> int:
    """Print the checks that do not pass on a mock without defects, and return their number."""
    from icecheck.findings.verdict import Outcome
    from icecheck.proof.kill_matrix import judged_with

    wrong = [v for v in judged_with((), checks, spec=version) if v.outcome is not Outcome.PASS]
    for verdict in wrong:
        click.echo(f"on the faithful mock: {verdict.check} {verdict.outcome}: {verdict.summary}")
    return len(wrong)


def _noticed(defect: "Defect", checks: "Sequence[Check]", contract: "Contract") -> tuple[str, bool]:
    """Return a line on how a defect was noticed, and whether it was caught as it should be."""
    from icecheck.proof.kill_matrix import kills, misses

    failed = kills(defect, checks)
    if wrong := misses(defect, failed, contract):
        return f"MISSED  {defect.name}: {wrong} ({defect.title})", False
    return f"caught  {defect.name}: {', '.join(verdict.check for verdict in failed)}", True
