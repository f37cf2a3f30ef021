"""Reports in one line which extra a command needs, before anything else happens."""

from icecheck.cli.ending import fail
from icecheck.run.extras import CLIENTS, SPARK, SUITE, how_to_install

_USAGE = 2


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
        fail(lacking, _USAGE)


def _again() -> str:
    """Return the command that is being run, its secrets taken from variables."""
    import click

    from icecheck.cli.shown_command import command_to_run

    context = click.get_current_context()
    return command_to_run(context, (), command=context.info_name or "")
