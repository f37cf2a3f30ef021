"""``icecheck replay FILE URL``: run a failing history again, and say whether it still fails."""

import contextlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from icecheck.cli.commands.run import options_of_run, reported_run, target_for
from icecheck.cli.ending import ExitOnError
from icecheck.cli.extras import require_suite
from icecheck.cli.target_options import expect_one_catalog, target_options

if TYPE_CHECKING:
    from icecheck.findings.verdict import Run
    from icecheck.run.options import RunOptions

_DIFFERS = 1
_NO_VERDICT = 4


@click.command("replay", short_help="Run a failing history again.")
@click.argument("file", type=click.Path(path_type=Path))
@target_options("replay")
@click.option("--mock", is_flag=True, help="Start the bundled mock catalog and replay there.")
@click.option("--run-id", metavar="ID", help="Token in every name of the run; default: random.")
@click.option("--seed", type=int, default=0, show_default=True, help="Drives the mock's ids.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("icecheck-replay"),
    show_default=True,
    metavar="DIR",
    help="Where the report is written.",
)
def command(file: Path, output: Path, **options: Any) -> int:
    """Run the history in FILE, a replay file of a report, again on the catalog at URL.

    Exit codes: 0 the catalog does as it is to do, 1 it differs, and the card says how, 2 misuse, 4
    no verdict, 130 interrupted.
    """
    expect_one_catalog(options)
    require_suite()
    with ExitOnError(output) as last_resort, contextlib.ExitStack() as stack:
        from icecheck.findings.replay import Replays
        from icecheck.run.demands import release_to_hold_to
        from icecheck.run.replays.files import expect_kept_elsewhere, replay_of

        replay = replay_of(file)
        expect_kept_elsewhere(file.resolve().parent, output)
        spec = release_to_hold_to(replay.spec)
        # Whoever names a file wants its history, also one of a check that strains the catalog.
        target = replace(target_for(options | {"only": (), "spark": False}, stack), disruptive=True)
        wanted = replace(
            options_of_run(last_resort, target, output, options["seed"], options["run_id"]),
            globs=(replay.check,),
            spec=spec,
            command=f"icecheck replay {file.name}",
            replays=Replays.of(replay, alone=True),
        )
        return _replayed(wanted, output)


def _replayed(wanted: "RunOptions", directory: Path) -> int:
    """Run the history, write the report, and return the exit code."""
    from icecheck.cli.progress import progress_for

    progress = progress_for(sys.stdout, wanted.contract, quiet=True, verbose=False)
    run, page = reported_run(wanted, directory, progress)
    return _told(run, wanted, page)


def _told(run: "Run", wanted: "RunOptions", page: Path) -> int:
    """Say how the history ended; return the exit code."""
    from icecheck.findings.conclusion import ExitCode
    from icecheck.findings.telling.finding_card import card_of
    from icecheck.findings.verdict import Outcome

    verdict = next((v for v in run.verdicts if v.check in wanted.globs), None)
    if run.exit_code == ExitCode.INTERRUPTED:
        click.echo(f"{', '.join(wanted.globs)}: interrupted\nreport: {page}")
        return ExitCode.INTERRUPTED
    match verdict.outcome if verdict else None:
        case Outcome.PASS:
            told, code = "the catalog does as the history demands", 0
        case Outcome.FAIL:
            told, code = "the catalog still differs", _DIFFERS
        case _:
            why = verdict.summary if verdict else "it was not judged"
            told, code = f"no verdict: {why}", _NO_VERDICT
    click.echo(f"{', '.join(wanted.globs)}: {told}")
    if verdict is not None and code == _DIFFERS:
        click.echo(card_of(verdict, wanted.contract))
    click.echo(f"report: {page}")
    return code
