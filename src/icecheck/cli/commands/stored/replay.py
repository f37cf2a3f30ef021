"""``icecheck replay FILE URL``: run a failing history, or a check of a report, again."""

import contextlib
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from icecheck.cli.commands.run import options_of_run, reported_run, target_for
from icecheck.cli.ending import ExitOnError
from icecheck.cli.extras import require_suite
from icecheck.cli.target_options import expect_one_catalog, target_options

if TYPE_CHECKING:
    from icecheck.findings.replay import Replays
    from icecheck.findings.verdict import Run
    from icecheck.run.options import RunOptions

_DIFFERS = 1
_NO_VERDICT = 4


@click.command("replay", short_help="Run a failing history, or a check of a report, again.")
@click.argument("file", type=click.Path(path_type=Path))
@target_options("replay")
@click.option("--check", metavar="ID", help="Judge this check of a report or bundle in FILE again.")
@click.option("--mock", is_flag=True, help="Start the bundled mock catalog and replay there.")
@click.option("--run-id", metavar="ID", help="Token in every name of the run; default: random.")
@click.option(
    "--seed", type=int, help="Drives the mock's ids, and data; default: that of FILE, or 0."
)
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

    With --check, FILE is a run.json, the directory of a report, or a bundle: the requests of that
    check are sent again, with new names, and it is said whether it still ends as it did there.
    Exit codes: 0 the catalog does as it is to do, 1 it differs, and the card says how, 2 misuse, 4
    no verdict, 130 interrupted.
    """
    expect_one_catalog(options)
    require_suite()
    with ExitOnError(output) as last_resort, contextlib.ExitStack() as stack:
        again = (
            _of_report(file, options["check"]) if options["check"] else _of_history(file, output)
        )
        seed = again.seed if options["seed"] is None else options["seed"]
        # Whoever names a check wants it, also one that strains the catalog.
        described = options | {"only": (), "spark": False, "seed": seed}
        target = replace(target_for(described, stack), disruptive=True)
        wanted = replace(
            options_of_run(last_resort, target, output, seed, options["run_id"]),
            globs=(again.check,),
            spec=again.spec,
            command=f"icecheck replay {file.name}",
            replays=again.replays,
        )
        return _replayed(wanted, output, again.ended)


@dataclass(frozen=True, slots=True)
class _Again:
    """What is judged again: a check, by a release, with a seed; ``ended`` is how it did before."""

    check: str
    spec: str
    replays: "Replays"
    seed: int = 0
    ended: str = ""


def _of_history(file: Path, output: Path) -> _Again:
    from icecheck.findings.replay import Replays
    from icecheck.run.releases.demands import release_to_hold_to
    from icecheck.run.replays.files import expect_kept_elsewhere, replay_of

    replay = replay_of(file)
    expect_kept_elsewhere(file.resolve().parent, output)
    spec = release_to_hold_to(replay.spec)
    return _Again(replay.check, spec, Replays.of(replay, alone=True))


def _of_report(file: Path, check: str) -> _Again:
    """Return a check of a stored run.

    Raises UsageError for one that the run does not have, or that no requests of its own belong to.
    """
    from icecheck.cli.stored_run import stored_run, understanding
    from icecheck.findings.replay import Replays
    from icecheck.run.releases.demands import release_to_hold_to
    from icecheck.targets.target import UsageError

    document = stored_run(file)
    with understanding(file):
        row = next((row for row in document["checks"] if row["id"] == check), None)
        if row is None:
            raise UsageError(f"{file} has no check {check}")
        if row["passive"] or row["group"] in {"spark", "clients"}:
            raise UsageError(
                f"{check} has no requests of its own that could be sent again: it was read off "
                "those of other checks, or a real client sent them"
            )
        spec = release_to_hold_to(str(document["spec"]["id"]).rpartition("/")[2])
        summary = f" ({row['summary']})" if row["summary"] else ""
        ended = f"in {file.name}, run {document['run_id']}: {row['outcome']}{summary}"
        return _Again(check, spec, Replays(), int(document["config"]["seed"]), ended)


def _replayed(wanted: "RunOptions", directory: Path, ended: str) -> int:
    """Judge the check again, write the report, and return the exit code."""
    from icecheck.cli.progress import progress_for
    from icecheck.findings.telling.finding_card import one_line

    progress = progress_for(sys.stdout, wanted.contract, quiet=True, verbose=False)
    run, page = reported_run(wanted, directory, progress)
    if ended:
        click.echo(one_line(ended))
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
            told, code = "the catalog does as is demanded", 0
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
