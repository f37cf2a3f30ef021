"""``icecheck list``: checks, requirements, operations or defects, for people or as JSON."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from icecheck.contract import Contract

_WHY_NOT = "not_tested_reason"
Listed = tuple[list[dict[str, Any]], tuple[str, ...], list[str]]
"""Rows, the columns that people see, and what stands behind each line."""


@click.command("list", short_help="List checks, requirements, operations or defects.")
@click.argument(
    "what",
    type=click.Choice(["checks", "requirements", "operations", "defects"]),
    default="checks",
)
@click.option(
    "--group",
    type=click.Choice(["checks", "generated", "scenarios", "spark", "clients"]),
    help="Only the checks of this group.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="Lines for people, one JSON array, or (requirements only) a page.",
)
@click.option(
    "--diff",
    nargs=2,
    metavar="OLD NEW",
    help="Only the requirements (of list requirements) that two releases' documents have "
    "otherwise, such as 1.10.0 1.11.0.",
)
@click.option(
    "--spec",
    metavar="VERSION",
    help="What the document of another version has: its checks, requirements and operations.",
)
def command(
    what: str, group: str | None, form: str, diff: tuple[str, str] | None, spec: str | None
) -> None:
    """List what icecheck knows: its checks (the default), the requirements they prove, the
    operations of the specification, or the defects that the mock can have.
    """
    from icecheck.contract import DEFAULT_SPEC_VERSION, JUDGED_VERSIONS, load

    if group is not None and what != "checks":
        raise click.UsageError("--group selects checks: use it with `icecheck list checks`")
    if form == "markdown" and what != "requirements":
        raise click.UsageError("only the requirements have a page: icecheck list requirements")
    if diff is not None and (what != "requirements" or form == "markdown"):
        raise click.UsageError("--diff compares requirements: icecheck list requirements --diff")
    if spec is not None and spec not in JUDGED_VERSIONS:
        known = ", ".join(JUDGED_VERSIONS)
        raise click.UsageError(f"--spec {spec}: there is no such version here, but {known}")
    if spec is not None and (what == "defects" or diff is not None):
        raise click.UsageError("--spec is for checks, requirements and operations")
    contract = load(spec or DEFAULT_SPEC_VERSION)
    if form == "markdown":
        from icecheck.cli.listings.requirements_page import requirements_page

        click.echo(requirements_page(contract), nl=False)
        return
    rows, columns, notes = (
        _listed(what, contract, group) if diff is None else _listed_changes(*diff)
    )
    if form == "json":
        click.echo(json.dumps(rows, indent=1))
        return
    cells = [[str(row[column]) for column in columns] for row in rows]
    for line in _aligned(cells, notes):
        click.echo(line)
    if what == "checks":
        click.echo(_counted(rows), err=True)


def _listed(what: str, contract: "Contract", group: str | None) -> Listed:
    match what:
        case "checks":
            rows = _checks(contract, group)
            return rows, ("level", "group", "id", "title"), [_note(row) for row in rows]
        case "requirements":
            rows = _requirements(contract)
            notes = [f" (not brought about: {r})" if (r := row[_WHY_NOT]) else "" for row in rows]
            return rows, ("level", "profile", "checked", "id", "text"), notes
        case "operations":
            rows = _operations(contract)
            return rows, ("profile", "id", "endpoint"), [""] * len(rows)
    rows = _defects()
    return rows, ("level", "id", "breaks", "title"), [""] * len(rows)


def _listed_changes(*releases: str) -> Listed:
    rows = _changes(*releases)
    notes = [f" ({row['note']})" if row["note"] else "" for row in rows]
    return rows, ("change", "level", "id", "text"), notes


def _note(row: dict[str, Any]) -> str:
    """Return a note for a check that is not always run, as the ending of its line."""
    if row["passive"]:
        return " (judged from the answers that other checks get)"
    return " (only with --disruptive)" if row["disruptive"] else ""


def _counted(rows: list[dict[str, Any]]) -> str:
    """Return how many of the checks a run makes, and how many more there are under options."""
    asked_for = {name: [r for r in rows if r["group"] == name] for name in ("spark", "clients")}
    disruptive = [row for row in rows if row["disruptive"]]
    passive = sum(row["passive"] for row in rows)
    more = [(len(found), f"with --{name}") for name, found in asked_for.items()]
    more.append((len(disruptive), "with --disruptive"))
    others = passive + sum(many for many, _ in more)
    words = [f"{len(rows) - others} checks in a run"]
    words += [f"{many} more {when}" for many, when in more if many]
    words += [f"{passive} judged from the answers that others get"] * bool(passive)
    return "; ".join(words)


def _checks(contract: "Contract", group: str | None) -> list[dict[str, Any]]:
    from icecheck.cli.listings.catalogue import check_rows

    return [asdict(row) for row in check_rows(contract, group)]


def _requirements(contract: "Contract") -> list[dict[str, Any]]:
    from icecheck.cli.listings.catalogue import check_rows

    rows = check_rows(contract)
    brought_about = {r for row in rows if not row.passive for r in row.requirements}
    in_passing = {r for row in rows if row.passive for r in row.requirements}
    return [
        {
            "id": r.id,
            "level": str(r.level),
            "basis": str(r.basis),
            "profile": r.profile,
            "checked": (
                "checked"
                if r.id in brought_about
                # A requirement without an active check is judged wherever a catalog's answer shows
                # it.
                else ("if-met" if r.id in in_passing else "unchecked")
            ),
            "text": r.text,
            "condition": r.condition,
            "permalink": contract.permalink(r.lines),
            "since": r.since,
            "changed": r.changed,
            "hurts": r.hurts,
            _WHY_NOT: r.not_tested,
        }
        for r in contract.requirements.values()
    ]


def _changes(*releases: str) -> list[dict[str, Any]]:
    from icecheck.cli.listings.requirement_changes import changes_between
    from icecheck.contract import SPEC_VERSIONS
    from icecheck.contract.releases import is_newer
    from icecheck.run.releases.demands import release_to_hold_to

    old, new = (release_to_hold_to(each, "--diff", SPEC_VERSIONS) for each in releases)
    if not is_newer(new, old):
        raise click.UsageError(f"--diff {old} {new}: name the older release first")
    return [asdict(change) for change in changes_between(old, new)]


def _operations(contract: "Contract") -> list[dict[str, Any]]:
    return [
        {
            "id": operation.id,
            "endpoint": operation.endpoint,
            "profile": operation.profile,
            "statuses": list(operation.responses),
            "summary": operation.summary,
            "permalink": contract.permalink(operation.lines),
        }
        for operation in contract.operations.values()
    ]


def _defects() -> list[dict[str, Any]]:
    from icecheck.contract import first_with
    from icecheck.mock_server.defects import defects

    return [
        {
            "id": defect.name,
            "title": defect.title,
            "level": str(first_with(defect.breaks).requirements[defect.breaks].level),
            "breaks": defect.breaks,
            "suffering": defect.suffering,
        }
        for defect in defects().values()
    ]


def _aligned(rows: list[list[str]], endings: list[str]) -> Iterable[str]:
    if not rows:
        return
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    for row, ending in zip(rows, endings, strict=True):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield "  ".join([*cells, row[-1] + ending])
