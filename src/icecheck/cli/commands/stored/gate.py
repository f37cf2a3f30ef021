"""``icecheck gate``: decides from a stored report whether a catalog may be relied on."""

from pathlib import Path

import click

from icecheck.cli.stored_run import stored_run, understanding

_REFUSED = 1


@click.command("gate", short_help="Decide from a stored report whether a catalog will do.")
@click.argument("report", type=click.Path(path_type=Path))
@click.option(
    "--require",
    "demands",
    multiple=True,
    metavar="PROFILE[@VERSION]",
    help="The catalog conforms to this profile, such as write@1.10.0; repeatable.",
)
@click.option("--max-age", metavar="AGE", help="The run ended within this time: 12h, 30d or 2w.")
def command(report: Path, demands: tuple[str, ...], max_age: str | None) -> int:
    """Decide without a catalog, from REPORT: a run.json, the directory of a report, or a bundle.

    Without --require the gate of the run itself has to be satisfied. With it the profiles decide,
    and known failures count as failures. A bundle is not verified by this: `icecheck verify` does.
    Exit codes: 0 it will do, 1 it will not, with a line for each reason, 2 it cannot be read.
    """
    from icecheck.findings.telling.finding_card import one_line
    from icecheck.run.stored.decision import Demand, age_from, objections

    wanted = [Demand.read(text) for text in demands]
    oldest = None if max_age is None else age_from(max_age)
    document = stored_run(report)
    with understanding(report):
        found = objections(document, wanted, oldest)
        project = document["target"]["implementation"]["project"]
    words = "will not do" if found else "will do"
    run = f"run {document['run_id']} of {document.get('generated_at')}"
    click.echo(one_line(f"{project} {words} by {run} [{document['spec']['id']}]"))
    for each in found:
        click.echo(f"  {one_line(each)}")
    return _REFUSED if found else 0
