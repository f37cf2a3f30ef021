"""The last lines of a run: verdict, gate, counts, causes, and where the report is."""

from pathlib import Path

from icecheck.findings.telling.finding_card import Card, describe, one_line
from icecheck.findings.verdict import Cause, Run
from icecheck.ownership.ledger_file import LEDGER_FILE
from icecheck.reports.joined import (
    access_lines,
    contract_of,
    counts_words,
    excused_words,
    expected_causes,
    release_lines,
)
from icecheck.run.closing import residue_lines, unmet_lines

_WHERE = "in the report, or here with --verbose"
_CAUSES_MAX = 10
_LESSER_MAX = 5
_HURTS_CHARACTERS_MAX = 160
_COLOURS = {"conformant": "green", "conformant-with-warnings": "green", "not-conformant": "red"}


def print_conclusion(run: Run, page: Path) -> None:
    """Print the closing lines; the verdict is coloured on a terminal."""
    import click

    first, *rest = closing_lines(run, page)
    click.echo(click.style(first, fg=_COLOURS.get(run.status, "yellow"), bold=True))
    for line in rest:
        click.echo(line)


def closing_lines(run: Run, page: Path) -> list[str]:
    """Return the closing lines, each safe to print."""
    target, spec, timing = run.facts["target"], run.facts["spec"], run.facts["timing"]
    words = run.status.replace("-", " ").upper()
    incomplete = "" if run.complete else " (incomplete)"
    claimed = "; ".join(f"{p.id} {p.status}" for p in run.profiles if p.claimed)
    gate = "satisfied" if run.exit_code == 0 else f"not satisfied ({run.exit_reason})"
    excused = excused_words(run)
    gate += f" ({excused} excused)" if excused else ""
    lines = [
        f"{words}{incomplete}: {run.headline} [{spec['id']}, {target['url']}]",
        f"gate: {gate}, exit {run.exit_code}; profiles: {claimed or 'none claimed'}",
        f"checks: {counts_words(run)}; {timing['requests']} requests in {timing['wall_s']} s",
    ]
    lines += release_lines(run)
    lines += [f"access: {words}" for words in access_lines(run)]
    lines += [f"accommodated: {words}" for words in target.get("accommodations", ())]
    lines += unmet_lines(run)
    if run.causes:
        lines.append(f"causes: {len(run.causes)} (their exchanges and curl lines: {_WHERE})")
    known = expected_causes(run)
    cards = _cards(run)
    for number, cause in enumerate(run.causes[:_CAUSES_MAX], 1):
        lines += _cause(number, cause, cards.get(cause.witness), expected=cause.id in known)
    if len(run.causes) > _CAUSES_MAX:
        lines.append(f"  … and {len(run.causes) - _CAUSES_MAX} more in the report")
    if lesser := list(dict.fromkeys(check for cause in run.causes for check in cause.lesser)):
        also = one_line(", ".join(lesser[:_LESSER_MAX]))
        more = f" and {len(lesser) - _LESSER_MAX} more" if len(lesser) > _LESSER_MAX else ""
        lines.append(f"below the level of what fails in the same way: {also}{more}")
    # The last lines are seen best, so those about residue say there what to do.
    lines += [f"report: {page}", *residue_lines(run, [page.parent / LEDGER_FILE])]
    return [line if line.startswith("  ") else one_line(line, 1_000) for line in lines]


def _cards(run: Run) -> dict[str, Card]:
    """Return check id -> card, of the checks that show the causes."""
    witnesses = {cause.witness for cause in run.causes[:_CAUSES_MAX]}
    contract = contract_of(run)
    return {v.check: describe(v, contract) for v in run.verdicts if v.check in witnesses}


def _cause(number: int, cause: Cause, card: Card | None, *, expected: bool) -> list[str]:
    members = cause.members or cause.blocked
    more = f" and {len(members) - 1} more" if len(members) > 1 else ""
    blocks = f", {len(cause.blocked)} blocked" if cause.blocked and cause.members else ""
    first = members[0] if members else ""
    title = f"{'(expected) ' * expected}{one_line(cause.title)}"
    lines = [f"  {number:>2}. {cause.level}: {title} ({one_line(first)}{more}{blocks})"]
    if card is not None:
        lines += [f"      demanded: {c.id}, {c.permalink}" for c in card.clauses[:1]]
        if card.request and card.expected:
            said = f"{card.request}: expected {card.expected}, got {card.actual}"
            lines.append(f"      shown: {one_line(said)}")
    lines.append(f"      hurts: {one_line('; '.join(cause.hurts), _HURTS_CHARACTERS_MAX)}")
    return lines
