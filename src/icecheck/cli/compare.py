"""``icecheck compare OLD NEW``: what broke between two runs, and what was repaired."""

from pathlib import Path

import click

from icecheck.cli.ending import LastResort, fail

__all__ = ["command"]

_REGRESSION = 1
_USAGE = 2
_REPORT = "run.json"


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
    with LastResort():
        from icecheck.comparison import compare, read_run
        from icecheck.reports.compared import as_json, as_markdown, as_text
        from icecheck.target import UsageError

        renderings = {"text": as_text, "markdown": as_markdown, "json": as_json}
        try:
            runs = [read_run(_content(path), str(path)) for path in (old, new)]
            comparison = compare(*runs)
        except UsageError as misuse:
            fail(str(misuse), _USAGE)
        click.echo(renderings[form](comparison), nl=False)
        return _REGRESSION if comparison.is_regression else 0


def _content(path: Path) -> bytes:
    from icecheck.target import UsageError

    try:
        return (path / _REPORT if path.is_dir() else path).read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}): name a run.json or its directory"
        ) from None
