"""Rows cite sentences by their words: what moved is found again, what changed is told in full."""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from tools.folders import REQUIREMENTS, folder_of
from tools.official import load_official
from tools.sentences import (
    DIGITS,
    Ambiguous,
    Document,
    cited,
    citing,
    main,
    rendered,
    words_of,
    write_sentences,
)

from icecheck.contract import SPEC_VERSIONS, UnresolvedRows
from icecheck.contract.citations import CHANGED_WORDS, Citation, MalformedCitation, sentences
from icecheck.contract.register import load_register
from icecheck.contract.releases import number
from tests.contract.made_versions import known_as, made_from, prose_for
from tests.kit.contracts import CONTRACT

HERE = Path(__file__).parent / "documents"
SHOP, MOVED = HERE / "shop.yaml", HERE / "shop_moved.yaml"
NO_PROSE: dict[str, dict[str, str]] = {
    "info": {},
    "summaries": {},
    "statuses": {},
    "shared_responses": {},
    "scopes": {},
}
DATES = """\
[release."1.10.0"]
operations = ["getConfig", "loadTable"]
schemas = ["Good", "Shelf"]
"""
# What rows cite: id -> Ref, first and last line of shop.yaml.
ROWS = {
    "config.first": ("operation:getConfig", 11, 12),
    "config.closed": ("operation:getConfig", 12, 12),
    "config.offer": ("response:getConfig.200", 15, 15),
    "config.no-shop": ("response:getConfig.404", 17, 17),
    "goods.price": ("operation:loadTable", 22, 23),
    "goods.no-shop": ("response:loadTable.404", 28, 28),
    "goods.required": ("schema:Good", 36, 38),
    "goods.name": ("schema:Good", 40, 41),
    "goods.least": ("schema:Good", 44, 44),
    "shelf.name": ("schema:Shelf", 50, 51),
}


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Return a folder with a register that cites the document of our own."""
    document = Document(SHOP)
    folder = tmp_path / "rows"
    folder.mkdir()
    tables = [
        f'[[requirement]]\nid = "{id_}"\nlevel = "must"\nbasis = "prose"\ntext = "T."\n'
        f'profile = "core"\nrefs = ["{ref}"]\nsentence = "{document.cite(first, last)}"\n'
        for id_, (ref, first, last) in ROWS.items()
    ]
    (folder / "shop.toml").write_text("\n".join(tables), encoding="utf-8")
    return folder


class Versions:
    """Makes versions of the contract from texts of the shop's document."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, rows: Path) -> None:
        self._monkeypatch = monkeypatch
        self._tmp_path = tmp_path
        self._rows = rows
        self._facts = json.loads((folder_of("1.10.0") / "operations.json").read_text())

    def make(self, text: str, operations: tuple[str, ...] = ("getConfig", "loadTable")) -> str:
        """Return the name of a version that is made from a document."""
        place = self._tmp_path / hashlib.sha256(text.encode()).hexdigest()[:8]
        path = place.with_suffix(".yaml")
        path.write_text(text, encoding="utf-8")
        official, _ = load_official(path)
        folder = made_from(
            path,
            place,
            {
                "prose.json": prose_for(official, NO_PROSE),
                "operations.json": json.dumps({id_: self._facts[id_] for id_ in operations}),
                "overlay.json": json.dumps({"x-errata": {}, "actions": []}),
                "releases.toml": DATES,
            },
        )
        write_sentences(path, folder, self._rows)
        return known_as(self._monkeypatch, folder)


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, rows: Path) -> Versions:
    return Versions(monkeypatch, tmp_path, rows)


def lines_by_row(version: str, rows: Path) -> Mapping[str, tuple[int, int]]:
    register = load_register(version, rows).rows
    return {id_: register[id_].lines for id_ in ROWS}


# ------------------------------------------------------------------ what moved, what changed
def test_a_row_has_the_lines_that_it_was_written_for(versions: Versions, rows: Path) -> None:
    found = lines_by_row(versions.make(SHOP.read_text()), rows)
    assert found == {id_: (first, last) for id_, (_, first, last) in ROWS.items()}


def test_rows_of_a_document_whose_lines_moved_have_the_lines_of_that_document(
    versions: Versions, rows: Path
) -> None:
    found = lines_by_row(versions.make(MOVED.read_text()), rows)
    before, after = SHOP.read_text().splitlines(), MOVED.read_text().splitlines()
    for id_, (_, first, last) in ROWS.items():
        start, end = found[id_]
        assert (start, end) != (first, last)
        there = words_of("\n".join(after[start - 1 : end]))
        words = words_of("\n".join(before[first - 1 : last]))
        # A sentence that was wrapped anew may begin and end within a line.
        assert any(there[n : n + len(words)] == words for n in range(len(there))), id_


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        ("asks for", "asks for", set()),
        ("less than one", "less than two", {"goods.price"}),
        ("still answers", "may answer", {"config.first", "config.closed"}),
        ("until when", "since when", {"config.offer"}),
        ("        - cents\n", "", {"goods.required"}),
        ("minimum: 1", "minimum: -1", {"goods.least"}),
    ],
)
def test_a_row_whose_words_changed_does_not_resolve(
    versions: Versions, rows: Path, old: str, new: str, lost: set[str]
) -> None:
    text = SHOP.read_text().replace(old, new)
    version = versions.make(text)
    if not lost:
        assert lines_by_row(version, rows)
        return
    with pytest.raises(UnresolvedRows) as told:
        load_register(version, rows)
    assert {row.split()[1].rstrip(":") for row in told.value.rows} == lost


def test_words_that_stand_elsewhere_too_do_not_stand_in_for_those_that_changed(
    versions: Versions, rows: Path
) -> None:
    head, tail = SHOP.read_text().split("    Shelf:\n")
    changed = head + "    Shelf:\n" + tail.replace("type: string", "type: integer")
    with pytest.raises(UnresolvedRows) as told:
        load_register(versions.make(changed), rows)
    (row,) = told.value.rows
    assert "shelf.name" in row


def test_all_that_a_document_lacks_is_told_at_once(versions: Versions, rows: Path) -> None:
    text = (
        SHOP.read_text()
        .replace("operationId: getConfig", "operationId: getSettings")
        .replace("    Shelf:\n", "    Rack:\n")
        .replace("        404:\n          description: There is no such shop\ncomp", "comp")
        .replace("minimum: 1", "minimum: 2")
        .replace("  /v1/config:", "  /v1/settings:")
    )
    with pytest.raises(UnresolvedRows) as told:
        load_register(versions.make(text), rows)
    listed = "\n".join(told.value.rows)
    for named in ("getSettings: profile is missing", "getSettings: no release", "getConfig: has",
                  "config.first", "config.closed", "config.offer", "config.no-shop",
                  "goods.no-shop", "goods.least", "shelf.name"):  # fmt: skip
        assert named in listed, named
    for kept in ("goods.price", "goods.required", "goods.name"):
        assert kept not in listed


LOST = "config.first", "config.closed", "config.offer"


def without_lost(text: str) -> str:
    return text.replace("still answers", "may answer").replace("until when", "since when")


def test_a_sentence_that_is_lost_is_told_with_its_place_in_the_version_that_has_it(
    versions: Versions, rows: Path
) -> None:
    knows = versions.make(SHOP.read_text())
    with pytest.raises(UnresolvedRows) as told:
        load_register(versions.make(without_lost(SHOP.read_text())), rows)
    by_row = {row.split()[1].rstrip(":"): row for row in told.value.rows}
    assert by_row.keys() == {*LOST}
    for id_, fault in by_row.items():
        _, first, last = ROWS[id_]
        span = f"L{first}-L{last}" if first != last else f"L{first}"
        assert fault.endswith(f"; in {knows} it is {span}")
        assert "\n" not in fault


def test_a_sentence_that_no_other_version_has_is_told_without_a_place(
    versions: Versions, rows: Path
) -> None:
    version = versions.make(without_lost(SHOP.read_text()))
    with pytest.raises(UnresolvedRows) as told:
        load_register(version, rows)
    assert all(row.endswith(f"is not in the document of {version}") for row in told.value.rows)


def test_a_place_is_looked_up_in_versions_that_are_complete(
    versions: Versions, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    knows = versions.make(SHOP.read_text())
    (tmp_path / "begun").mkdir()
    known_as(monkeypatch, tmp_path / "begun")
    with pytest.raises(UnresolvedRows, match=f"; in {knows} it is L"):
        load_register(versions.make(without_lost(SHOP.read_text())), rows)


def test_an_old_table_is_named_once_in_the_message_of_many_lost_sentences(
    versions: Versions, rows: Path
) -> None:
    version = versions.make(without_lost(SHOP.read_text()))
    with pytest.raises(UnresolvedRows) as told:
        load_register(version, rows)
    message = str(told.value)
    assert len(message.splitlines()) == 1 + len(LOST) + 2
    assert message.count(f"`python -m tools.sentences DOCUMENT --version {version}`") == 1
    assert "sentences.json" in message.splitlines()[-2]
    assert message.splitlines()[-1] == CHANGED_WORDS


def test_a_message_of_other_faults_names_no_table(versions: Versions, rows: Path) -> None:
    text = (rows / "shop.toml").read_text(encoding="utf-8")
    (rows / "shop.toml").write_text(text.replace("schema:Shelf", "schema:Rack"), encoding="utf-8")
    with pytest.raises(UnresolvedRows) as told:
        load_register(versions.make(SHOP.read_text()), rows)
    assert "sentences.json" not in str(told.value)


def test_a_made_version_has_the_name_of_no_real_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = {f"1.10.{patch}" for patch in range(100)}
    made = [known_as(monkeypatch, tmp_path, like) for like in ("1.10.0", "1.10.1") * 2]
    assert len({*real, *made}) == len(real) + len(made)


@pytest.mark.parametrize("like", ["1.10.0", "1.10.1", "1.11.0"])
def test_a_made_version_takes_the_rows_of_the_version_that_it_is_like(
    like: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = known_as(monkeypatch, tmp_path, like)
    # What `since` and `until` are compared with.
    assert number(made) == number(like)


# ------------------------------------------------------------------------------ what words are
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A price, in cents.", "  a   PRICE,\n\tin cents. "),
        ("use `cents` or **euros**", "use cents or *euros*"),
        ("description: Cents", "description: >-\n  cents"),
        ("- a\n- b", "* a\n* b"),
        ('required: ["a"]', "required: ['a']"),
        ("# a note", "a note"),
    ],
)
def test_white_space_case_quotes_and_markdown_are_no_words(one: str, other: str) -> None:
    assert words_of(one) == words_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("minimum: 1", "minimum: -1"), ("a b", "ab"), ("must not", "must"), ("a.", "a,"), ("<", ">=")],
)
def test_what_says_something_else_has_other_words(one: str, other: str) -> None:
    assert words_of(one) != words_of(other)


# ------------------------------------------------------------------------------- how it is cited
def test_words_that_stand_once_are_cited_alone_and_others_with_their_part() -> None:
    document = Document(SHOP)
    assert Citation.parse(document.cite(12, 12)).part is None
    assert Citation.parse(document.cite(17, 17)).part == "response:getConfig.404"
    assert Citation.parse(document.cite(40, 41)).part == "schema:Good"


def test_what_cannot_be_cited_is_told(tmp_path: Path) -> None:
    line = "        Clients ask for this first.\n"
    twice = tmp_path / "twice.yaml"
    twice.write_text(SHOP.read_text().replace(line, line * 2), encoding="utf-8")
    with pytest.raises(Ambiguous, match="no words"):
        Document(MOVED).cite(3, 3)
    with pytest.raises(Ambiguous, match="2 places"):
        Document(twice).cite(11, 11)


@pytest.mark.parametrize("text", ["", "12-13", "0123456789ab", "0123456789ab-0", "0123456789AB-3"])
def test_a_citation_has_one_form(text: str) -> None:
    with pytest.raises(MalformedCitation):
        Citation.parse(text)


@pytest.mark.parametrize("text", ["0123456789ab-3", "0123456789ab-3 in schema:Namespace"])
def test_a_citation_round_trips_through_its_text(text: str) -> None:
    assert str(Citation.parse(text)) == text


def test_the_tool_prints_a_citation_and_writes_the_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert main([str(SHOP), "12", "12"]) == 0
    assert capsys.readouterr().out == f'sentence = "{Document(SHOP).cite(12, 12)}"\n'
    monkeypatch.setattr("tools.sentences.folder_of", lambda _version: tmp_path)
    assert main([str(SHOP)]) == 0
    table = json.loads((tmp_path / "sentences.json").read_text())
    told = capsys.readouterr().out.splitlines()
    assert told.pop().startswith(CHANGED_WORDS)
    assert len(told) == len(citing(version=CONTRACT.version).keys() - table.keys())
    row = CONTRACT.requirements["loadTable.snapshots-refs"]
    words = next(w for w, places in sentences(CONTRACT.version).items() if places == (row.lines,))
    (line,) = (line for line in told if line.startswith(words))
    assert line.startswith(f"{words} stands nowhere in {SHOP}: ")
    assert row.id in line.partition(f"{SHOP}: ")[2].split(", ")
    with pytest.raises(SystemExit):
        main([str(SHOP), "13"])


def test_rows_that_cite_a_sentence_are_named_with_the_versions_that_they_are_about(
    tmp_path: Path,
) -> None:
    words = "0123456789ab-3"
    (tmp_path / "a.toml").write_text(
        f'[defaults]\nrefs = ["sentence:{words}"]\n'
        f'[[requirement]]\nid = "a.old"\nsentence = "{words}"\nuntil = "1.9.0"\n'
        f'[[requirement]]\nid = "a.new"\nrefs = ["sentence:{words} in schema:A"]\n'
        f'since = "1.10.0"\n[[requirement]]\nid = "a.other"\n',
        encoding="utf-8",
    )
    rows = citing(tmp_path)
    assert rows == {words: ("[defaults] of a.toml", "a.old (until 1.9.0)", "a.new (since 1.10.0)")}
    assert cited(tmp_path) == {words}
    for version, row in (("1.9.0", "a.old (until 1.9.0)"), ("1.10.0", "a.new (since 1.10.0)")):
        assert citing(tmp_path, version)[words] == ("[defaults] of a.toml", row)


# ----------------------------------------------------------------------- what the package carries
def test_the_tables_of_all_versions_have_what_the_register_cites_and_nothing_else() -> None:
    written = {words for version in SPEC_VERSIONS for words in sentences(version)}
    again = "run `python -m tools.sentences DOCUMENT --version VERSION` for each document again"
    assert written == cited(), f"sentences.json is old: {again}"
    assert all(all(sentences(version).values()) for version in SPEC_VERSIONS)


def test_an_identifier_is_long_enough_for_what_is_cited() -> None:
    places = 50_000  # of every length: a document has about 12,000 words, and grows
    assert len(cited()) * places / 16**DIGITS < 1e-6
    assert all(len(identifier.partition("-")[0]) == DIGITS for identifier in cited())


def test_no_row_of_the_register_cites_by_line_numbers() -> None:
    for path in REQUIREMENTS.glob("*.toml"):
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        for row in (tables.get("defaults", {}), *tables.get("requirement", ())):
            assert "lines" not in row
            assert not any(ref.startswith("lines:") for ref in row.get("refs", ()))


def test_the_table_is_written_in_the_order_of_the_document() -> None:
    written = rendered({"b" * 12 + "-1": ((1, 2), (5, 5)), "a" * 12 + "-2": ((3, 3),), "c": ()})
    assert json.loads(written) == {"b" * 12 + "-1": [[1, 2], [5, 5]], "a" * 12 + "-2": [[3, 3]]}
    assert written.splitlines()[1].startswith('"bbb')


def test_an_identifier_that_would_stand_for_different_words_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "short.yaml"
    path.write_text(SHOP.read_text())
    monkeypatch.setattr("tools.sentences.DIGITS", 1)
    with pytest.raises(Ambiguous, match="different words"):
        Document(path).places(["0-1", "1-1", "2-1", "3-1", "4-1", "5-1", "6-1"])
