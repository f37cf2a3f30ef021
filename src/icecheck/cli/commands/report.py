"""``icecheck report``: renders stored runs again, one by one or side by side."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from icecheck.cli.stored_run import restored_run

if TYPE_CHECKING:
    from icecheck.findings.verdict import Run

_FILES = {"html": "index.html", "junit": "junit.xml", "markdown": "summary.md"}
"""The formats that a run writes beside run.json."""
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
    type=click.Choice([*_FILES, *_PRINTED]),
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
    for path, run in [(path, restored_run(path)) for path in runs]:
        beside = path if path.is_dir() else path.parent
        directory = beside if output is None else output
        if output is not None and len(runs) > 1:
            directory = output / run.run_id
        click.echo(str(_write(run, directory)))
    return 0


def _rendering(form: str) -> "Callable[[Run], str]":
    from icecheck.cli.closing import closing_lines
    from icecheck.reports.requested import annotations, badges
    from icecheck.run.output import FORMATS

    if form in _FILES:
        return FORMATS[_FILES[form]]
    return {
        "text": lambda run: "\n".join([*closing_lines(run, Path("run.json")), ""]),
        "annotations": annotations.render,
        "badge": badges.svg,
        "shields": badges.shields,
    }[form]


def _write(run: "Run", directory: Path) -> Path:
    """Write every format but run.json itself into a directory, and return the path of the page."""
    from icecheck.run.output import FORMATS
    from icecheck.targets.target import UsageError
    from icecheck.targets.unwritable import write_text

    texts = {name: FORMATS[name](run) for name in _FILES.values()}
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"--output {directory} cannot be written ({error.strerror}): name another directory"
        ) from None
    for name, text in texts.items():
        write_text(directory / name, text)
    return directory / _FILES["html"]
