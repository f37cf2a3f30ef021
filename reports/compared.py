"""Renders the comparison of two runs: text for a terminal, Markdown for a pull request, JSON."""

import json
from collections.abc import Iterator
from typing import Any

from icecheck.findings.comparison import CATEGORIES, Category, Change, Comparison
from icecheck.findings.telling.finding_card import one_line
from icecheck.reports.summary import markdown, markdown_row

_ROWS_MAX = 100
_SUMMARY_CHARACTERS_MAX = 160


def sentence(comparison: Comparison) -> str:
    """Return the outcome in one sentence."""
    counts = {c: len(comparison.of(c)) for c in Category}
    names = {c: c.replace("-", " ") for c in Category}
    names[Category.REGRESSION] += "s" * (counts[Category.REGRESSION] != 1)
    parts = [f"{many} {names[category]}" for category, many in counts.items() if many]
    moved = ", ".join([*parts, f"{comparison.unchanged} unchanged"])
    lost = len(comparison.lost)
    if lost:
        return f"REGRESSION: {lost} {'check' if lost == 1 else 'checks'} lost ({moved})"
    if comparison.is_regression:
        return f"NOT KNOWN: the new run is incomplete ({moved})"
    return f"NO REGRESSION ({moved})"


def reasons(comparison: Comparison) -> str:
    """Return in one sentence what changed beside the outcomes, as far as the runs record it."""
    changed = [f"the {reason}" for reason in comparison.reasons]
    if changed:
        return f"{' and '.join(changed)} changed between the runs"
    if not comparison.changes:
        return "nothing that the runs record changed between them"
    return "neither the document, the suite nor what the server says of itself changed"


def as_text(comparison: Comparison) -> str:
    """Return plain lines, safe to print, ending with a newline."""
    return "\n".join([one_line(sentence(comparison)), *_text_lines(comparison), ""])


def _text_lines(comparison: Comparison) -> Iterator[str]:
    for name, document in (("old", comparison.old), ("new", comparison.new)):
        yield f"{name}: {one_line(_run(document))}"
    yield f"why: {reasons(comparison)}"
    yield from (f"note: {one_line(note)}" for note in comparison.notes)
    for category, meaning in CATEGORIES.items():
        changes = comparison.of(category)
        if not changes:
            continue
        yield f"{category} ({len(changes)}): {meaning}"
        for change in changes[:_ROWS_MAX]:
            said = f": {one_line(change.summary, _SUMMARY_CHARACTERS_MAX)}" * bool(change.summary)
            yield f"  {change.level:<7} {one_line(change.check)} ({_move(change)}){said}"
        yield from _left(changes)


def as_markdown(comparison: Comparison) -> str:
    """Return Markdown for a pull request; words of the catalog in it are escaped."""
    lines = [f"## {markdown(sentence(comparison))}", ""]
    lines += [
        f"- {name}: {markdown(_run(document))}"
        for name, document in (("old", comparison.old), ("new", comparison.new))
    ]
    lines.append(f"- why: {markdown(reasons(comparison))}")
    lines += [f"- note: {markdown(note)}" for note in comparison.notes]
    for category, meaning in CATEGORIES.items():
        changes = comparison.of(category)
        if not changes:
            continue
        lines += ["", f"### {category.replace('-', ' ').capitalize()}: {len(changes)}", ""]
        lines += [f"{meaning}.", "", "| level | check | moved | now |", "| --- | --- | --- | --- |"]
        lines += [_row(change) for change in changes[:_ROWS_MAX]]
        lines += ["", *(line.strip() for line in _left(changes))]
    return "\n".join(lines).rstrip("\n") + "\n"


def as_json(comparison: Comparison) -> str:
    """Return one JSON object: the runs, the counts, the notes and every change."""
    return json.dumps(document(comparison), indent=1) + "\n"


def document(comparison: Comparison) -> dict[str, Any]:
    """Return as JSON values the runs, the counts, the notes and every change."""
    return {
        "regression": comparison.is_regression,
        "old": _identity(comparison.old),
        "new": _identity(comparison.new),
        "changed": list(map(str, comparison.reasons)),
        "notes": list(comparison.notes),
        "unchanged": comparison.unchanged,
        "counts": {str(c): len(comparison.of(c)) for c in Category},
        "changes": [
            {
                "check": c.check,
                "title": c.title,
                "level": c.level,
                "category": str(c.category),
                "old": c.old,
                "new": c.new,
                "lost": c.lost,
                "summary": c.summary,
            }
            for category in Category
            for c in comparison.of(category)
        ],
    }


def _row(change: Change) -> str:
    said = one_line(change.summary or change.title, _SUMMARY_CHARACTERS_MAX)
    cells = (change.level, markdown(change.check), _move(change), markdown(said))
    return markdown_row(cells)


def _left(changes: tuple[Change, ...]) -> Iterator[str]:
    if len(changes) > _ROWS_MAX:
        yield f"  … and {len(changes) - _ROWS_MAX} more: see --format json"


def _move(change: Change) -> str:
    return f"{one_line(change.old)} → {one_line(change.new)}"


def _identity(document: Any) -> dict[str, Any]:
    return {
        "run_id": document["run_id"],
        "generated_at": document.get("generated_at"),
        "complete": document["complete"],
        "verdict": document["verdict"].get("status"),
        "suite": document["suite"].get("version"),
        "spec": document["spec"]["id"],
        "url": document["target"].get("url"),
    }


def _run(document: Any) -> str:
    facts = _identity(document)
    return (
        f"run {facts['run_id']} of {facts['generated_at']}, {facts['url']}: {facts['verdict']} "
        f"[{facts['spec']}, icecheck {facts['suite']}]"
    )
