"""``icecheck compare OLD NEW``: what broke between two runs, and what was repaired."""

from pathlib import Path

import click

from icecheck.cli.stored_run import stored_run

_REGRESSION = 1


@click.command("compare", short_help="Say what changed between two runs.")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    show_default=True,
    help="Lines for people, Markdown for a pull request, or one JSON object.",
)
def command(old: Path, new: Path, form: str) -> int:
    """Compare two runs, each a run.json or the directory of a report, check by check.

    Exit codes: 0 nothing was lost, 1 a check that passed in OLD fails, is blocked or is no longer
    offered in NEW (or NEW is incomplete), 2 they cannot be compared.
    """
    from icecheck.findings.comparison import compare
    from icecheck.reports.compared import as_json, as_markdown, as_text

    renderings = {"text": as_text, "markdown": as_markdown, "json": as_json}
    comparison = compare(stored_run(old), stored_run(new))
    click.echo(renderings[form](comparison), nl=False)
    return _REGRESSION if comparison.is_regression else 0
