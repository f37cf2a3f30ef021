"""The tool that begins a contract: what it writes, and what it lists, on a document of our own."""

import json
from pathlib import Path

import pytest
from tools.import_document import differences, main, vanished
from tools.importing import WRITTEN_BY_HAND

from icecheck.contract import SPEC_VERSIONS, load
from icecheck.contract.document import overlay_document
from icecheck.contract.releases import newest
from tests.contract.official_documents import official_document
from tests.contract.test_contract_importing import DOCUMENT

NEWEST = newest(SPEC_VERSIONS)


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "official.yaml"
    path.write_text(DOCUMENT, encoding="utf-8")
    return path


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[str]:
    assert main([*map(str, arguments)]) == 0
    return capsys.readouterr().out.splitlines()


def test_a_version_is_begun_with_every_file_that_is_written_by_hand(
    document: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "begun"
    lines = told(capsys, document, "--version", "99.0.0", "--into", folder)
    begun = [f"begun as a copy of {NEWEST}'s: {name}" for name in WRITTEN_BY_HAND]
    begun.remove(f"begun as a copy of {NEWEST}'s: release.tag")
    assert lines[: len(begun)] == begun
    assert not any("release.tag" in line for line in lines)
    for name in ("prose.json", "overlay.json", "later.json"):
        info = json.dumps(json.loads((folder / name).read_text())["info"])
        assert NEWEST not in info
    assert "99.0.0" in (folder / "prose.json").read_text()
    assert (folder / "release.tag").read_text() == "apache-iceberg-99.0.0\n"
    assert load(NEWEST).document_sha256 in (folder / "changes.toml").read_text()
    assert len((folder / "official.sha256").read_text().strip()) == 64
    assert "/paths/~1a~1{b}/get" in json.loads((folder / "lines.json").read_text())


def test_what_is_new_gone_and_left_to_write_is_listed(
    document: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = told(capsys, document, "--version", "99.0.0", "--into", tmp_path / "begun")
    assert "new operations (1): getA" in lines
    assert "new components.schemas (1): S" in lines
    gone = next(line for line in lines if line.startswith("gone operations"))
    assert set(load(NEWEST).operations) == set(gone.partition(": ")[2].split(", "))
    assert "operations.json has no facts of getA" in lines
    assert "operations.json has loadTable, which is gone" in lines
    assert any(line.startswith("no openapi.json is written:") for line in lines)
    assert any(line.startswith("overlay.json: ") and "does not exist" in line for line in lines)
    named = [line for line in lines if line.startswith("a row names what is gone: ")]
    assert any(line.endswith(": operation:loadTable") for line in named)
    assert sum("stands nowhere in" in line for line in lines) > 100


def test_what_was_written_by_hand_is_left_as_it_is(
    document: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "begun"
    told(capsys, document, "--version", "99.0.0", "--into", folder)
    prose = json.loads((folder / "prose.json").read_text())
    prose["summaries"]["getA"] = "Get an A"
    (folder / "prose.json").write_text(json.dumps(prose))
    before = {name: (folder / name).read_bytes() for name in WRITTEN_BY_HAND}
    lines = told(capsys, document, "--version", "99.0.0", "--into", folder)
    assert {name: (folder / name).read_bytes() for name in WRITTEN_BY_HAND} == before
    assert not any(line.startswith("begun") or "summaries 'getA'" in line for line in lines)


@pytest.mark.complete("imports a whole document; a small one is imported in the usual command")
def test_of_a_document_that_is_known_nothing_is_new_and_every_row_resolves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "begun"
    path = official_document(NEWEST)
    lines = told(capsys, path, "--version", "99.0.0", "--into", folder)
    assert lines[len(WRITTEN_BY_HAND) :] == []
    assert (folder / "official.sha256").read_text().strip() == load(NEWEST).document_sha256
    assert len(json.loads((folder / "openapi.json").read_text())["paths"]) > 10


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("nowhere.yaml", "--version", "99.0.0"), "nowhere.yaml is no file"),
        (("{document}", "--version", "next"), "no release such as"),
        (("{document}", "--version", "1.0.0"), "older than all that are known"),
        (("{document}",), "--version"),
    ],
)
def test_bad_input_is_told_before_anything_is_written(
    document: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    given: tuple[str, ...],
    said: str,
) -> None:
    folder = tmp_path / "begun"
    arguments = [each.replace("{document}", str(document)) for each in given]
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--into", str(folder)])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
    assert not folder.exists()


def test_the_same_document_has_nothing_new() -> None:
    assert [*differences(load(NEWEST).raw, load(NEWEST).raw)] == []


def test_the_errata_of_a_version_are_all_found_in_its_document() -> None:
    assert [*vanished(load(NEWEST).raw, overlay_document(NEWEST))] == []
    without = {**load(NEWEST).raw, "components": {**load(NEWEST).raw["components"], "schemas": {}}}
    assert any("does not exist" in each for each in vanished(without, overlay_document(NEWEST)))
