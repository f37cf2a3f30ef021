"""Renders a run as annotations of a GitHub workflow: an error or a warning for each cause."""

from icecheck.findings.telling.finding_card import one_line
from icecheck.findings.verdict import Cause, Level, Run
from icecheck.reports.joined import expected_causes

_TITLE_CHARACTERS_MAX = 120
_CAUSES_MAX = 10
"""GitHub shows ten annotations of each kind for a step."""
_IN_A_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_A_TITLE = _IN_A_MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})


def render(run: Run) -> str:
    """Return workflow commands, one a line.

    A cause that gates is an error, any other a warning, and one that the user expects a notice. The
    last line has the verdict and the run's id: a notice, or an error if the run ended early.
    """
    known = expected_causes(run)
    rows = [(_kind(cause, expected=cause.id in known), cause) for cause in run.causes]
    lines = [
        _command(kind, cause.heading, cause.consequence or "; ".join(cause.hurts))
        for each in ("error", "warning", "notice")
        for kind, cause in [row for row in rows if row[0] == each][:_CAUSES_MAX]
    ]
    words = run.status.replace("-", " ").upper()
    gate = f"gate: {run.exit_reason} (exit {run.exit_code})"
    kind = "notice" if run.complete else "error"
    lines.append(_command(kind, f"icecheck: {words}", f"{run.headline}; {gate}; {run.run_id}"))
    return "\n".join(lines) + "\n"


def _kind(cause: Cause, *, expected: bool) -> str:
    if expected:
        return "notice"
    return "error" if cause.level is Level.MUST else "warning"


def _command(kind: str, title: str, message: str) -> str:
    head = one_line(title, _TITLE_CHARACTERS_MAX).translate(_IN_A_TITLE)
    return f"::{kind} title={head}::{one_line(message).translate(_IN_A_MESSAGE)}"
