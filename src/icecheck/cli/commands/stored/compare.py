"""``icecheck compare OLD NEW``: what broke between runs, and what was repaired."""

import json
from itertools import pairwise
from pathlib import Path

import click

from icecheck.cli.stored_run import stored_run

_REGRESSION = 1


@click.command("compare", short_help="Say what changed between runs.")
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="OLD... NEW")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    show_default=True,
    help="Lines for people, Markdown for a pull request, or one JSON object.",
)
def command(runs: tuple[Path, ...], form: str) -> int:
    """Compare runs check by check, each a run.json or the directory of a report.

    With more than two, each is compared with the next one in the order in which they are named.
    Exit codes: 0 nothing was lost, 1 a check that passed in some OLD fails, is blocked or is no
    longer offered in NEW (or NEW is incomplete), 2 they cannot be compared.
    """
    from icecheck.findings.comparison import compare
    from icecheck.reports.compared import as_json, as_markdown, as_text, document

    if len(runs) < 2:
        raise click.UsageError("name two runs or more: OLD NEW")
    documents = [stored_run(path) for path in runs]
    *earlier, newest = documents
    steps = [compare(old, new) for old, new in pairwise(documents)]
    # The last step has compared the newest run with the one before it.
    with_newest = [*(compare(old, newest) for old in earlier[:-1]), steps[-1]]
    lost = any(each.is_regression for each in with_newest)
    if form == "json" and len(steps) > 1:
        told = {"regression": lost, "steps": list(map(document, steps))}
        text = json.dumps(told, indent=1) + "\n"
    else:
        render = {"text": as_text, "markdown": as_markdown, "json": as_json}[form]
        text = "\n".join(map(render, steps))
    click.echo(text, nl=False)
    return _REGRESSION if lost else 0
