"""Reports in one line which extra a command needs, before anything else happens."""

import os
import shlex
import sys

from icecheck.cli.ending import fail
from icecheck.run.extras import CLIENTS, SPARK, SUITE, how_to_install

_USAGE = 2
_GOES_ON = "ICECHECK_GOES_ON_WITH"
"""The variable that says that this command was run again already, with an extra."""


def require_suite() -> None:
    """Exit with a line that names the extra unless the suite's libraries are installed."""
    _require(SUITE, "suite")


def require_spark() -> None:
    """Exit with a line that names the extra unless the Spark libraries are installed."""
    _require(SPARK, "spark")


def require_clients() -> None:
    """Exit with a line that names the extra unless the libraries of real clients are installed."""
    _require(CLIENTS, "clients")


def _require(modules: tuple[str, ...], extra: str) -> None:
    if lacking := how_to_install(modules, extra, _again()):
        _go_on_under_uvx(extra)
        fail(lacking, _USAGE)


def _go_on_under_uvx(extra: str) -> None:
    """Run this command with the extra instead where uvx made the environment; else return.

    uvx installs what it runs, so that whoever typed it has asked for what the command needs.
    """
    from icecheck.installing import command_with

    command = command_with(extra, sys.argv[1:])
    if not command or os.environ.get(_GOES_ON):
        return
    sys.stderr.write(f"icecheck: goes on with {shlex.join(command[:3])}\n")
    sys.stderr.flush()
    os.execvpe(command[0], command, {**os.environ, _GOES_ON: extra})  # noqa: S606 - no shell


def _again() -> str:
    """Return the command that is being run, its secrets taken from variables."""
    import click

    from icecheck.cli.shown_command import command_to_run

    context = click.get_current_context()
    return command_to_run(context, (), command=context.info_name or "")
