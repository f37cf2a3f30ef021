"""``icecheck plan``: say what a run would do to a catalog, without doing it."""

import secrets
from typing import Any

import click

from icecheck.cli.ending import LastResort
from icecheck.cli.extras import require_suite
from icecheck.cli.target_options import target_of, target_options

__all__ = ["command"]

_GROUPS = ("checks", "generated", "scenarios")


@click.command("plan", short_help="Say what a run would create and call, without doing it.")
@target_options
@click.option(
    "--only", "only", multiple=True, type=click.Choice(_GROUPS), help="This group; repeatable."
)
@click.option(
    "--check", "globs", multiple=True, metavar="GLOB", help="Checks whose id matches; repeatable."
)
@click.option("--run-id", metavar="ID", help="Token in every name of the run; default: random.")
@click.option("--seed", type=int, default=0, show_default=True, help="Drives generated data.")
def command(only: tuple[str, ...], globs: tuple[str, ...], **options: Any) -> None:
    """Print which requests a run sends to the catalog at URL, and what it makes there.

    The catalog is asked for its config and for nothing else: the run is rehearsed on the bundled
    mock, offering what the catalog claims. Spark checks are not rehearsed.
    """
    require_suite()
    with LastResort() as last_resort:
        from icecheck.assembly.forecast import forecast
        from icecheck.assembly.run import RunOptions
        from icecheck.redaction import Redactor
        from icecheck.verdict import Group

        target = target_of(options)
        last_resort.redactor = redactor = Redactor(target.secrets, target.headers)
        wanted = RunOptions(
            target=target,
            run_id=options["run_id"] or secrets.token_hex(3),
            seed=options["seed"],
            groups=tuple(Group(name) for name in only or _GROUPS),
            globs=globs,
            redactor=redactor,
        )
        found = forecast(wanted)
    where = (
        f"below the namespace {'.'.join(target.namespace)}" if target.namespace else "at the top"
    )
    made = ", ".join(f"{count} {kind}" for kind, count in found.made.items()) or "nothing"
    click.echo(f"would make {made}, {where}, all with {found.owner} in their names")
    click.echo("and remove every one of them; nothing else is written to or deleted")
    click.echo(f"would send about {sum(found.requests.values())} requests:")
    for operation_id, count in found.requests.items():
        click.echo(f"{count:>6} {operation_id}")
    if found.unclaimed:
        click.echo(f"not claimed, and not verified: {', '.join(found.unclaimed)}")
