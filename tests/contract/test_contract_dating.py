"""How the history is found out: releases compared part by part and line by line."""

import json
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from tools import sentences
from tools.dating import NewParts, aligned, dated, main, releases_of, rendered, spans
from tools.official import load_official

SHOP = Path(__file__).parent / "documents" / "shop.yaml"

SENTENCE = "      description: A sentence that is long enough to be known again"
OLDEST = f"""\
paths:
  /a:
    get:
      operationId: getA
{SENTENCE}
      responses:
        200: {{description: One}}
components:
  responses:
    Inline:
      description: Two
  schemas:
    S: {{type: object}}
    TableRequirement: {{type: object}}
"""
NEWER = f"""\
paths:
  /a:
    get:
      operationId: getA
      responses:
        200:   {{description: One}}
        409: {{description: Three}}
{SENTENCE}
  /b:
    get:
      operationId: getB
      responses:
        204: {{description: Four}}
components:
  responses: {{}}
  schemas:
    S: {{type: object}}
    Inline: {{type: object}}
    Fresh: {{type: object}}
    AssertCreate: {{type: object}}
"""
DOCUMENTS = {"1.0.0": OLDEST, "1.1.0": NEWER}


def test_operations_and_statuses_are_dated() -> None:
    found = dated(DOCUMENTS)
    assert found["1.0.0"].operations == ("getA",)
    assert found["1.1.0"].operations == ("getB",)
    assert found["1.0.0"].responses == ()
    assert found["1.1.0"].responses == ("getA.409",)  # getB.204 is as old as getB


def test_a_schema_is_as_old_as_what_it_was_taken_from() -> None:
    found = dated(DOCUMENTS)
    assert found["1.0.0"].schemas == ("AssertCreate", "Inline", "S")
    assert found["1.1.0"].schemas == ("Fresh",)


def test_what_the_last_document_lacks_is_not_dated() -> None:
    found = dated({"1.0.0": NEWER, "1.1.0": OLDEST})
    assert found["1.0.0"].operations == ("getA",)
    assert found["1.0.0"].responses == ()
    assert found["1.1.0"].responses == ()


def test_a_line_that_moved_or_was_spaced_anew_is_an_old_one() -> None:
    lines = dated(DOCUMENTS)["1.1.0"].lines
    fresh = {n for first, last in lines for n in range(first, last + 1)}
    words = NEWER.splitlines()
    assert {n for n in fresh if "409" in words[n - 1] or "/b" in words[n - 1]} == {7, 9}
    assert 8 not in fresh  # the sentence, below the responses now
    assert 6 not in fresh  # more spaces


def test_a_short_line_elsewhere_is_a_new_one() -> None:
    documents = {"1.0.0": OLDEST, "1.1.0": OLDEST.replace("S:", "T:")}
    (line,) = dated(documents)["1.1.0"].lines
    assert OLDEST.splitlines()[line[0] - 1].strip().startswith("S:")


def test_neighbours_are_one_span() -> None:
    assert spans([1, 2, 3, 7, 9, 10]) == ((1, 3), (7, 7), (9, 10))
    assert spans([]) == ()


def test_a_copy_may_have_one_note_more_and_other_spaces() -> None:
    copy = "# one\n# two\n" + NEWER.replace("  ", " ")
    assert aligned(NEWER, copy) == (1, 2)
    assert aligned(NEWER, NEWER.replace(" ", "   ")) is None


@pytest.mark.parametrize(
    "copy", [NEWER.replace("409", "410"), "# a\n" + NEWER + "# b\n", NEWER.replace("  /b:\n", "")]
)
def test_another_document_is_refused(copy: str) -> None:
    with pytest.raises(ValueError, match="not the release's"):
        aligned(NEWER, copy)


def test_lines_are_written_as_the_copy_counts_them() -> None:
    found = {
        "1.0.0": NewParts(("getA",), (), ("S",), ((1, 4),)),
        "1.1.0": NewParts((), ("getA.409",), (), ((2, 2), (5, 7))),
    }
    text = rendered(found, (3, 6))
    assert tomllib.loads(text) == {
        "not_in_release": [3, 6],
        "release": {
            "1.0.0": {"operations": ["getA"], "schemas": ["S"]},
            "1.1.0": {"responses": ["getA.409"], "lines": ["2", "9-11"]},
        },
    }


def test_long_lists_are_broken_into_short_lines() -> None:
    names = tuple(f"anOperationOfSomeLength{n}" for n in range(40))
    text = rendered({"1.0.0": NewParts(names, (), (), ())}, None)
    assert max(map(len, text.splitlines())) <= 100
    assert tuple(tomllib.loads(text)["release"]["1.0.0"]["operations"]) == names


def repository(folder: Path, *releases: tuple[str, str]) -> Path:
    """Make a clone with a tag for each release and its document; return its git directory."""
    document = folder / "open-api" / "rest-catalog-open-api.yaml"
    document.parent.mkdir(parents=True)

    def git(*arguments: str) -> None:
        who = ("-c", "user.name=n", "-c", "user.email=e@example.com")
        command = ["git", *who, "-C", str(folder), *arguments]
        subprocess.run(command, check=True, capture_output=True)

    git("init", "-q")
    for release, text in releases:
        document.write_text(text, encoding="utf-8")
        git("add", ".")
        git("commit", "-q", "--allow-empty", "-m", release)
        git("tag", f"apache-iceberg-{release}")
    return folder / ".git"


RELEASES = (("0.14.0", OLDEST), ("1.0.0", OLDEST), ("1.10.0", NEWER), ("1.10.1", NEWER))


def test_releases_come_from_tags_in_order_and_unchanged_ones_are_left_out(tmp_path: Path) -> None:
    others = [("1.9.0", "between"), ("1.9.1-rc1", "candidate"), ("2.0.0", "late")]
    git_dir = repository(tmp_path, ("0.9.0", "old"), *RELEASES, *others)
    found = releases_of(git_dir, "1.10.0")
    assert found == {"0.14.0": OLDEST, "1.9.0": "between", "1.10.0": NEWER}


def test_the_asked_release_is_kept_although_it_changed_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git_dir = repository(tmp_path / "clone", *RELEASES)
    assert [*releases_of(git_dir, "1.10.1")] == ["0.14.0", "1.10.0", "1.10.1"]
    document = tmp_path / "document.yaml"
    document.write_text(NEWER, encoding="utf-8")
    monkeypatch.setattr("tools.dating.folder_of", lambda _version: tmp_path)
    assert main([str(git_dir), str(document), "--version", "1.10.1"]) == 0
    written = tomllib.loads((tmp_path / "releases.toml").read_text(encoding="utf-8"))
    assert written["release"]["1.10.1"] == {}
    assert written["release"]["1.10.0"]["operations"] == ["getB"]


@pytest.mark.parametrize(
    ("version", "copied", "told"),
    [
        ("1.10.2", NEWER, "no tag apache-iceberg-1.10.2"),
        ("1.10.0", OLDEST, "they differ in more than white space"),
        ("1.10.0", "", "is no file"),
    ],
)
def test_what_cannot_be_dated_is_told_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    version: str,
    copied: str,
    told: str,
) -> None:
    git_dir = repository(tmp_path / "clone", *RELEASES)
    monkeypatch.setattr("tools.dating.folder_of", lambda _version: tmp_path)
    document = tmp_path / "document.yaml"
    if copied:
        document.write_text(copied, encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main([str(git_dir), str(document), "--version", version])
    assert ended.value.code == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert told in line
    assert ("a clone of apache/iceberg with its tags" in line) == ("no tag" in told)


def test_a_version_without_a_folder_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    git_dir = repository(tmp_path / "clone", *RELEASES)
    document = tmp_path / "document.yaml"
    document.write_text(NEWER, encoding="utf-8")
    monkeypatch.setattr("tools.dating.folder_of", lambda _version: tmp_path / "v1_10_1")
    with pytest.raises(SystemExit):
        main([str(git_dir), str(document), "--version", "1.10.1"])
    assert "v1_10_1 is no folder: tools.importing" in capsys.readouterr().err


@pytest.mark.parametrize("tool", [main, sentences.main])
def test_a_document_with_other_lines_than_those_of_its_version_is_refused(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    tool: Callable[[list[str]], int],
) -> None:
    folder = tmp_path / "v1_10_0"
    folder.mkdir()
    _official, index = load_official(SHOP)
    (folder / "lines.json").write_text(json.dumps(index.lines), encoding="utf-8")
    moved = tmp_path / "moved.yaml"
    moved.write_text(f"# a line more\n{SHOP.read_text(encoding='utf-8')}", encoding="utf-8")
    for module in ("tools.sentences", "tools.dating"):
        monkeypatch.setattr(f"{module}.folder_of", lambda _version: folder)
    before = [str(tmp_path)] if tool is main else []
    with pytest.raises(SystemExit) as ended:
        tool([*before, str(moved)])
    assert ended.value.code == 2
    assert "is not the document of v1_10_0" in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == ["lines.json"]


def test_what_is_no_clone_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.dating.folder_of", lambda _version: tmp_path)
    document = tmp_path / "document.yaml"
    document.write_text(NEWER, encoding="utf-8")
    with pytest.raises(SystemExit):
        main([str(tmp_path), str(document)])
    line = capsys.readouterr().err.splitlines()[-1]
    assert f"git cannot read {tmp_path}" in line
    assert "a clone of apache/iceberg with its tags" in line
