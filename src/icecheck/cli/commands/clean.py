"""``icecheck clean``: remove what an interrupted run has left on a catalog."""

from pathlib import Path
from typing import Any

import click

from icecheck.cli.ending import ExitOnError
from icecheck.cli.target_options import target_of, target_options

_RESIDUE = 6


@click.command("clean", short_help="Remove what a run that was cut short has left behind.")
@target_options("clean")
@click.option(
    "--ledger",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The file ledger.jsonl in the output of that run.",
)
def command(ledger: Path, **options: Any) -> int:
    """Remove from the catalog at URL what FILE says that a run has made there.

    Only objects that FILE names and whose names bear the run's own token are ever deleted, each
    after it was found to be there. The FILE of a run with a --name-pattern needs the same pattern
    here. The exit code is 6 when something stays.
    """
    with ExitOnError() as last_resort:
        from icecheck.client.cleaning import clean
        from icecheck.ownership.ledger_file import read_ledger
        from icecheck.wire.redaction import Redactor

        written = read_ledger(ledger)
        target = target_of(options, warehouse=written.warehouse, prefix=written.prefix)
        last_resort.redactor = redactor = Redactor(target.secrets, target.headers)
        cleaned = clean(target, written, redactor=redactor)
    click.echo(
        f"run {written.run_id}: {len(written.entries)} objects in the ledger, "
        f"{cleaned.deleted} removed, {cleaned.missing} were gone, {len(cleaned.residue)} stay"
    )
    for line in cleaned.residue:
        click.echo(f"  still there: {line}")
    if cleaned.residue:
        return _RESIDUE
    ledger.unlink(missing_ok=True)
    return 0
