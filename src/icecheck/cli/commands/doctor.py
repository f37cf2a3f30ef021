"""``icecheck doctor``: say what would go wrong in a run, and which options would help."""

from typing import Any

import click

from icecheck.cli.ending import ExitOnError
from icecheck.cli.target_options import target_of, target_options

__all__ = ["command"]

_TARGET_UNUSABLE = 4


@click.command("doctor", short_help="Say what would go wrong, and which options would help.")
@target_options("doctor")
def command(**options: Any) -> int:
    """Look at the catalog at URL with a few requests, as a run would meet it.

    One namespace and one table are made, and removed again. The exit code is 4 when a run could
    not verify anything, else 0: what a catalog does wrong is for a run to say.
    """
    with ExitOnError() as last_resort:
        from icecheck.client.doctor import examine
        from icecheck.findings.finding_card import one_line
        from icecheck.wire.redaction import Redactor

        target = target_of(options)
        last_resort.redactor = redactor = Redactor(target.secrets, target.headers)
        found = list(examine(target, redactor=redactor))
    for advice in found:
        mark = "ok  " if advice.well else "!!  "
        click.echo(one_line(redactor.text(f"{mark}{advice.what}"), 400))
        if advice.help:
            click.echo(one_line(redactor.text(f"    try: {advice.help}"), 400))
    usable = any(advice.well for advice in found)
    return 0 if usable else _TARGET_UNUSABLE
