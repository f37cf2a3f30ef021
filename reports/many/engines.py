"""What works in Spark, of several runs side by side: a column for each Spark with its Iceberg."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from icecheck.findings.telling.finding_card import one_line
from icecheck.reports.many.lines import Entry, Line, in_order, odd_one_marked
from icecheck.reports.many.stored import NOT_RUN
from icecheck.reports.summary import markdown, markdown_row
from icecheck.reports.tables import WORDS
from icecheck.reports.templating import inline, template

KIND = "IcebergRestSparkMatrix"
BROKEN = "broken"
_ERROR = "error"
_JUDGED = frozenset({"works", "works-but", BROKEN})
_LEFT_MAX = 5
_TONES = {"works": "good", "works-but": "warn", BROKEN: "bad", _ERROR: "warn"}
_WORDS = {str(standing): words for standing, words in WORDS.items()} | {
    NOT_RUN: "not run",
    _ERROR: "the suite failed",
}
_RANK = {BROKEN: 0, _ERROR: 1, "works-but": 2, "works": 4, NOT_RUN: 5}
_RANK_OF_OTHERS = 3
_REASON_CHARACTERS_MAX = 300


@dataclass(frozen=True, slots=True)
class Engine:
    """One column: a Spark with its Iceberg, and the run.json of what it was seen to do.

    ``name`` is how the user calls it, ``versions`` what the run says of itself. ``page`` is the
    address of the run's own page, if there is one beside this. Without a ``document`` it could not
    be run, and ``trouble`` says why.
    """

    name: str
    document: Mapping[str, Any] | None
    page: str = ""
    trouble: str = ""

    @property
    def versions(self) -> str:
        """The versions of Spark and Iceberg, as the run recorded them."""
        if self.document is None:
            return ""
        return str(self.document["environment"].get("spark", ""))

    @property
    def workflows(self) -> Mapping[str, Mapping[str, Any]]:
        """Check id -> what run.json says of what Spark did in it."""
        if self.document is None:
            return {}
        own = (p for p in self.document["engine_profiles"] if p["id"] == "spark")
        return {row["id"]: row for profile in own for row in profile["workflows"]}

    @property
    def judged(self) -> bool:
        """Whether anything was seen of a statement: that it works, works but, or is broken."""
        rows = self.workflows.values()
        return any(row["status"] in _JUDGED and row["id"] not in self.errors for row in rows)

    @property
    def left(self) -> tuple[str, ...]:
        """The objects that the run could not remove from the catalog."""
        safety = {} if self.document is None else self.document.get("safety") or {}
        return tuple(map(str, safety.get("residue", ())))

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known of the column beside its lines."""
        nothing = self.document is not None and not self.trouble and not self.judged
        named = ", ".join(self.left[:_LEFT_MAX])
        return (
            *(["nothing was verified"] if nothing else []),
            *([f"left on the catalog: {named} ({len(self.left)} in all)"] if self.left else []),
        )

    @property
    def errors(self) -> frozenset[str]:
        """The ids of checks in which the suite itself failed."""
        checks = () if self.document is None else self.document["checks"]
        return frozenset(check["id"] for check in checks if check["outcome"] == _ERROR)


@dataclass(frozen=True, slots=True)
class Engines:
    """Several engines on one catalog: a line for each thing that a user of Spark does."""

    engines: tuple[Engine, ...]
    lines: tuple[Line, ...]

    @property
    def target(self) -> str:
        """The catalog, as the first run names it."""
        documents = [each.document for each in self.engines if each.document is not None]
        if not documents:
            return ""
        target = documents[0]["target"]
        implementation = target.get("implementation") or {}
        return str(implementation.get("project") or target.get("url"))

    def reason(self, at: int, line: Line) -> str:
        """Return why what a line says is not simply so in the column ``at``; "" if it works."""
        if line.entries[at].value in {"works", NOT_RUN}:
            return ""
        words = str(self.engines[at].workflows[line.id].get("reason", ""))
        return one_line(words, _REASON_CHARACTERS_MAX)

    def count(self, at: int, value: str) -> int:
        """Return how many lines have a value in the column ``at``."""
        return sum(line.entries[at].value == value for line in self.lines)

    def others(self, at: int) -> str:
        """Return how many lines say anything else in the column ``at``, in words."""
        entries = [line.entries[at] for line in self.lines]
        counts = Counter(entry.words for entry in entries if entry.value not in _JUDGED)
        return ", ".join(f"{count} {words}" for words, count in counts.items())


def engines_side_by_side(engines: Sequence[Engine]) -> Engines:
    """Return what works in which engine: first what is broken in some, then what works but, or not.

    Lines that stand alike are in the order of the first run that has them.
    """
    titles: dict[str, str] = {}
    for engine in engines:
        for id_, row in engine.workflows.items():
            titles.setdefault(id_, row["statement"])
    lines = []
    for id_ in in_order(engine.workflows for engine in engines):
        entries = tuple(_entry(engine, id_) for engine in engines)
        lines.append(Line(id_, titles[id_], "", _with_odd_one(engines, entries)))
    lines.sort(key=lambda line: min(_RANK.get(e.value, _RANK_OF_OTHERS) for e in line.entries))
    return Engines(tuple(engines), tuple(lines))


def _with_odd_one(engines: Sequence[Engine], entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Mark the one entry that differs, unless it does because its engine could not be run."""
    marked = odd_one_marked(entries)
    return tuple(
        entry if engine.document is None else other
        for engine, entry, other in zip(engines, entries, marked, strict=True)
    )


def _entry(engine: Engine, id_: str) -> Entry:
    row = engine.workflows.get(id_)
    value = NOT_RUN if row is None else str(row["status"])
    if id_ in engine.errors:  # it says nothing of Spark
        value = _ERROR
    return Entry(value, _WORDS.get(value, value), _TONES.get(value, ""))


def as_html(table: Engines) -> str:
    """Return one page that needs nothing else, readable without script, in light and dark."""
    return template("engines.html").render(
        table=table, style=inline("style.css"), title=_title(table), broken=BROKEN
    )


def _title(table: Engines) -> str:
    count = len(table.engines)
    return f"What works in {count} Spark{'s' * (count != 1)}"


def as_markdown(table: Engines) -> str:
    """Return the table and the reasons as Markdown; words of catalogs are escaped."""
    head = ["", *(markdown(each.versions or each.name) for each in table.engines)]
    lines = [f"## {_title(table)}", "", markdown_row(head), markdown_row(["---"] * len(head))]
    for line in table.lines:
        cells = (markdown(entry.words) for entry in line.entries)
        lines.append(markdown_row([markdown(line.title), *cells]))
    told = [
        f"- {markdown(each.name)}: {markdown(words)}"
        for each in table.engines
        for words in (each.trouble, *each.notes)
        if words
    ]
    told += [
        f"- {markdown(engine.name)}, {markdown(line.title)}: {markdown(words)}"
        for line in table.lines
        for at, engine in enumerate(table.engines)
        if (words := table.reason(at, line))
    ]
    return "\n".join([*lines, *([""] if told else []), *told]) + "\n"


def as_json(table: Engines) -> str:
    """Return one JSON object: the engines, and the status of every line in their order."""
    document = {
        "kind": KIND,
        "engines": [
            {
                "name": each.name,
                "versions": each.versions,
                "trouble": each.trouble,
                "notes": [*each.notes],
            }
            for each in table.engines
        ],
        "statements": {
            line.id: {
                "title": line.title,
                "values": [entry.value for entry in line.entries],
                "reasons": [table.reason(at, line) for at in range(len(table.engines))],
            }
            for line in table.lines
        },
    }
    return json.dumps(document, indent=1) + "\n"


RENDERINGS: Mapping[str, Callable[[Engines], str]] = {
    "html": as_html,
    "markdown": as_markdown,
    "json": as_json,
}
"""The formats of the table, by name."""
