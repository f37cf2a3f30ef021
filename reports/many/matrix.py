"""Catalogs side by side: verdicts, profiles, findings, and the requirements that some miss."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from icecheck.contract import SPEC_VERSIONS, Level, Requirement, load
from icecheck.reports.many.lines import Entry, Line, in_order, odd_one_marked
from icecheck.reports.many.stored import NOT_RUN, StoredRun
from icecheck.reports.summary import markdown, markdown_row
from icecheck.reports.templating import inline, template

KIND = "IcebergRestConformanceMatrix"
_FINDINGS_MAX = 200
_UNKNOWN_PROFILE = "of no profile"
_GOOD = frozenset({"pass", "skip", NOT_RUN})
_TONES = {"pass": "good", "fail": "bad", "blocked": "warn", "error": "warn"}
_SIGNS = {"pass": "✓", "fail": "✗", "blocked": "⊘", "error": "!", "skip": "-", NOT_RUN: "·"}


@dataclass(frozen=True, slots=True)
class Section:
    """The requirements of one profile: those that some run misses, and how many none misses."""

    profile: str
    lines: tuple[Line, ...]
    held: int


@dataclass(frozen=True, slots=True)
class Matrix:
    """Several runs side by side, each a column."""

    runs: tuple[StoredRun, ...]
    verdicts: Line
    profiles: tuple[Line, ...]
    findings: tuple[Line, ...]
    findings_left: int
    sections: tuple[Section, ...]


def matrix(runs: Sequence[StoredRun], register: Mapping[str, Requirement]) -> Matrix:
    """Return the matrix of these runs; ``register`` has the requirements of their documents."""
    findings = _findings(runs)
    return Matrix(
        runs=tuple(runs),
        verdicts=Line(
            "verdict", "Verdict", "", odd_one_marked(tuple(_verdict(run) for run in runs))
        ),
        profiles=tuple(_profile(id_, runs) for id_ in in_order(run.profiles for run in runs)),
        findings=findings[:_FINDINGS_MAX],
        findings_left=max(0, len(findings) - _FINDINGS_MAX),
        sections=tuple(_sections(runs, register)),
    )


def register_of(runs: Iterable[StoredRun]) -> Mapping[str, Requirement]:
    """Return id -> requirement, of the versions of the contract that runs were judged by."""
    versions = dict.fromkeys(run.judged_by for run in runs)
    known = [load(version) for version in versions if version in SPEC_VERSIONS]
    return {id_: row for contract in known for id_, row in contract.requirements.items()}


def _verdict(run: StoredRun) -> Entry:
    good = run.status in {"conformant", "conformant-with-warnings"} and run.complete
    bad = run.status == "not-conformant"
    return Entry(run.status, run.verdict, "good" if good else "bad" if bad else "open")


def _profile(id_: str, runs: Sequence[StoredRun]) -> Line:
    return Line(id_, id_, "", odd_one_marked(tuple(_of_profile(run, id_) for run in runs)))


def _of_profile(run: StoredRun, id_: str) -> Entry:
    profile = run.profiles.get(id_)
    if profile is None:
        return Entry(NOT_RUN, "not in this report", "")
    tones = {"conformant": "good", "not-conformant": "bad", "not-claimed": ""}
    return Entry(profile.status, profile.words, tones.get(profile.status, "warn"))


def _findings(runs: Sequence[StoredRun]) -> tuple[Line, ...]:
    """Return a line for each finding, those of most runs first, a MUST before a SHOULD."""
    causes = {cause.id: cause for run in runs for cause in run.causes}
    has = [{cause.id: cause for cause in run.causes} for run in runs]
    lines = []
    for id_, cause in causes.items():
        entries = tuple(
            Entry(str(mine[id_].level), str(mine[id_].level), _tone_of(mine[id_].level))
            if id_ in mine
            else Entry("", "", "")
            for mine in has
        )
        lines.append(Line(id_, cause.title, str(cause.level), entries))
    levels = [str(level) for level in Level]
    lines.sort(key=lambda line: (levels.index(line.level), -_many(line), line.id))
    return tuple(lines)


def _many(line: Line) -> int:
    return sum(bool(entry.value) for entry in line.entries)


def _tone_of(level: Level) -> str:
    return "bad" if level is Level.MUST else "warn"


def _sections(runs: Sequence[StoredRun], register: Mapping[str, Requirement]) -> Iterable[Section]:
    profile_of: dict[str, str] = {}
    for run in runs:
        profile_of |= {id_: name for id_, name in run.profile_of.items() if name}
    by_profile: dict[str, list[str]] = {}
    for id_ in in_order(run.results for run in runs):
        known = register.get(id_)
        profile = profile_of.get(id_) or (known.profile if known else _UNKNOWN_PROFILE)
        by_profile.setdefault(profile, []).append(id_)
    for profile, ids in by_profile.items():
        missed = [id_ for id_ in ids if not _GOOD.issuperset(_results(id_, runs))]
        lines = tuple(_requirement(id_, runs, register) for id_ in sorted(missed))
        yield Section(profile, lines, len(ids) - len(missed))


def _results(id_: str, runs: Sequence[StoredRun]) -> list[str]:
    return [run.results.get(id_, NOT_RUN) for run in runs]


def _requirement(id_: str, runs: Sequence[StoredRun], register: Mapping[str, Requirement]) -> Line:
    levels = [run.levels[id_] for run in runs if id_ in run.levels]
    level = min(levels, key=tuple(Level).index)
    results = _results(id_, runs)
    entries = tuple(Entry(each, each.replace("-", " "), _tone(each, level)) for each in results)
    known = register.get(id_)
    return Line(id_, known.text if known else id_, str(level), odd_one_marked(entries))


def _tone(result: str, level: Level) -> str:
    return "warn" if result == "fail" and level is not Level.MUST else _TONES.get(result, "")


def as_html(table: Matrix) -> str:
    """Return one page that needs nothing else, readable without script, in light and dark."""
    return template("matrix.html").render(
        matrix=table, style=inline("style.css"), signs=_SIGNS, title=_title(table)
    )


def _title(table: Matrix) -> str:
    return f"{len(table.runs)} runs side by side"


def as_markdown(table: Matrix) -> str:
    """Return the verdicts, profiles and findings as Markdown; words of catalogs are escaped."""
    head = ["", *(markdown(run.label) for run in table.runs)]
    rule = markdown_row(["---"] * len(head))
    lines = [f"## {_title(table)}", "", markdown_row(head), rule]
    lines += [_entries(line) for line in (table.verdicts, *table.profiles)]
    if table.findings:
        lines += ["", "### Findings", "", markdown_row(["finding", *head[1:]]), rule]
        lines += [_entries(line) for line in table.findings]
    if table.findings_left:
        lines += ["", f"… and {table.findings_left} more: see the page."]
    return "\n".join(lines) + "\n"


def _entries(line: Line) -> str:
    return markdown_row([markdown(line.title), *(markdown(entry.words) for entry in line.entries)])


def as_json(table: Matrix) -> str:
    """Return one JSON object: the runs, and the value of every field by run in their order."""
    document = {
        "kind": KIND,
        "runs": [run.identity for run in table.runs],
        "verdicts": _values(table.verdicts),
        "profiles": {line.id: _values(line) for line in table.profiles},
        "findings": {line.id: _told(line) for line in table.findings},
        "requirements": {
            line.id: _told(line) | {"profile": section.profile}
            for section in table.sections
            for line in section.lines
        },
        "held_by_all": {section.profile: section.held for section in table.sections},
    }
    return json.dumps(document, indent=1) + "\n"


def _told(line: Line) -> dict[str, object]:
    return {"title": line.title, "level": line.level, "values": _values(line)}


def _values(line: Line) -> list[str]:
    return [entry.value for entry in line.entries]


RENDERINGS: Mapping[str, Callable[[Matrix], str]] = {
    "html": as_html,
    "markdown": as_markdown,
    "json": as_json,
}
"""The formats of a matrix, by name."""
