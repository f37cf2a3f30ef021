"""``icecheck report``: renders stored runs again, one by one or side by side."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from icecheck.cli.stored_run import day_and_time, restored_run, stored_run, understanding
from icecheck.cli.written import (
    format_option,
    judged_by_option,
    make_writable,
    output_option,
    put,
    report_directory_option,
)

if TYPE_CHECKING:
    from icecheck.findings.verdict import Run

FILES = {"html": "index.html", "junit": "junit.xml", "markdown": "summary.md"}
"""The formats that a run writes beside run.json, by the names that users give them."""
_PRINTED = ("text", "annotations", "badge", "shields")


@click.group("report", short_help="Render stored runs again, or side by side.")
def command() -> None:
    """Make reports from runs that ended earlier; no catalog is asked."""


@command.command("render", short_help="Render runs again from their run.json.")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where the pages go; default: beside each run.json.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice([*FILES, *_PRINTED]),
    help="Print this format of one run instead of writing files.",
)
def render(runs: tuple[Path, ...], output: Path | None, form: str | None) -> int:
    """Render each RUN, a run.json or the directory of a report, in all formats again.

    That are index.html, junit.xml and summary.md beside its run.json, or in DIR: with several runs,
    in a directory for each of them. With --format one run is printed: text is the closing lines of
    the run, annotations are commands of a GitHub workflow, badge is an SVG picture, shields the
    JSON of a badge that shields.io draws.
    """
    if form is not None:
        if output is not None or len(runs) > 1:
            raise click.UsageError("--format prints one RUN: leave --output and other runs out")
        click.echo(_rendering(form)(restored_run(runs[0])), nl=False)
        return 0
    # Everything is read before anything is written.
    read = [(path if path.is_dir() else path.parent, restored_run(path)) for path in runs]
    if output is not None:
        into = output if len(read) == 1 else None
        read = [(into or output / run.run_id, run) for _, run in read]
    _expect_apart([directory for directory, _ in read])
    for directory, run in read:
        click.echo(str(_write(run, directory)))
    return 0


@command.command("matrix", short_help="Put several runs side by side.")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@format_option
@output_option
def matrix(runs: tuple[Path, ...], form: str, output: Path | None) -> int:
    """Put runs side by side: catalogs, or versions of one, in the order in which they are named.

    Each RUN is a run.json or the directory of a report. The matrix has the verdicts, the profiles,
    the findings, and each requirement that at least one of them misses. A field that alone differs
    from all others in its line is marked.
    """
    from icecheck.reports.many import matrix as matrices
    from icecheck.reports.many.stored import stored_runs

    with understanding(*runs):
        stored = stored_runs(map(stored_run, runs))
        table = matrices.matrix(stored, matrices.register_of(stored))
    put(matrices.RENDERINGS[form](table), output)
    return 0


@command.command("trend", short_help="Show how the runs of one catalog changed over time.")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@judged_by_option
@format_option
@output_option
def trend(runs: tuple[Path, ...], spec: str | None, form: str, output: Path | None) -> int:
    """Show how runs of one catalog changed over time, whatever order they are named in.

    Each RUN is a run.json or the directory of a report. Each is compared with the last one before
    it that judged something: what broke, what was repaired, which findings came and went, and
    whether the suite or the server changed too.
    """
    from icecheck.reports.many import trend as trends

    ended = {path: day_and_time(path) for path in runs}
    in_order = sorted(runs, key=ended.__getitem__)
    newest = [path for path in in_order if ended[path] == ended[in_order[-1]]]
    with understanding(*runs):
        of_newest = trends.newest_document(stored_run(path)["spec"]["id"] for path in newest)
        table = trends.trend(map(stored_run, in_order), spec or of_newest)
    put(trends.RENDERINGS[form](table), output)
    return 0


@command.command("spark", short_help="Put what works in Spark side by side.")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@format_option
@output_option
def spark(runs: tuple[Path, ...], form: str, output: Path | None) -> int:
    """Put side by side what works in Spark, of runs with several versions of Spark and Iceberg.

    Each RUN is a run.json or the directory of a report, of a run with the Spark checks.
    """
    from icecheck.reports.many import engines
    from icecheck.targets.target import UsageError

    read = []
    with understanding(*runs):
        for path in runs:
            column = engines.Engine(path.name if path.is_dir() else str(path), stored_run(path))
            if not column.workflows:
                raise UsageError(f"{path} has nothing of Spark: run with --spark, or leave it out")
            read.append(column)
        table = engines.engines_side_by_side(read)
    put(engines.RENDERINGS[form](table), output)
    return 0


@command.command("merge", short_help="Make one report of runs that judged parts of a catalog.")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@report_directory_option
def merge(runs: tuple[Path, ...], output: Path) -> int:
    """Make one report of runs that judged parts of one catalog, such as the shards of a CI.

    Each RUN is a run.json or the directory of a report, of one catalog, document and release of the
    suite. Causes, profiles, verdict and gate are computed from all verdicts; exit codes are as in
    `icecheck run`. The exchanges stay where they are.
    """
    from icecheck.cli.closing import print_conclusion
    from icecheck.run.output import RUN_FILE, write_report
    from icecheck.run.stored.merge import merge as merged
    from icecheck.targets.target import UsageError

    whole = merged([restored_run(path) for path in runs])
    if (output / RUN_FILE).exists():
        raise UsageError(
            f"there is a report in {output} already: name another directory (--output)"
        )
    print_conclusion(whole, write_report(whole, output))
    return whole.exit_code


def _expect_apart(directories: Sequence[Path]) -> None:
    """Raise UsageError if two runs would be written into one directory."""
    twice = next((each for each in directories if directories.count(each) > 1), None)
    if twice is not None:
        raise click.UsageError(f"two runs would be written into {twice}: render one at a time")


def _rendering(form: str) -> "Callable[[Run], str]":
    from icecheck.cli.closing import closing_lines
    from icecheck.reports.requested import annotations, badges
    from icecheck.run.output import FORMATS

    if form in FILES:
        return FORMATS[FILES[form]]
    return {
        "text": lambda run: "\n".join([*closing_lines(run, Path("run.json")), ""]),
        "annotations": annotations.render,
        "badge": badges.svg,
        "shields": badges.shields,
    }[form]


def _write(run: "Run", directory: Path) -> Path:
    """Write every format but run.json itself into a directory, and return the path of the page."""
    from icecheck.run.output import FORMATS, RUN_FILE
    from icecheck.targets.unwritable import write_text

    texts = {name: render(run) for name, render in FORMATS.items() if name != RUN_FILE}
    make_writable(directory)
    for name, text in texts.items():
        write_text(directory / name, text)
    return directory / FILES["html"]
