"""The history of the document: its releases, their changes, and facts of later documents.

`releases.toml` is generated (dating.py): the first release of each operation, response, schema and
line. `changes.toml` is written by hand from the differences between the releases' documents:
demands that are older than their words, what a catalog had to do before, and additions of later
documents. A row there that names no requirement or no release raises when it is read.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from types import MappingProxyType
from typing import Any

from icecheck.contract.document import version_text
from icecheck.contract.model import Later, Lines, Ref, RefKind, Undated, UnknownRef

_KEYS = {
    "document": {"release", "sha256"},
    "dated": {"requirements", "since", "why"},
    "change": {"requirements", "release", "text"},
    "later": {"release", "kind", "name", "text"},
}
_KINDS = frozenset({"endpoint", "status", "member", "header", "parameter", "sentence"})


@dataclass(frozen=True, slots=True)
class Amendments:
    """Hand-written dates and changes of requirements: id -> release, and id -> what was different.

    ``faults`` are the rows that name no requirement, or a release that has no document.
    """

    since: Mapping[str, str]
    changed: Mapping[str, str]
    faults: tuple[str, ...]


@cache
def number(release: str) -> tuple[int, ...]:
    """Return a release as a tuple of numbers, for ordering."""
    return tuple(int(part) for part in release.split("."))


@cache
def is_newer(release: str, other: str) -> bool:
    """Return whether a release came after another, by number."""
    return number(release) > number(other)


def newest(found: Iterable[str]) -> str:
    """Return the latest of these releases."""
    return max(found, key=number)


@cache
def _dates(version: str) -> Mapping[str, Any]:
    try:
        return _toml(version, "releases.toml")
    except FileNotFoundError:
        tool = f"python -m tools.dating GIT_DIR DOCUMENT --version {version}"
        raise Undated(f"no releases.toml in the folder of {version}: `{tool}` writes it") from None


def _toml(version: str, name: str) -> dict[str, Any]:
    import tomllib  # here, because the mock imports the contract without it

    return tomllib.loads(version_text(version, name))


@cache
def releases(version: str) -> tuple[str, ...]:
    """Return the releases whose document differs from the one before, oldest first.

    This, and all that rests on dates, raises Undated where `releases.toml` is missing.
    """
    return tuple(_dates(version)["release"])


def may_have_changed(version: str, release: str) -> bool:
    """Return whether a release changed the document; any may have where no dates are written."""
    try:
        return release in releases(version)
    except Undated:  # a fault of its own
        return True


def first_release(version: str) -> str:
    """Return the first release that had the document."""
    return releases(version)[0]


def document_of(version: str, release: str) -> tuple[str, str] | None:
    """Return an older release's document: the release that brought it, and its structure's hash.

    None for the document of the version itself.
    """
    brought = newest(each for each in releases(version) if not is_newer(each, release))
    hashes = {row["release"]: row["sha256"] for row in _changes(version)["document"]}
    return (brought, hashes[brought]) if brought in hashes else None


@cache
def _named(version: str) -> Mapping[tuple[RefKind, str], str]:
    """Return (kind, name) -> first release, of operations, schemas, and responses added later."""
    kinds = {
        "operations": RefKind.OPERATION,
        "responses": RefKind.RESPONSE,
        "schemas": RefKind.SCHEMA,
    }
    return {
        (kind, name): release
        for release, new in _dates(version)["release"].items()
        for key, kind in kinds.items()
        for name in new.get(key, ())
    }


@cache
def _of_lines(version: str) -> Mapping[int, str]:
    """Return line -> first release, of the lines that the first release did not have."""
    found: dict[int, str] = {}
    for release, new in _dates(version)["release"].items():
        for span in new.get("lines", ()):
            first, _, last = span.partition("-")
            found |= dict.fromkeys(range(int(first), int(last or first) + 1), release)
    return found


def lines_not_released(version: str) -> int:
    """Return how many lines of the register's document no release's own file has."""
    first, last = _dates(version).get("not_in_release", (0, -1))
    return int(last - first + 1)


def released_lines(version: str, lines: Lines) -> Lines:
    """Return lines of the register's document as numbered in the release's own file."""
    first, last = _dates(version).get("not_in_release", (0, -1))
    start, end = (n - last + first - 1 if n > last else min(n, first - 1) for n in lines)
    return start, end


def since(version: str, refs: Collection[Ref], lines: Lines | None = None) -> str:
    """Return the first release whose document has all of these Refs, and the words of the lines.

    A member of a schema is as old as its lines. Raises UnknownRef when a Ref has no date.
    """
    found = {first_release(version)}
    found |= {_since(version, ref) for ref in refs if ref.kind is not RefKind.LINES}
    if lines is not None:
        of_lines = _of_lines(version)
        found |= {of_lines[n] for n in range(lines[0], lines[1] + 1) if n in of_lines}
    return newest(found)


def _since(version: str, ref: Ref) -> str:
    named = _named(version)
    names = [(ref.kind, ref.name)]
    if ref.kind is RefKind.RESPONSE:
        names.append((RefKind.OPERATION, ref.name.partition(".")[0]))
    for name in names:
        if name in named:
            return named[name]
    raise UnknownRef(f"{ref} has no release in releases.toml of {version}")


@cache
def later(version: str) -> tuple[Later, ...]:
    """Return the facts of documents after this version that a catalog's answers can show."""
    found = []
    for row in _changes(version)["later"]:
        if row["kind"] not in _KINDS or row["release"] in releases(version):
            raise UnknownRef(f"changes.toml: {row} is no later fact")
        found.append(Later(row["release"], row["kind"], row["name"], row["text"]))
    return tuple(found)


@cache
def _changes(version: str) -> Mapping[str, list[dict[str, Any]]]:
    tables = _toml(version, "changes.toml")
    for key, rows in tables.items():
        wrong = [row for row in rows if set(row) != _KEYS.get(key)]
        if wrong:
            raise ValueError(f"changes.toml [[{key}]]: {wrong[0]}")
    return tables


def amendments(version: str, ids: Collection[str]) -> Amendments:
    """Return the additions of `changes.toml` for these requirements."""
    faults: list[str] = []
    dates: dict[str, str] = {}
    words: dict[str, list[str]] = {}
    for row in _changes(version)["dated"]:
        dates |= dict.fromkeys(_matching(version, row, row["since"], ids, faults), row["since"])
    for row in _changes(version)["change"]:
        for id_ in _matching(version, row, row["release"], ids, faults):
            words.setdefault(id_, []).append(f"{row['release']}: {row['text']}")
    return Amendments(
        MappingProxyType(dates),
        MappingProxyType({id_: "; ".join(texts) for id_, texts in words.items()}),
        tuple(faults),
    )


def _matching(
    version: str,
    row: Mapping[str, Any],
    release: str,
    ids: Collection[str],
    faults: list[str],
) -> dict[str, None]:
    if not may_have_changed(version, release):
        faults.append(f"changes.toml: no document changed with {release}")
    found: dict[str, None] = {}
    for pattern in row["requirements"]:
        # Most patterns are ids, and a process reads this once: trying each on each id takes longer.
        matching = [pattern] if pattern in ids else [*_fitting(version, pattern, ids, release)]
        if not matching:
            faults.append(f"changes.toml: {pattern!r} is no requirement")
        found |= dict.fromkeys(matching)
    return found


def _fitting(version: str, pattern: str, ids: Collection[str], release: str) -> Iterator[str]:
    """Return the ids that fit a pattern, but for those of operations that came after a release."""
    fitting = (id_ for id_ in ids if fnmatchcase(id_, pattern))
    return (id_ for id_ in fitting if not _is_later(version, id_, release))


def _is_later(version: str, id_: str, release: str) -> bool:
    """Return whether a requirement is of an operation that came after a release.

    A pattern such as ``*.401`` is about the operations that there were.
    """
    try:
        came = _named(version).get((RefKind.OPERATION, id_.partition(".")[0]), release)
    except Undated:  # a fault of its own
        return False
    return is_newer(came, release)
