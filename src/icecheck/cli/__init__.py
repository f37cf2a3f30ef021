"""The command line: ``icecheck run``, ``clean``, ``serve``, ``list``, ``explain`` and more.

Nothing heavy is imported here, and a command's own imports wait until it runs.
"""

import importlib
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click
from click import Group as ClickGroup

__all__ = ["main"]

# Title -> package below `icecheck.cli.commands`, and what each command of it does.
_SECTIONS = {
    "Verify a catalog": (
        "",
        {
            "run": "Verify a catalog and write a report.",
            "doctor": "Say what would go wrong, and which options would help.",
            "plan": "Say what a run would create and call, without doing it.",
            "clean": "Remove what a run that was cut short has left behind.",
            "explore": "Draw histories until the time is over, and keep what fails.",
        },
    ),
    "Work with stored runs": (
        "stored.",
        {
            "replay": "Run a failing history again.",
            "compare": "Say what changed between runs.",
            "report": "Render stored runs again, or side by side.",
            "gate": "Decide from a stored report whether a catalog will do.",
            "bundle": "Pack a run into one file that anybody can verify.",
            "verify": "Derive every verdict of a bundle again, offline.",
        },
    ),
    "Work with Spark": (
        "spark.",
        {
            "spark-matrix": "Run the Spark checks in several versions of Spark.",
            "pipeline": "Run a retail pipeline of Spark, each stage compared.",
            "evidence": "Keep the runs of many catalogs as Iceberg tables.",
        },
    ),
    "Serve and look up": (
        "",
        {
            "serve": "Serve the mock catalog until it is told to stop.",
            "proxy": "Judge what passes between any engine and a catalog.",
            "connect": "Print how a client reaches a catalog.",
            "list": "List checks, requirements, operations or defects.",
            "explain": "Say what a check, requirement, operation, defect or symptom means.",
            "self-test": "Show that the checks notice every defect of the mock.",
        },
    ),
}
_MODULES = {
    name: f"icecheck.cli.commands.{package}{name.replace('-', '_')}"
    for package, commands in _SECTIONS.values()
    for name in commands
}


class _Commands(ClickGroup):
    """Finds commands by name in modules of that name, and reports errors in one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _MODULES:
            return None
        command: click.Command = importlib.import_module(_MODULES[cmd_name]).command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a reader of its output that went away ends it in silence."""
        from icecheck.cli.ending import end_unread

        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click would exit with 1, which says that a check failed
            end_unread()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for title, (_, commands) in _SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: ARG002 - the framework's signature
        **extra: Any,
    ) -> NoReturn:
        """Run a command and exit: with 2 for misuse, 130 if interrupted, else with its code."""
        from icecheck.cli.ending import ExitOnError, fail

        try:
            with ExitOnError():
                code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except click.UsageError as misuse:
            if not (args if args is not None else sys.argv[1:]):
                click.echo(super().get_help(click.Context(self, info_name="icecheck")), err=True)
                sys.exit(misuse.exit_code)
            command = misuse.ctx.command_path if misuse.ctx else "icecheck"
            fail(f"{misuse.format_message()} (see {command} --help)", misuse.exit_code)
        except click.ClickException as error:
            fail(error.format_message(), error.exit_code)
        sys.exit(code if isinstance(code, int) else 0)


def _version(ctx: click.Context, _parameter: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        import icecheck

        click.echo(f"icecheck {icecheck.__version__}")
        ctx.exit()


main = _Commands(
    name="icecheck",
    help=(
        'Settle the claim "this catalog speaks the Apache Iceberg REST protocol".\n\n'
        "Exit codes of `run`: 0 gate satisfied, 1 unexpected outcome, 2 usage, 3 suite error, "
        "4 target unusable, 5 nothing verified, 6 objects left behind, 130 interrupted."
    ),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_version,
            help="Show the version and exit.",
        )
    ],
)
