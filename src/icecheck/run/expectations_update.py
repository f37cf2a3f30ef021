"""Updates a file of expectations to fit a run: what fails now becomes a known failure.

Only the entries that have to change are touched; every other character of the file stays.
"""

import re
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from icecheck.findings.expectations import BLOCKED, Selection, failures_of
from icecheck.findings.expected_failures import (
    EntryFailure,
    EntryResult,
    Expectation,
    ExpectationKind,
    FailedEntry,
)
from icecheck.findings.telling.finding_card import one_line
from icecheck.findings.verdict import Level, Outcome, Run, Verdict
from icecheck.targets.settings_file import TABLE
from icecheck.targets.target import UsageError

_HEAD = re.compile(rf"""\s*\[\[\s*["']?{TABLE}["']?\s*\]\]""")
_OTHER_HEAD = re.compile(rf"""\s*\[\[?\s*(?!["']?{TABLE}["']?\s*\.)[A-Za-z0-9"'_-]""")
_LINE_END = re.compile(r"\r?\n")
_GLOB_SIGNS = re.compile(r"([*?[])")
_REASON_CHARACTERS_MAX = 160
# The actual values of these symptoms are the same in every run; those of others may hold a name or
# a number of one run.
_LASTING = frozenset({"status", BLOCKED})


@dataclass(slots=True)
class Update:
    """The new text of a file, and how many entries were written, changed and removed in it.

    ``left`` are entries that still fail the gate: only a person can decide about them.
    """

    text: str
    added: int = 0
    changed: int = 0
    removed: int = 0
    left: int = 0

    @property
    def words(self) -> str:
        """The counts in one line."""
        done = f"{self.added} entries added, {self.changed} changed, {self.removed} removed"
        return f"{done}; {self.left} left to you" if self.left else done


@dataclass(slots=True)
class _Lines:
    """A file in pieces: the text between entries, and one piece of text per entry."""

    between: list[str]
    entries: list[str]
    added: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Put the pieces together again."""
        first, *rest = self.between
        parts = [first]
        for entry, after in zip(self.entries, rest, strict=True):
            parts += [entry, after]
        text = "".join(parts)
        newline = "\r\n" if "\r\n" in text else "\n"
        for entry in self.added:
            text += _LINE_END.sub(newline, f"{_gap(text)}{entry}")
        return text


def refusal_of(run: Run) -> str | None:
    """Return why a run cannot update the file; None if it can."""
    if not run.complete:
        return f"the run is incomplete ({run.exit_reason})"
    if not any(v.outcome in {Outcome.PASS, Outcome.FAIL} for v in run.verdicts):
        return "the run verified nothing"
    return None


def update(text: str, run: Run, selection: Selection, known: Collection[str]) -> Update:
    """Return the text with entries that fit a complete run to which the present ones were applied.

    ``known`` are the ids of all checks: an entry is left as it is if the run judged only some of
    its checks. An expired entry is left too, because only a person may renew it.
    """
    file = run.expectations.file
    pieces = _in_pieces(text, len(file.entries) if file else 0)
    result = Update("")
    verdicts = {v.check: v for v in run.verdicts}
    for unmet in run.expectations.unmet:
        at = unmet.entry.number - 1
        failing = [verdicts[c] for c in _as_expected(run, unmet.entry)]
        match unmet.kind:
            case EntryFailure.FAILS_DIFFERENTLY:
                failing += [verdicts[c] for c in unmet.checks]
                pieces.entries[at] = _edited(pieces.entries[at], fails_with=_ways(failing))
                result.changed += 1
            case EntryFailure.STALE if _judged_in_full(unmet.entry, selection, known):
                _replace_stale(pieces, unmet, [v.check for v in failing], result)
            case _:
                result.left += 1
    for verdict in _unexplained(run):
        pieces.added.append(_written(verdict))
        result.added += 1
    result.text = pieces.text()
    return result


def _as_expected(run: Run, entry: Expectation) -> list[str]:
    """Return the checks that an entry excuses because they failed."""
    failing = {v.check for v in run.verdicts if v.outcome in {Outcome.FAIL, Outcome.BLOCKED}}
    marks = [m for m in run.expectations.marks if m.entry is entry]
    return [m.check for m in marks if m.met is EntryResult.AS_EXPECTED and m.check in failing]


def _judged_in_full(entry: Expectation, selection: Selection, known: Collection[str]) -> bool:
    if entry.check is None:
        return selection.whole
    return selection.checks.issuperset(c for c in known if entry.names(c, None))


def _replace_stale(
    pieces: _Lines, unmet: FailedEntry, failing: Sequence[str], result: Update
) -> None:
    """Narrow an entry to the checks that still fail; remove it if there are none."""
    at = unmet.entry.number - 1
    original = pieces.entries[at]
    if not failing:
        pieces.entries[at] = ""
        if not pieces.between[at] or pieces.between[at].endswith("\n\n"):
            pieces.between[at + 1] = pieces.between[at + 1].lstrip("\n")
        result.removed += 1
        return
    first, *others = failing
    pieces.entries[at] = _edited(original, check=_literal(first))
    pieces.added += [_edited(original, check=_literal(check)) for check in others]
    result.changed += 1
    result.added += len(others)


def _unexplained(run: Run) -> list[Verdict]:
    """Return the verdicts that fail the gate and that no entry names.

    Checks without a usable answer are left out: they are no known failures.
    """
    marked = {m.check for m in run.expectations.marks}
    expired = {
        c for u in run.expectations.unmet if u.kind is EntryFailure.EXPIRED for c in u.checks
    }
    return [
        v
        for v in run.verdicts
        if v.level is Level.MUST
        and v.gating
        and (v.outcome is Outcome.FAIL or (v.outcome is Outcome.BLOCKED and not v.unanswered))
        and v.check not in marked | expired
    ]


# Text


def _in_pieces(text: str, entries: int) -> _Lines:
    """Cut a text before and after each entry.

    Raises UsageError when the entries cannot be located.
    """
    lines = text.splitlines(keepends=True)
    starts = [i for i, line in enumerate(lines) if _HEAD.match(line)]
    pieces = _Lines(between=[], entries=[])
    position = 0
    for start in starts:
        end = next((i for i in range(start + 1, len(lines)) if _is_head(lines[i])), len(lines))
        while end > start + 1 and _says_nothing(lines[end - 1]):
            end -= 1
        pieces.between.append("".join(lines[position:start]))
        pieces.entries.append("".join(lines[start:end]))
        position = end
    pieces.between.append("".join(lines[position:]))
    if len(starts) != entries or not all(map(_is_one_entry, pieces.entries)):
        raise UsageError(f"write every expectation under a line [[{TABLE}]] to have them updated")
    return pieces


def _is_head(line: str) -> bool:
    return bool(_HEAD.match(line) or _OTHER_HEAD.match(line))


def _says_nothing(line: str) -> bool:
    # A comment before a header belongs to the part that the header begins.
    return not line.strip() or line.lstrip().startswith("#")


def _is_one_entry(piece: str) -> bool:
    try:
        document = tomllib.loads(piece)
    except tomllib.TOMLDecodeError:
        return False
    return list(document) == [TABLE] and len(document[TABLE]) == 1


def _edited(piece: str, **members: Any) -> str:
    """Return an entry's text with members set; comments and the order of its lines stay."""
    import tomlkit

    document = tomlkit.parse(piece)
    entry = document[TABLE][0]
    if "check" in members:
        entry.pop("cause", None)
    for key, value in members.items():
        entry[key] = value
    return tomlkit.dumps(document)


def _written(verdict: Verdict) -> str:
    """Return a new entry; its reason asks for a person's words."""
    import tomlkit

    entry = tomlkit.table()
    entry["check"] = _literal(verdict.check)
    entry["kind"] = str(ExpectationKind.KNOWN_FAILURE)
    entry["fails_with"] = _ways([verdict])
    summary = one_line(verdict.summary, _REASON_CHARACTERS_MAX)
    entry["reason"] = f"not yet explained: {summary}"
    tables = tomlkit.aot()
    tables.append(entry)
    document = tomlkit.document()
    document[TABLE] = tables
    return tomlkit.dumps(document)


def _ways(verdicts: Sequence[Verdict]) -> Any:
    """Return the ways in which checks fail, as TOML: one table in a line, or a list of them."""
    import tomlkit

    shown = [failure for verdict in verdicts for failure in failures_of(verdict)]
    found = dict.fromkeys((s, actual if s in _LASTING else "") for s, actual in shown)
    ways = []
    for symptom, lasting in found:
        way = tomlkit.inline_table()
        way["symptom"] = _literal(symptom)
        if lasting:
            way["actual"] = _literal(lasting)
        ways.append(way)
    if len(ways) == 1:
        return ways[0]
    several = tomlkit.array()
    for way in ways:
        several.append(way)
    return several.multiline(True)


def _literal(text: str) -> str:
    """Return a glob that matches only this text."""
    return _GLOB_SIGNS.sub(r"[\1]", text)


def _gap(text: str) -> str:
    """Return the text between two entries: one empty line."""
    if not text:
        return ""
    return "\n" if text.endswith("\n") else "\n\n"
