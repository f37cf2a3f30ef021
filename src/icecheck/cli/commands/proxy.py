"""``icecheck proxy``: record and judge what any engine and a catalog say to each other."""

import contextlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from icecheck.cli.ending import ExitOnError, fail
from icecheck.cli.extras import require_suite
from icecheck.cli.serving.ready import ready_line, write_ready
from icecheck.cli.target_options import target_of, target_options
from icecheck.cli.written import report_directory_option

if TYPE_CHECKING:
    from icecheck.findings.verdict import Run
    from icecheck.proxy.proxy import CatalogProxy

_USAGE = 2
_TOLD_MAX = 20
_MANY = 20
_IN_THE_REPORT_ONLY = frozenset({"members-beside-errors"})


@click.command("proxy", short_help="Judge what passes between any engine and a catalog.")
@target_options("proxy")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port to listen on; default: any free one.",
)
@click.option(
    "--allow-host",
    "served_hosts",
    multiple=True,
    metavar="NAME",
    help="Answer requests for this host (Host), too; repeatable. Otherwise only those for loopback "
    "names and --host.",
)
@click.option("--implementation", metavar="NAME", help="What the report calls the catalog.")
@report_directory_option
@click.option("--ready-file", metavar="FILE", help="Also write the ready line to this file.")
@click.option(
    "--run",
    "has_command",
    is_flag=True,
    help="Serve while COMMAND runs, with CATALOG_URI, ICEBERG_REST_URI and PyIceberg's variable "
    "of the default catalog's uri leading here.",
)
@click.argument("beside", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
def command(output: Path, has_command: bool, beside: tuple[str, ...], **options: Any) -> int:
    """Stand before the catalog at URL, hand requests on, and judge what passes.

    Clients use the address of the ready line in the place of the catalog's, with the credentials
    that they have. At the end (SIGTERM, Ctrl-C or that of COMMAND) the report in DIR says which
    answers break the document, and what clients sent that it does not allow. Exit codes: that of
    COMMAND if it fails; 0, 1 if an answer breaks a MUST, 2 usage, 3 if icecheck itself
    failed, 5 if no answer could be judged.
    """
    if has_command != bool(beside):
        raise click.UsageError("write proxy URL --run -- COMMAND")
    require_suite()
    with ExitOnError(output) as last_resort:
        from icecheck.cli.commands.run import options_of_run
        from icecheck.cli.shown_command import shown_command
        from icecheck.proxy.proxy import CatalogProxy
        from icecheck.run.output import Output

        named = options_of_run(last_resort, target_of(options), output, 0)
        wanted = replace(
            named,
            ledger=None,
            command=shown_command(click.get_current_context()),
            implementation=options["implementation"] or "",
        )
        report = Output(output)
        with contextlib.ExitStack() as undo:
            undo.callback(report.abandon, as_it_was=True)
            proxy = CatalogProxy(
                wanted,
                report.record,
                host=options["host"],
                port=options["port"],
                allow_hosts=options["served_hosts"],
            )
            code = _served(proxy, options, beside)
            if proxy.waiting > _MANY:
                click.echo(f"judging the last {proxy.waiting} exchanges", err=True)
            run = proxy.result()
            undo.pop_all()
        print_proxied(run, report.finish(run))
        return code or run.exit_code


def _served(proxy: "CatalogProxy", options: Mapping[str, Any], beside: tuple[str, ...]) -> int:
    """Serve until the command ends, or until told to stop; return the command's exit code."""
    from icecheck.cli.serving.beside import ended_command
    from icecheck.mock_server.http.foreground import until_told_to_stop

    try:
        proxy.start()
    except OSError as error:
        place = f"{options['host']}:{options['port']}"
        fail(f"cannot listen at {place}: {error.strerror or error}", _USAGE)
    try:
        line = ready_line(proxy.uri)
        write_ready(line, options["ready_file"])
        if beside:
            return ended_command(beside, os.environ | _variables(proxy.uri))
        with until_told_to_stop() as wait:
            click.echo(line)
            wait()
        return 0
    finally:
        proxy.stop()


def _variables(uri: str) -> dict[str, str]:
    names = ("CATALOG_URI", "ICEBERG_REST_URI", "PYICEBERG_CATALOG__DEFAULT__URI")
    return dict.fromkeys(names, uri)


def print_proxied(run: "Run", page: Path) -> None:
    """Print the closing lines of a run, and what clients sent that is not allowed."""
    from icecheck.cli.closing import print_conclusion
    from icecheck.findings.telling.finding_card import one_line

    print_conclusion(run, page)
    told = [each for each in run.observations if each["id"] not in _IN_THE_REPORT_ONLY]
    for each in told[:_TOLD_MAX]:
        lines = f" ({each['spec_says']})" if each["spec_says"] else ""
        click.echo(one_line(f"{each['question']}: {each['answer']}{lines}", 1_000))
    if len(told) > _TOLD_MAX:
        click.echo(f"… and {len(told) - _TOLD_MAX} more observations in the report")
