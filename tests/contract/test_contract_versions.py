"""The official document with its lines moved, changed, and in its next version."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tools.folders import folder_of
from tools.official import load_official
from tools.sentences import Document, cited, rendered, words_of

from icecheck.contract import SPEC_VERSIONS, Contract, Requirement, UnresolvedRows, load
from icecheck.contract.citations import sentences
from tests.contract.made_versions import known_as, made_from, prose_for
from tests.contract.official_documents import OFFICIAL, official_document

NEXT = Path(OFFICIAL or "document").with_name("rest-catalog-open-api-1.11.0.yaml")
AFTER, MOVED_BY = 400, 37
CONTRACT = load("1.10.0")  # of the official document, whichever version is served
REGISTER = CONTRACT.requirements
WORDS = re.compile(r"\b([a-z]{4,}) ([a-z]{3,})\b")
_FACTS = next(iter(json.loads((folder_of("1.10.0") / "operations.json").read_text()).values()))

pytestmark = pytest.mark.skipif(
    not OFFICIAL, reason="ICECHECK_OFFICIAL_DOCUMENT names no file: own documents are compared"
)
with_the_next_document = pytest.mark.skipif(
    not NEXT.is_file(), reason=f"no {NEXT.name} beside ICECHECK_OFFICIAL_DOCUMENT"
)


def official() -> str:
    assert OFFICIAL is not None
    return Path(OFFICIAL).read_text(encoding="utf-8")


def moved(line: int) -> int:
    return line + MOVED_BY if line > AFTER else line


def dates_moved() -> str:
    """Return releases.toml as `tools.dating` would write it for the moved document."""
    text = (folder_of("1.10.0") / "releases.toml").read_text(encoding="utf-8")
    spans = re.compile(r'"(\d+)(?:-(\d+))?"(?=,)')
    return spans.sub(lambda m: f'"{moved(int(m[1]))}-{moved(int(m[2] or m[1]))}"', text)


def with_its_lines_moved(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join([*lines[:AFTER], *["\n"] * MOVED_BY, *lines[AFTER:]])


def version_of(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Contract:
    """Return the contract of 1.10.0 with another document, whose lines were moved."""
    path = tmp_path / "document.yaml"
    path.write_text(text, encoding="utf-8")
    folder = made_from(path, tmp_path / "made", {"releases.toml": dates_moved()})
    return Contract(known_as(monkeypatch, folder))


def expected(requirement: Requirement) -> Requirement:
    """Return what becomes of a requirement when the lines of its document move."""
    refs = tuple(
        replace(ref, name="-".join(str(moved(int(n))) for n in ref.name.split("-")))
        if ref.kind == "lines"
        else ref
        for ref in requirement.refs
    )
    first, last = requirement.lines
    return replace(requirement, refs=refs, lines=(moved(first), moved(last)))


@pytest.mark.parametrize("version", SPEC_VERSIONS)
def test_the_committed_table_is_what_the_generator_writes(version: str) -> None:
    written = (folder_of(version) / "sentences.json").read_text(encoding="utf-8")
    assert written == rendered(Document(official_document(version)).places(cited()))


@pytest.mark.parametrize("version", SPEC_VERSIONS)
def test_every_sentence_stands_on_lines_that_have_its_words(version: str) -> None:
    lines = official_document(version).read_text(encoding="utf-8").splitlines()
    for identifier, places in sentences(version).items():
        many = int(identifier.partition("-")[2])
        for first, last in places:
            assert len(words_of("\n".join(lines[first - 1 : last]))) >= many, identifier


def test_a_document_whose_lines_moved_loads_with_the_right_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contract = version_of(with_its_lines_moved(official()), tmp_path, monkeypatch)
    assert contract.requirements == {id_: expected(row) for id_, row in REGISTER.items()}


@pytest.mark.complete("a whole version is made; that of moved lines is in the usual command")
def test_a_document_of_other_words_fails_with_every_row_that_cites_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = official().splitlines(keepends=True)
    changed = {n for n in range(600, len(lines), 500) for n in [_next_prose(lines, n)]}
    for number in changed:
        lines[number - 1] = WORDS.sub(r"\1 not \2", lines[number - 1], count=1)
    citing = {
        id_
        for id_, spans in spans_by_row().items()
        if any(first <= number <= last for first, last in spans for number in changed)
    }
    assert 0 < len(citing) < len(REGISTER) / 10
    with pytest.raises(UnresolvedRows) as told:
        _ = version_of(with_its_lines_moved("".join(lines)), tmp_path, monkeypatch).requirements
    assert {row.split()[1].rstrip(":") for row in told.value.rows} == citing


def _next_prose(lines: list[str], number: int) -> int:
    """Return the first line from a number on that belongs to a cited sentence and is prose."""
    spans = [span for spans in spans_by_row().values() for span in spans]
    return next(
        n
        for n in range(number, len(lines))
        if WORDS.search(lines[n - 1]) and any(first <= n <= last for first, last in spans)
    )


def spans_by_row() -> dict[str, list[tuple[int, ...]]]:
    """Return id -> the lines of the sentences that a row cites, in 1.10.0."""
    contract = CONTRACT
    found: dict[str, list[tuple[int, ...]]] = {}
    for id_, row in REGISTER.items():
        found[id_] = [tuple(map(int, r.name.split("-"))) for r in row.refs if r.kind == "lines"]
        if row.lines != contract.where(row.refs[0]):
            found[id_].append(row.lines)
    return found


@pytest.mark.complete("a whole version is made; that of moved lines is in the usual command")
@with_the_next_document
def test_what_the_next_document_says_otherwise_is_listed_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, _ = load_official(NEXT)
    ours = json.loads((folder_of("1.10.0") / "prose.json").read_text(encoding="utf-8"))
    folder = made_from(NEXT, tmp_path / "made", {"prose.json": prose_for(theirs, ours)})
    contract = Contract(known_as(monkeypatch, folder))
    with pytest.raises(UnresolvedRows) as told:
        _ = contract.requirements
    listed = told.value.rows
    new = {"signRequest", "registerView"}
    facts = {f"{id_}: {fact} is missing" for id_ in new for fact in _FACTS}
    dates = {f"{id_}: no release in releases.toml" for id_ in new}
    assert facts | dates <= {*listed}
    rows = [row for row in listed if row not in facts | dates]
    said = " ".join(words_of(NEXT.read_text(encoding="utf-8")))
    before = official().splitlines()
    gone = {
        id_
        for id_, spans in spans_by_row().items()
        for first, last in spans
        if " ".join(words_of("\n".join(before[first - 1 : last]))) not in said
    }
    told_as = {row.split()[1].rstrip(":"): row for row in rows}
    assert gone <= told_as.keys()
    # The others' words stand at another place than the one that is cited, or at several.
    elsewhere = ("in response:", "in operation:", "places")
    others = [row for id_, row in told_as.items() if id_ not in gone]
    assert [row for row in others if not any(words in row for words in elsewhere)] == []
