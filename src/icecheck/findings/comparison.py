"""Compares two runs of the same suite check by check: what broke, what was repaired, what is new.

Both are run.json documents, so that a run of last year can be compared with one of today.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from icecheck.findings.telling.finding_card import one_line
from icecheck.targets.secret_marks import without_marks
from icecheck.targets.target import UsageError

_KIND = "IcebergRestConformanceReport"
_JUDGED = frozenset({"pass", "fail"})
_BAD = frozenset({"fail", "blocked"})
_OUTCOMES = _BAD | {"pass", "skip", "error"}
# Ids, times and counters that differ from run to run.
_CHANCE = re.compile(r"[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4,}){1,4}|[0-9]{5,}")
# These kinds of skips follow from what the catalog offers, the others from what the user asked.
_BY_THE_CATALOG = frozenset({"not-declared", "not-applicable"})
_FINGERPRINT = ("target", "fingerprint")
_CONFIG = (*_FINGERPRINT, "config_sha256")
_OF_A_REQUIREMENT = ("level", "text", "condition", "since", "status")
_SHORT = frozenset({"level", "status"})
_REQUIREMENTS_MAX = 20


class Category(StrEnum):
    """How a check's outcome moved from one run to the next."""

    REGRESSION = "regression"
    FAILS_DIFFERENTLY = "fails-differently"
    NEWLY_BLOCKED = "newly-blocked"
    NEWLY_SKIPPED = "newly-skipped"
    NEWLY_IN_ERROR = "newly-in-error"
    GONE = "gone"
    NEW = "new"
    FIXED = "fixed"


CATEGORIES: Mapping[Category, str] = {
    Category.REGRESSION: "Passed before, and fails now",
    Category.FAILS_DIFFERENTLY: "Fails in another way than before",
    Category.NEWLY_BLOCKED: "Cannot be judged any more: what it needs fails",
    Category.NEWLY_SKIPPED: "Is skipped, and was judged before",
    Category.NEWLY_IN_ERROR: "Ends in an error of the suite, and did not before",
    Category.GONE: "Is not in the new run",
    Category.NEW: "Was not judged in the old run",
    Category.FIXED: "Did not pass before, and passes now",
}
"""What each category means, in the order in which a report lists them."""


class Reason(StrEnum):
    """What can make the outcomes of two runs differ, beside the catalog's behaviour."""

    DOCUMENT = "document"
    SUITE = "suite"
    SERVER = "server"
    SELECTION = "selection"


_REASONS: Mapping[Reason, tuple[tuple[str, ...], ...]] = {
    Reason.DOCUMENT: (("spec", "sha256"),),
    Reason.SUITE: (("suite", "version"), ("suite", "requirement_set_sha256")),
    Reason.SERVER: (("target", "implementation"), _FINGERPRINT),
    Reason.SELECTION: (("config", "groups"), ("config", "globs"), ("config", "safety")),
}

_MOVES = {
    ("pass", "fail"): Category.REGRESSION,
    ("blocked", "fail"): Category.FAILS_DIFFERENTLY,
    ("fail", "pass"): Category.FIXED,
    ("blocked", "pass"): Category.FIXED,
    ("error", "pass"): Category.FIXED,
}
# Categories that do not depend on the old outcome.
_NOW = {
    "pass": Category.NEW,
    "fail": Category.NEW,
    "blocked": Category.NEWLY_BLOCKED,
    "skip": Category.NEWLY_SKIPPED,
    "error": Category.NEWLY_IN_ERROR,
}


@dataclass(frozen=True, slots=True)
class Change:
    """One check whose outcome changed; ``old`` and ``new`` are outcomes, or ``absent``.

    ``lost``: it passed before, and now it fails, is blocked or is no longer offered.
    """

    check: str
    title: str
    level: str
    category: Category
    old: str
    new: str
    summary: str
    lost: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two runs; ``notes`` are differences that explain or limit the rest."""

    old: Mapping[str, Any]
    new: Mapping[str, Any]
    changes: tuple[Change, ...]
    unchanged: int
    notes: tuple[str, ...]

    @property
    def lost(self) -> tuple[Change, ...]:
        """Changes of what worked in the old run and does not work in the new one."""
        return tuple(c for c in self.changes if c.lost)

    @property
    def is_regression(self) -> bool:
        """Whether something was lost, or the new run is incomplete and cannot tell."""
        return bool(self.lost) or not self.new["complete"]

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """What is recorded to have changed beside the outcomes, and may be why they did."""
        return tuple(
            reason
            for reason, paths in _REASONS.items()
            if any(_differ(self.old, self.new, path) for path in paths)
        )

    def of(self, category: Category) -> tuple[Change, ...]:
        """Return the changes of one category, required checks first."""
        order = {"must": 0, "should": 1, "interop": 2}
        mine = [c for c in self.changes if c.category is category]
        return tuple(sorted(mine, key=lambda c: order.get(c.level, 3)))


def read_run(content: bytes, name: str) -> dict[str, Any]:
    """Return a run.json document.

    Raises UsageError (one line) for anything else.
    """
    wrong = UsageError(f"{name} is no report of icecheck: name a run.json or its directory")
    try:
        document = _parsed(content)
    except (ValueError, RecursionError):
        raise wrong from None
    if not isinstance(document, dict) or document.get("kind") != _KIND:
        raise wrong
    version = str(document.get("report_version"))
    if version.partition(".")[0] != "1":
        raise UsageError(f"{name} is a report of format {version}; this icecheck reads 1.x")
    if not _has_what_is_compared(document):
        raise UsageError(f"{name} is a damaged report: run the suite again")
    return document


def _parsed(content: bytes) -> Any:
    try:
        return msgspec.json.decode(content)
    except msgspec.DecodeError:
        return json.loads(content)  # it takes half a surrogate pair, which a catalog may have sent


def _has_what_is_compared(document: Mapping[str, Any]) -> bool:
    blocks = ("suite", "spec", "target", "verdict", "config")
    checks = document.get("checks")
    return (
        all(isinstance(document.get(block), dict) for block in blocks)
        and isinstance(document["spec"].get("id"), str)
        and isinstance(document.get("complete"), bool)
        and isinstance(document.get("run_id"), str)
        and isinstance(checks, list)
        and all(
            isinstance(c, dict)
            and all(isinstance(c.get(k), str) for k in ("id", "title", "severity"))
            and c.get("outcome") in _OUTCOMES
            for c in checks
        )
    )


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> Comparison:
    """Compare two documents.

    Raises UsageError when they cannot be compared.
    """
    if old["spec"]["id"] != new["spec"]["id"]:
        raise UsageError(
            f"the runs were judged by different specifications, {old['spec']['id']} and "
            f"{new['spec']['id']}: compare runs of one"
        )
    before = {c["id"]: c for c in old["checks"]}
    after = {c["id"]: c for c in new["checks"]}
    in_both = [c for c in before if c in after]
    if not any(before[c]["outcome"] in _JUDGED and _bears(after[c]) for c in in_both):
        nothing = "the runs have no judged check in common: there is nothing to compare"
        raise UsageError("; ".join([nothing, *_endings(old, new)]))
    changes = []
    for check in (*before, *(c for c in after if c not in before)):
        change = _change(before.get(check), after.get(check), (old["run_id"], new["run_id"]))
        if change is not None:
            changes.append(change)
    return Comparison(
        old=old,
        new=new,
        changes=tuple(changes),
        unchanged=len(before.keys() | after.keys()) - len(changes),
        notes=tuple(_notes(old, new)),
    )


def has_judged(document: Mapping[str, Any]) -> bool:
    """Return whether a check of a run passed or failed."""
    return any(check["outcome"] in _JUDGED for check in document["checks"])


def _bears(check: Mapping[str, Any]) -> bool:
    """Return whether an outcome tells something about the catalog."""
    return check["outcome"] in _JUDGED | {"blocked"}


def _change(
    old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, runs: tuple[str, str]
) -> Change | None:
    category = _category(old, new, runs)
    shown = new or old
    if category is None or shown is None:
        return None
    return Change(
        check=shown["id"],
        title=shown["title"],
        level=shown["severity"],
        category=category,
        old=old["outcome"] if old else "absent",
        new=new["outcome"] if new else "absent",
        summary=str((new or {}).get("summary") or ""),
        lost=_is_lost(old, new),
    )


def _category(
    old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, runs: tuple[str, str]
) -> Category | None:
    if new is None:
        return Category.GONE
    if old is None:
        return Category.NEW
    was, now = old["outcome"], new["outcome"]
    if was != now:
        return _MOVES.get((was, now), _NOW[now])
    if was in _BAD and _ways(old, runs[0]) != _ways(new, runs[1]):
        return Category.FAILS_DIFFERENTLY
    return None


def _ways(check: Mapping[str, Any], run_id: str) -> Any:
    """Return how a check fails, without names, numbers and marks that differ from run to run."""
    if check["outcome"] == "blocked":
        return check.get("blocked_by")
    rows = check.get("assertions") or []
    return {
        (without_marks(str(a.get("id"))), _lasting(str(a.get("actual")), run_id))
        for a in rows
        if isinstance(a, dict)
    }


def _lasting(text: str, run_id: str) -> str:
    return _CHANCE.sub("…", without_marks(text).replace(run_id, "…"))


def _is_lost(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> bool:
    if old is None or new is None or old["outcome"] != "pass":
        return False
    if new["outcome"] == "skip":
        return (new.get("skip") or {}).get("kind") in _BY_THE_CATALOG
    return new["outcome"] in _BAD


def _notes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    notes = []
    for name, document in (("old", old), ("new", new)):
        if not document["complete"]:
            notes.append(f"the {name} run is incomplete: what it did not reach is not known")
    facts = (
        ("the suite", ("suite", "version")),
        ("the set of requirements", ("suite", "requirement_set_sha256")),
        ("the catalog's URL", ("target", "url")),
        ("the catalog's configuration", _CONFIG),
        ("the selection of groups", ("config", "groups")),
        ("the selection of checks", ("config", "globs")),
    )
    for words, path in facts:
        if _differ(old, new, path):
            was, now = _said(_at(old, path)), _said(_at(new, path))
            values = "" if "sha256" in path[-1] else f" ({was} → {now})"
            notes.append(f"{words} differs{values}")
    return [*notes, *_changed_requirements(old, new)]


def _changed_requirements(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return a note on each requirement that the suite demands otherwise in the new run."""
    before, after = ({r["id"]: r for r in each.get("requirements", ())} for each in (old, new))
    if not before or not after:
        return []  # a record holds no requirements
    notes = []
    for id_ in (*before, *(id_ for id_ in after if id_ not in before)):
        was, now = before.get(id_), after.get(id_)
        if was is None or now is None:
            notes.append(f"requirement {id_} is {'gone' if now is None else 'new'}")
            continue
        for member in _OF_A_REQUIREMENT:
            if was.get(member) != now.get(member):
                values = f" ({was[member]} → {now[member]})" if member in _SHORT else ""
                notes.append(f"requirement {id_}: its {member} differs{values}")
    more = len(notes) - _REQUIREMENTS_MAX
    left = [f"and {more} more requirements differ"] if more > 0 else []
    return [*notes[:_REQUIREMENTS_MAX], *left]


def _endings(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return for each run that ended early what its headline says of it."""
    return [
        f"the {name} run ended early: {one_line(str(document['verdict'].get('headline')))}"
        for name, document in (("old", old), ("new", new))
        if not document["complete"]
    ]


def _differ(old: Mapping[str, Any], new: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    """Return whether two runs record something else; one that got no config knows no server."""
    of_the_server = path[: len(_FINGERPRINT)] == _FINGERPRINT
    if of_the_server and None in {_at(old, _CONFIG), _at(new, _CONFIG)}:
        return False
    return bool(_at(old, path) != _at(new, path))


def _at(document: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = document
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _said(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "all"
    return str(value)
