"""``icecheck doctor``: say what would go wrong in a run, and which options would help."""

from itertools import chain
from typing import Any

import click

from icecheck.cli.ending import ExitOnError
from icecheck.cli.target_options import target_of, target_options

_TARGET_UNUSABLE = 4


@click.command("doctor", short_help="Say what would go wrong, and which options would help.")
@target_options("doctor")
def command(**options: Any) -> int:
    """Look at the catalog at URL with a few requests, as a run would meet it.

    One namespace and one table are made, and removed again. The exit code is 4 when a run with the
    same options could verify nothing, else 0: what a catalog does wrong is for a run to say. The
    last line is the command of a run with the options that are needed, or of another look with
    those whose values only you know.
    """
    with ExitOnError() as last_resort:
        from icecheck.cli.shown_command import command_to_run
        from icecheck.client.doctor import examine
        from icecheck.findings.telling.finding_card import one_line
        from icecheck.wire.redaction import Redactor

        target = target_of(options)
        last_resort.redactor = redactor = Redactor(target.secrets, target.headers)
        found = list(examine(target, redactor=redactor))
    for advice in found:
        mark = "ok  " if advice.well else "!!  "
        click.echo(one_line(redactor.text(f"{mark}{advice.what}"), 400))
        if advice.help:
            click.echo(one_line(redactor.text(f"    try: {advice.help}"), 400))
    needed = chain.from_iterable(dict.fromkeys(advice.options for advice in found))
    blocking = [advice for advice in found if advice.blocks]
    context = click.get_current_context()
    if all(advice.options for advice in blocking):
        click.echo(f"run it: {command_to_run(context, needed)}")
    elif ask := blocking[-1].ask:
        click.echo(f"ask again: {command_to_run(context, ask, command='doctor')}")
    return _TARGET_UNUSABLE if blocking else 0
