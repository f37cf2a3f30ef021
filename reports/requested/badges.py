"""Renders the verdict of a run as a badge: an SVG picture, or JSON for a service that draws it."""

import json
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from icecheck.findings.telling.finding_card import one_line
from icecheck.findings.verdict import Run

_LABEL = "Iceberg REST"
_COLOURS = {
    "conformant": "#17663a",
    "conformant-with-warnings": "#4c7a1e",
    "not-conformant": "#a3211f",
    "partial": "#7a4d00",
    "no-verdict": "#46515f",
}
_PADDING = 6
_HEIGHT = 20
_CHARACTER_WIDTH = 6.6
"""The mean width of a character of 11 pixels; the text is fitted to the width that is computed."""


@dataclass(frozen=True, slots=True)
class _Badge:
    """The two halves of a badge, and the colour of the second."""

    label: str
    message: str
    colour: str


def _badge(run: Run) -> _Badge:
    """Return the badge of a run: the version that was judged, and the verdict.

    A run that ended early or verified nothing is never green; expectations change nothing.
    """
    version = str(run.facts["spec"]["id"]).rpartition("/")[2]
    words = run.status.replace("-", " ")
    incomplete = "" if run.complete else " (incomplete)"
    return _Badge(f"{_LABEL} {one_line(version)}", words + incomplete, _COLOURS[run.status])


def svg(run: Run) -> str:
    """Return an SVG picture that needs nothing else; its title says what the run was."""
    badge = _badge(run)
    left, right = (_width(text) for text in (badge.label, badge.message))
    project = one_line(str(run.facts["target"]["implementation"]["project"]))
    title = f"{project}: {badge.label} {badge.message}, run {run.run_id} of {run.generated_at}"
    halves = [
        f'<rect width="{left}" height="{_HEIGHT}" fill="#3a434f"/>',
        f'<rect x="{left}" width="{right}" height="{_HEIGHT}" fill="{badge.colour}"/>',
        _text(badge.label, 0, left),
        _text(badge.message, left, right),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}" '
        f'role="img" aria-label={quoteattr(title)}>\n<title>{escape(title)}</title>\n'
        + "\n".join(halves)
        + "\n</svg>\n"
    )


def shields(run: Run) -> str:
    """Return the JSON that an endpoint badge of shields.io reads."""
    badge = _badge(run)
    document = {
        "schemaVersion": 1,
        "label": badge.label,
        "message": badge.message,
        "color": badge.colour,
        "isError": run.status == "not-conformant",
    }
    return json.dumps(document, indent=1) + "\n"


def _width(text: str) -> int:
    return round(len(text) * _CHARACTER_WIDTH) + 2 * _PADDING


def _text(text: str, left: int, width: int) -> str:
    return (
        f'<text x="{left + width / 2}" y="14" text-anchor="middle" fill="#fff" font-size="11" '
        f'font-family="Verdana, DejaVu Sans, sans-serif" textLength="{width - 2 * _PADDING}">'
        f"{escape(text)}</text>"
    )
