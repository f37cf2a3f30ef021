"""How the commands for several runs write what they make: printed, or into a file."""

import errno
import os
from pathlib import Path

import click

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["html", "markdown", "json"]),
    default="html",
    show_default=True,
    help="A page, Markdown for a pull request, or one JSON object.",
)
output_option = click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where it is written; default: it is printed.",
)
judged_by_option = click.option(
    "--spec",
    metavar="VERSION",
    help="Only the runs that were judged by this document; default: that of the newest run.",
)

report_directory_option = click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("icecheck-report"),
    show_default=True,
    metavar="DIR",
    help="Where the report is written.",
)


def make_writable(directory: Path) -> None:
    """Make the directory of ``--output``; raise UsageError if nothing can be written there."""
    from icecheck.targets.target import UsageError

    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not os.access(directory, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise UsageError(
            f"--output {directory} cannot be written ({error.strerror}): name another directory"
        ) from None


def put(text: str, output: Path | None) -> None:
    """Print a text, or write it into a file, whole or not at all."""
    from icecheck.targets.target import UsageError
    from icecheck.targets.unwritable import Unwritable, write_text

    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        write_text(output, text)
    except (OSError, Unwritable) as error:
        why = error.strerror if isinstance(error, OSError) else "no room, or no permission"
        raise UsageError(f"--output {output} cannot be written ({why})") from None
    click.echo(str(output))
