"""Reads a user's known failures (expectations) and compares a finished run with them.

The verdict never changes. An entry changes the gate and marks the checks that it names.
"""

import hashlib
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from icecheck.findings.conclusion import NO_ROOM, conclude
from icecheck.findings.expected_failures import (
    EntryFailure,
    EntryMatch,
    EntryResult,
    Expectation,
    ExpectationFile,
    ExpectationKind,
    Expectations,
    FailedEntry,
    FailsWith,
)
from icecheck.findings.verdict import Outcome, Run, Verdict
from icecheck.targets.settings_file import TABLE
from icecheck.targets.target import UsageError

BLOCKED = "blocked"
"""The symptom of a check that could not be judged, as ``fails_with`` names it."""

_KEYS = ("check", "cause", "kind", "fails_with", "reason", "issue", "expires")
_WAYS = ("symptom", "actual")
_FAILING = frozenset({Outcome.FAIL, Outcome.BLOCKED})


@dataclass(frozen=True, slots=True)
class Selection:
    """The checks that a run set out to judge: an entry for others is neither stale nor expired.

    ``checks`` are ids; ``whole`` says that no check was left out, so that all causes are known.
    """

    checks: frozenset[str]
    whole: bool


# Reading


def parse(text: str, path: str) -> ExpectationFile:
    """Read the entries of a file's text.

    Raises UsageError that names the file, the line and what is wrong.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: no valid TOML: {error}") from None
    _refuse_misspelt_table(document, path)
    rows = document.get(TABLE, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UsageError(f"{path}: write each expectation as a table of its own, [[{TABLE}]]")
    places = _Places(path, text, len(rows))
    entries = tuple(_entry(row, number, places) for number, row in enumerate(rows, 1))
    _refuse_duplicates(entries, places)
    sha256 = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return ExpectationFile(path, f"sha256:{sha256}", entries)


def refuse_unknown_checks(file: ExpectationFile, known: Collection[str]) -> None:
    """Raise UsageError for the first glob that matches no known check."""
    for entry in file.entries:
        glob = entry.check
        if glob is not None and not any(fnmatchcase(check, glob) for check in known):
            close = get_close_matches(glob, known, n=2, cutoff=0.7)
            hint = f"did you mean {' or '.join(close)}?" if close else "see `icecheck list`"
            raise UsageError(f"{file.path}: {entry.words}: no check matches {glob!r}: {hint}")


@dataclass(frozen=True, slots=True)
class _Places:
    """Line numbers of the entries and their keys in a file; TOML parsers do not return them."""

    path: str
    text: str
    entries: int

    def line(self, number: int, key: str | None = None) -> int:
        """Return the line of an entry or of a key in it; 0 when it is not known."""
        lines = self.text.splitlines()
        heads = [i for i, line in enumerate(lines, 1) if _HEAD.match(line)]
        if len(heads) != self.entries:
            return 0
        start = heads[number - 1]
        for at in range(start, len(lines)) if key is not None else ():
            if lines[at].lstrip().startswith("["):
                break
            if re.match(rf"""\s*["']?{re.escape(key or "")}["']?\s*[=.]""", lines[at]):
                return at + 1
        return start

    def refuse(self, number: int, key: str | None, words: str) -> UsageError:
        """Return the UsageError about one entry."""
        line = self.line(number, key)
        at = f" line {line}" if line else ""
        return UsageError(f"{self.path}{at}: expectation {number}: {words}")


_HEAD = re.compile(rf"""\s*\[\[\s*["']?{TABLE}["']?\s*\]\]""")


def _refuse_misspelt_table(document: Mapping[str, Any], path: str) -> None:
    for name in document:
        close = get_close_matches(name.lower(), [TABLE, "expect"], n=1, cutoff=0.75)
        if name != TABLE and close:
            raise UsageError(f"{path}: {name!r} is not read: write [[{TABLE}]]")


def _entry(row: Mapping[str, Any], number: int, places: _Places) -> Expectation:
    for key in row:
        if key not in _KEYS:
            known = ", ".join(_KEYS)
            raise places.refuse(number, key, f"unknown key {key!r}: use {known}")
    texts = {key: _text(row, key, number, places) for key in ("check", "cause", "reason", "issue")}
    if (texts["check"] is None) == (texts["cause"] is None):
        raise places.refuse(number, None, "name the checks with one of `check` and `cause`")
    if texts["reason"] is None:
        raise places.refuse(number, None, "`reason` is missing: say why in one line")
    return Expectation(
        kind=_kind(row, number, places),
        reason=texts["reason"],
        number=number,
        check=texts["check"],
        cause=texts["cause"],
        fails_with=_fails_with(row, number, places),
        issue=texts["issue"] or "",
        expires=_expires(row, number, places),
        line=places.line(number),
    )


def _text(row: Mapping[str, Any], key: str, number: int, places: _Places) -> str | None:
    if key not in row:
        return None
    value = row[key]
    if not isinstance(value, str) or not value.strip():
        raise places.refuse(number, key, f"`{key}` must be a text that is not empty")
    return value.strip()


def _kind(row: Mapping[str, Any], number: int, places: _Places) -> ExpectationKind:
    known = ", ".join(ExpectationKind)
    if "kind" not in row:
        raise places.refuse(number, None, f"`kind` is missing: use {known}")
    if row["kind"] not in list(ExpectationKind):
        raise places.refuse(number, "kind", f"unknown kind {row['kind']!r}: use {known}")
    return ExpectationKind(row["kind"])


def _fails_with(row: Mapping[str, Any], number: int, places: _Places) -> tuple[FailsWith, ...]:
    if "fails_with" not in row:
        return ()
    if row.get("kind") != ExpectationKind.KNOWN_FAILURE:
        words = f"`fails_with` says how a known failure fails: leave it out of kind {row['kind']!r}"
        raise places.refuse(number, "fails_with", words)
    given = row["fails_with"]
    ways = given if isinstance(given, list) else [given]
    if not ways or not all(isinstance(way, dict) and _is_way(way) for way in ways):
        words = '`fails_with` is a table (or several in a list) like { symptom = "status", '
        raise places.refuse(number, "fails_with", words + 'actual = "500" }, one key at least')
    return tuple(FailsWith(**way) for way in ways)


def _is_way(way: Mapping[str, Any]) -> bool:
    return bool(way) and all(k in _WAYS and isinstance(v, str) and v for k, v in way.items())


def _expires(row: Mapping[str, Any], number: int, places: _Places) -> date | None:
    given = row.get("expires")
    # A datetime is a date too in Python; at which zone's midnight it ends would be a guess.
    if given is None or (isinstance(given, date) and not isinstance(given, datetime)):
        return given
    if isinstance(given, str):
        try:
            return date.fromisoformat(given)
        except ValueError:
            pass
    words = f"`expires` is no date: {given!s:.40}; write it like 2027-02-01"
    raise places.refuse(number, "expires", words)


def _refuse_duplicates(entries: Sequence[Expectation], places: _Places) -> None:
    seen: dict[tuple[str | None, str | None], Expectation] = {}
    for entry in entries:
        first = seen.setdefault((entry.check, entry.cause), entry)
        if first is not entry:
            words = f"names the same as {first.words}: join them (`fails_with` takes a list)"
            raise places.refuse(entry.number, None, words)


# Comparing


def apply(run: Run, file: ExpectationFile, selection: Selection) -> Run:
    """Return the run with its gate concluded again and its checks marked; nothing else changes.

    For each check the first entry that names it and has not expired on the day of the run decides.
    """
    today = date.fromisoformat(run.generated_at[:10])
    causes = _cause_ids(run)
    lasting = in_force(file, today)
    marks = []
    for verdict in run.verdicts:
        entry = entry_for(verdict.check, causes.get(verdict.check), lasting)
        if entry is not None:
            met = result_of_entry(entry, verdict, selected=verdict.check in selection.checks)
            marks.append(EntryMatch(verdict.check, entry, met))
    found = (
        _unmet(entry, [m for m in marks if m.entry is entry], run, lasting, selection)
        if entry in lasting
        else _expired(entry, run, causes, selection)
        for entry in file.entries
    )
    expectations = Expectations(file, tuple(marks), tuple(u for u in found if u is not None))
    conclusion = conclude(
        run.verdicts,
        run.profiles,
        run.causes,
        complete=run.complete or run.tripped,
        residue=bool(run.facts["safety"]["residue"]),
        tripped=run.tripped,
        expectations=expectations,
    )
    if run.exit_reason == NO_ROOM:
        return replace(run, expectations=expectations)
    return replace(
        run,
        exit_code=conclusion.exit_code,
        exit_reason=conclusion.exit_reason,
        expectations=expectations,
    )


def entry_for(check: str, cause: str | None, entries: Sequence[Expectation]) -> Expectation | None:
    """Return the first entry that names a check or its cause; None if there is none."""
    return next((e for e in entries if e.names(check, cause)), None)


def result_of_entry(entry: Expectation, verdict: Verdict, *, selected: bool = True) -> EntryResult:
    """Return how a verdict compares with the entry that names it.

    A check that could not be judged for want of a usable answer is no known failure, unless
    ``fails_with`` names that.
    """
    failing = verdict.outcome in _FAILING
    match entry.kind:
        case ExpectationKind.WAIVED if verdict.outcome is not Outcome.SKIP:
            return EntryResult.AS_EXPECTED
        case ExpectationKind.FLAKY if failing or verdict.outcome is Outcome.PASS:
            return EntryResult.AS_EXPECTED
        case ExpectationKind.KNOWN_FAILURE if failing:
            ways = failures_of(verdict)
            if entry.fails_with and all(any(w.covers(*f) for w in entry.fails_with) for f in ways):
                return EntryResult.AS_EXPECTED
            if verdict.unanswered:
                return EntryResult.NOT_JUDGED
            return EntryResult.FAILS_DIFFERENTLY if entry.fails_with else EntryResult.AS_EXPECTED
        case ExpectationKind.KNOWN_FAILURE if verdict.outcome is Outcome.PASS and selected:
            return EntryResult.PASSES
        case _:
            return EntryResult.NOT_JUDGED


def is_foreseen(verdict: Verdict, entries: Sequence[Expectation]) -> bool:
    """Return whether an entry that names the check by its id excuses its outcome."""
    entry = entry_for(verdict.check, None, entries)
    return entry is not None and result_of_entry(entry, verdict) is EntryResult.AS_EXPECTED


def in_force(file: ExpectationFile | None, today: date) -> tuple[Expectation, ...]:
    """Return the entries that have not expired."""
    return tuple(e for e in file.entries if not e.expired_on(today)) if file else ()


def failures_of(verdict: Verdict) -> tuple[tuple[str, str], ...]:
    """Return the symptom and the actual value of every finding of a failing or blocked check."""
    if verdict.outcome is Outcome.BLOCKED:
        return tuple((BLOCKED, by) for by in verdict.blocked_by)
    return tuple((f.symptom.slug, f.actual) for f in verdict.findings)


def _cause_ids(run: Run) -> dict[str, str]:
    return {check: cause.id for cause in run.causes for check in cause.checks}


def _expired(
    entry: Expectation, run: Run, causes: Mapping[str, str], selection: Selection
) -> FailedEntry | None:
    named = [v for v in run.verdicts if entry.names(v.check, causes.get(v.check))]
    if not named and not _in_selection(entry, selection):
        return None
    failing = tuple(v.check for v in named if v.outcome in _FAILING)
    todo = "it still fails: set a new date or repair it" if failing else "remove it"
    return FailedEntry(EntryFailure.EXPIRED, entry, failing, f"expired on {entry.expires}; {todo}")


def _unmet(
    entry: Expectation,
    marks: Sequence[EntryMatch],
    run: Run,
    lasting: Sequence[Expectation],
    selection: Selection,
) -> FailedEntry | None:
    """Return what is wrong with an entry that is in force, the most severe problem first."""
    differing = tuple(m.check for m in marks if m.met is EntryResult.FAILS_DIFFERENTLY)
    passing = tuple(m.check for m in marks if m.met is EntryResult.PASSES)
    if differing:
        ways = failures_of(next(v for v in run.verdicts if v.check == differing[0]))
        said = "; ".join(f"{symptom}, got {actual}" for symptom, actual in ways)
        why = f"fails in another way than `fails_with` says: {said}"
        return FailedEntry(EntryFailure.FAILS_DIFFERENTLY, entry, differing, why)
    if passing:
        rest = any(m.met is EntryResult.AS_EXPECTED for m in marks)
        todo = "name only those that fail" if rest else "remove the entry"
        return FailedEntry(EntryFailure.STALE, entry, passing, f"known to fail, but passes: {todo}")
    if marks or not run.complete or not _in_selection(entry, selection):
        return None
    causes = _cause_ids(run)
    taken = [v.check for v in run.verdicts if entry.names(v.check, causes.get(v.check))]
    if entry.kind is ExpectationKind.FLAKY and any(
        entry_for(check, None, lasting) is entry for check in taken
    ):
        return None  # an earlier entry has it by the cause that it failed for this time
    why = "earlier entries name all its checks" if taken else "it matches nothing in this run"
    return FailedEntry(EntryFailure.STALE, entry, (), f"{why}: remove it")


def _in_selection(entry: Expectation, selection: Selection) -> bool:
    if entry.check is None:
        return selection.whole
    return any(fnmatchcase(check, entry.check) for check in selection.checks)
