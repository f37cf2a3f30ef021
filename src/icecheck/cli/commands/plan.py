"""``icecheck plan``: say what a run would do to a catalog, without doing it."""

from typing import TYPE_CHECKING, Any

import click

from icecheck.cli.ending import ExitOnError
from icecheck.cli.extras import require_suite
from icecheck.cli.selection import spec_option, with_release
from icecheck.cli.target_options import target_of, target_options

if TYPE_CHECKING:
    from icecheck.cli.forecast import Forecast
    from icecheck.targets.target import Target

_GROUPS = ("checks", "generated", "scenarios")


@click.command("plan", short_help="Say what a run would create and call, without doing it.")
@target_options("plan")
@click.option(
    "--only", "only", multiple=True, type=click.Choice(_GROUPS), help="This group; repeatable."
)
@click.option(
    "--check", "globs", multiple=True, metavar="GLOB", help="Checks whose id matches; repeatable."
)
@spec_option
@click.option("--run-id", metavar="ID", help="Token in every name of the run; default: random.")
@click.option("--seed", type=int, default=0, show_default=True, help="Drives generated data.")
def command(only: tuple[str, ...], globs: tuple[str, ...], **options: Any) -> None:
    """Print which requests a run sends to the catalog at URL, and what it makes there.

    The catalog is asked for its config and for nothing else: the run is rehearsed on the bundled
    mock, offering what the catalog claims. Spark checks are not rehearsed.
    """
    require_suite()
    with ExitOnError() as last_resort:
        from icecheck.cli.forecast import forecast
        from icecheck.findings.verdict import Group
        from icecheck.run.options import RunOptions
        from icecheck.targets.target import new_run_id
        from icecheck.wire.redaction import Redactor

        target = target_of(options)
        last_resort.redactor = redactor = Redactor(target.secrets, target.headers)
        wanted = RunOptions(
            target=target,
            run_id=options["run_id"] or new_run_id(),
            seed=options["seed"],
            groups=tuple(Group(name) for name in only or _GROUPS),
            globs=globs,
            redactor=redactor,
        )
        found = forecast(with_release(wanted, options))
    click.echo(f"would judge {found.checks} checks")
    for line in _made(found, target):
        click.echo(line)
    for line in _sent(found, target):
        click.echo(line)
    for operation_id, count in found.requests.items():
        click.echo(f"{count:>6} {operation_id}")
    if found.unclaimed:
        click.echo(f"not claimed, and not verified: {', '.join(found.unclaimed)}")


def _made(found: "Forecast", target: "Target") -> list[str]:
    """Return lines on what a run makes, where, and what is removed again."""
    if not found.made:
        return ["would make nothing on the catalog"]
    where = (
        f"below the namespace {'.'.join(target.namespace)}" if target.namespace else "at the top"
    )
    placed = f", located below {target.location_root}" if target.location_root else ""
    made = ", ".join(f"{count} {kind}" for kind, count in found.made.items())
    left = " if the catalog deletes" * target.accept_residue
    return [
        f"would make {made}, {where}{placed}, all with {found.owner} in their names",
        f"and remove every one of them{left}; nothing else is written to or deleted",
    ]


def _sent(found: "Forecast", target: "Target") -> list[str]:
    """Return lines on how many requests a run sends, where to, and how long a rate limit takes."""
    many = sum(found.requests.values())
    words = f"would send about {many} requests to {target.base_url}/v1{found.prefix}"
    if target.requests_per_second is not None:
        seconds = round(many / target.requests_per_second)
        words += f", which takes {seconds} s at {target.requests_per_second:g} a second"
    return [f"{words}:"]
