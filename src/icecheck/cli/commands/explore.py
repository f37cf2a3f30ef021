"""``icecheck explore URL``: draw until the time is over, and keep what fails and is new."""

import contextlib
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from icecheck.cli.commands.run import options_of_run, target_for
from icecheck.cli.ending import ExitOnError
from icecheck.cli.extras import require_suite
from icecheck.cli.selection import spec_option, with_release
from icecheck.cli.target_options import expect_one_catalog, target_options

if TYPE_CHECKING:
    from icecheck.findings.verdict import Run
    from icecheck.run.options import RunOptions

_FOUND = 1
_NO_VERDICT = 4
_SEED_MAX = 2**31
_ROUNDS = 4
"""The programs of racing clients in each round."""


def _finite(_context: click.Context, _option: click.Parameter, minutes: float) -> float:
    """Return a number of minutes; one that is no number has no end either."""
    if math.isnan(minutes):
        raise click.BadParameter("nan is no number of minutes")
    return minutes


@click.command("explore", short_help="Draw histories and requests for a time, and keep what fails.")
@target_options("explore")
@click.option("--mock", is_flag=True, help="Start the bundled mock catalog and explore that.")
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, max=7 * 24 * 60),
    default=10.0,
    show_default=True,
    callback=_finite,
    metavar="N",
    help="Begin no new round after N minutes.",
)
@click.option("--seed", type=int, help="The seed of the first round; default: a new one.")
@spec_option
@click.option(
    "--findings",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("icecheck-findings"),
    show_default=True,
    metavar="DIR",
    help="Where replay files are kept, and what is known already.",
)
def command(findings: Path, minutes: float, **options: Any) -> int:
    """Draw histories and requests with one seed after another, and keep new failures.

    Each is a replay file in DIR. What is in DIR already is known and not told again, so that a
    later exploration goes on. Exit codes: 0 nothing new, 1 something new, 2 misuse, 4 no verdict,
    130 interrupted.
    """
    expect_one_catalog(options)
    require_suite()
    with ExitOnError(findings) as last_resort, contextlib.ExitStack() as stack:
        import secrets

        from icecheck.run.replays.exploring import Corpus

        given = options["seed"]
        seed = secrets.randbelow(_SEED_MAX) if given is None else given
        target = target_for(options | {"only": (), "spark": False, "seed": seed}, stack)
        target = replace(target, disruptive=True, race_rounds=_ROUNDS)
        named = options_of_run(last_resort, target, findings, seed)
        wanted = replace(with_release(named, options), command="icecheck explore")
        return _explored(wanted, Corpus(findings), minutes * 60)


def _explored(wanted: "RunOptions", corpus: Any, seconds: float) -> int:
    from icecheck.cli.interrupts import one_interrupt
    from icecheck.findings.conclusion import ExitCode
    from icecheck.findings.telling.finding_card import describe, render_card
    from icecheck.run.replays.exploring import explore
    from icecheck.run.runner import run_checks

    click.echo(f"first seed: {wanted.seed}; known findings: {len(corpus.known)}")
    rounds, requests, new, verdicts_lack, ended = 0, 0, 0, False, False
    # A round that is interrupted ends with what it has; between two rounds there is nothing to end.
    with one_interrupt(), contextlib.suppress(KeyboardInterrupt):
        for seed, run, found in explore(wanted, corpus, seconds, run_checks):
            rounds += 1
            requests += run.facts["timing"]["requests"]
            for each in found:
                new += 1
                card = replace(describe(each.verdict, wanted.contract), replayed=False)
                click.echo(f"seed {seed}: {each.path}\n{render_card(card)}")
            for line in _lacking(run, seed):
                verdicts_lack = True
                click.echo(line)
        ended = run.exit_code != ExitCode.INTERRUPTED
    if not rounds:
        raise KeyboardInterrupt
    told = "" if ended else "interrupted after "
    told += f"{rounds} rounds to seed {wanted.seed + rounds - 1}, {requests} requests"
    click.echo(f"{told}; new findings: {new}, known in {corpus.directory}: {len(corpus.known)}")
    if not ended:
        return ExitCode.INTERRUPTED
    return _FOUND if new else _NO_VERDICT if verdicts_lack else 0


def _lacking(run: "Run", seed: int) -> list[str]:
    """Return a line for each verdict that a round lacks, or one for all of them."""
    from icecheck.findings.verdict import asked_of
    from icecheck.run.replays.exploring import is_judged, left_open

    if not is_judged(run):
        return [f"no verdict: {'; '.join(v.summary for v in asked_of(run.verdicts))}"]
    return [f"seed {seed}: no verdict of {v.check}: {v.summary}" for v in left_open(run)]
