"""Renders a run as Markdown of one screen: for a pull request, a step summary or a chat."""

from collections.abc import Iterable, Sequence

from icecheck.findings.telling.finding_card import one_line
from icecheck.findings.telling.standing import Standing
from icecheck.findings.verdict import Cause, Level, Run
from icecheck.reports.joined import (
    access_lines,
    counts_words,
    excused_words,
    expected_causes,
    is_judged,
    next_step,
    release_lines,
)
from icecheck.reports.tables import (
    EngineRow,
    Found,
    client_rows,
    operation_rows,
    spark_rows,
    words_of,
)

_CAUSES_MAX = 20
_MEMBERS_MAX = 6
_REQUESTS_MAX = 5
_REQUEST_CHARACTERS_MAX = 300
_ESCAPED = str.maketrans(
    {c: f"\\{c}" for c in "\\`*_[]|~#"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
)


def render(run: Run) -> str:
    """Return the Markdown text; words of the catalog in it are escaped."""
    parts = [_head(run), _preflight(run), _expectations(run), _causes(run)]
    if is_judged(run):
        parts += [_operations(run), _spark(run), _clients(run), _profiles(run)]
    parts += [_missing(run), _facts(run)]
    return "\n".join(part for part in parts if part)


def _head(run: Run) -> str:
    target = run.facts["target"]
    words = run.status.replace("-", " ").upper()
    if not run.complete:
        words += " (incomplete)"
    title = f"## {words}: {markdown(target['implementation']['project'])}"
    judged = (
        f"{markdown(run.headline)}. Judged by {markdown(run.facts['spec']['id'])} "
        f"on {run.generated_at}; gate: {markdown(run.exit_reason)} (exit {run.exit_code})."
    )
    lines = [title, "", judged, "", f"Checks: {counts_words(run)}.", ""]
    if step := next_step(run):
        lines += [f"To look closer, with the same options: {markdown(step)}", ""]
    notes = release_lines(run)
    notes += [f"access: {words}" for words in access_lines(run)]
    notes += [f"accommodated: {words}" for words in target.get("accommodations", ())]
    lines += [f"- {markdown(one_line(words, 300))}" for words in notes]
    return "\n".join([*lines, *([""] * bool(notes))])


def _preflight(run: Run) -> str:
    """Return the last requests of a run that ended before its first check."""
    if not run.preflight:
        return ""
    lines = []
    for each in run.preflight[-_REQUESTS_MAX:]:
        request = markdown(one_line(each.request, _REQUEST_CHARACTERS_MAX))
        lines.append(f"- {request}: {each.status or 'no answer'}")
    return "\n".join(["### What was sent before the first check", "", *lines, ""])


def _causes(run: Run) -> str:
    if not run.causes:
        return ""
    lines = ["### Fix these first", ""]
    known = expected_causes(run)
    for number, cause in enumerate(run.causes[:_CAUSES_MAX], 1):
        lines.append(_cause(number, cause, expected=cause.id in known))
    left = len(run.causes) - _CAUSES_MAX
    if left > 0:
        lines.append(f"\n… and {left} more: see index.html.")
    if lesser := list(dict.fromkeys(check for cause in run.causes for check in cause.lesser)):
        shown = ", ".join(map(markdown, lesser[:_MEMBERS_MAX]))
        more = f" and {len(lesser) - _MEMBERS_MAX} more" if len(lesser) > _MEMBERS_MAX else ""
        lines.append(f"\nBelow the level of what fails in the same way: {shown}{more}.")
    return "\n".join([*lines, ""])


def _expectations(run: Run) -> str:
    file = run.expectations.file
    if file is None:
        return ""
    lines = [f"Excused by {markdown(file.path)}: {excused_words(run) or 'nothing'}."]
    lines += [
        f"- **{str(u.kind).replace('-', ' ')}**: {markdown(u.entry.words)}: {markdown(u.why)}"
        for u in run.expectations.unmet
    ]
    return "\n".join([lines[0], "", *lines[1:], *([""] * bool(lines[1:]))])


def _cause(number: int, cause: Cause, *, expected: bool) -> str:
    checks = [markdown(c) for c in (cause.members or cause.blocked)]
    shown = ", ".join(checks[:_MEMBERS_MAX])
    if len(checks) > _MEMBERS_MAX:
        shown += f" and {len(checks) - _MEMBERS_MAX} more"
    blocks = f", blocks {len(cause.blocked)}" if cause.blocked and cause.members else ""
    return (
        f"{number}. **{cause.level}** {'(expected) ' * expected}{markdown(cause.title)} "
        f"({len(cause.members)} checks{blocks})\n"
        f"   - {shown}\n"
        f"   - hurts: {markdown('; '.join(cause.hurts))}"
    )


def _operations(run: Run) -> str:
    """Return the lines on the operations about which there is more to say than that they work."""
    rows = operation_rows(run)
    told = [row for row in rows if row.cell.standing is not Standing.WORKS]
    if not told:
        return ""
    lines = ["### What works, but", "", "| operation | status | failed | findings |"]
    lines.append("| --- | --- | --- | --- |")
    for row in told:
        cells = (row.operation, words_of(row.cell), row.cell.failed or "", _found(row.found))
        lines.append(markdown_row(cells))
    works = len(rows) - len(told)
    return "\n".join([*lines, "", f"{works} other operations work.", ""])


def _found(found: Sequence[Found]) -> str:
    """Return the numbers of the findings about something."""
    if not found:
        return ""
    numbers = ", ".join(str(each.number) for each in found)
    return f"finding{'s' * (len(found) > 1)} {numbers}"


def _spark(run: Run) -> str:
    rows = spark_rows(run)
    if not rows:
        return ""
    lines = ["### What works in Spark", "", "| statement | status |", "| --- | --- |"]
    lines += [markdown_row([markdown(row.title), _cell(row)]) for row in rows]
    return "\n".join([*lines, ""])


def _clients(run: Run) -> str:
    """Return the lines on which workflows work for the clients whose requests were replayed."""
    rows = client_rows(run)
    if not rows:
        return ""
    lines = ["### What works for which client", "", "| client | tables | views | transactions |"]
    lines.append("| --- | --- | --- | --- |")
    for row in rows:
        cells = [_cell(row.workflow(name)) for name in ("tables", "views", "transactions")]
        lines.append(markdown_row([markdown(row.client), *cells]))
    return "\n".join([*lines, ""])


def _cell(row: EngineRow | None) -> str:
    if row is None:
        return ""
    why = one_line(row.why, 200) if row.cell.standing is Standing.BROKEN else ""
    words = markdown(why) or _found(row.found)
    return f"{words_of(row.cell)}: {words}" if words else words_of(row.cell)


def _profiles(run: Run) -> str:
    lines = ["### Profiles", "", "| profile | status | must pass | must fail | must blocked |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for profile in run.profiles:
        must = profile.counts[str(Level.MUST)]
        cells = (profile.id, profile.status, must["pass"], must["fail"], must["blocked"])
        lines.append(markdown_row(cells))
    return "\n".join([*lines, ""])


def _missing(run: Run) -> str:
    """Return the lines on capabilities that are not offered, and what engines lose without them."""
    rows = [row for row in run.capabilities if row.loses and row.assessment == "not-supported"]
    if not rows:
        return ""
    lines = [f"- {markdown(r.id.partition(':')[2])}: {markdown(r.loses)}" for r in rows]
    return "\n".join(["### Not offered, and no fault", "", *lines, ""])


def _facts(run: Run) -> str:
    timing, suite = run.facts["timing"], run.facts["suite"]
    safety, agent = run.facts["safety"], run.facts["target"].get("agent")
    known_by = f", as {markdown(agent)}" if agent else ""
    if "name_pattern" in safety:
        known_by += f", with names like {markdown(safety['name_pattern'])}"
    left = f", {len(safety['residue'])} objects left behind" if safety["residue"] else ""
    return (
        f"icecheck {markdown(suite['version'])}, run `{run.run_id}`: {timing['requests']} requests "
        f"in {timing['wall_s']} s{known_by}{left}.\n"
    )


def markdown_row(cells: Iterable[object]) -> str:
    """Return a row of a Markdown table whose cells are Markdown already."""
    return "| " + " | ".join(map(str, cells)) + " |"


def markdown(value: object) -> str:
    """Return a value as one line of Markdown that shows it literally, without formatting."""
    return one_line(str(value)).translate(_ESCAPED)
