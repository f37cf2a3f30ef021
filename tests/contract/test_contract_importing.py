"""The generator of a contract version, on a small document of our own."""

import json
from pathlib import Path
from typing import Any

import pytest
from tools import importing
from tools.importing import with_own_prose
from tools.official import load_official
from tools.sentences import citing

DOCUMENT = """\
# a comment
openapi: 3.1.1
info: {title: T, version: 0.0.1, description: theirs}
paths:
  /a/{b}:
    parameters:
      - name: b
        in: path
    get:
      summary: theirs
      operationId: getA
      responses:
        200:
          $ref: '#/components/responses/One'
        404:
          description:
            theirs, over
            two lines
        5XX: {description: theirs}

components:
  parameters:
    p: {name: p, in: query}
  responses:
    One:
      description: >
        theirs, folded

  schemas:
    S:
      allOf:
        - type: object
          properties:
            description:
              type: string
              description: |
                theirs, literal


            example: {type: integer, example: 5}
      example: {
        "properties": {"x": 1}
      }
  securitySchemes:
    Open:
      type: oauth2
      flows: {clientCredentials: {tokenUrl: /t, scopes: {all: theirs}}}
"""
PROSE: dict[str, Any] = {
    "info": {"title": "ours"},
    "summaries": {"getA": "ours: get"},
    "statuses": {"404": "ours: missing", "5XX": "ours: failed"},
    "shared_responses": {"One": "ours: one"},
    "scopes": {"all": "ours: all"},
}


@pytest.fixture
def official(tmp_path: Path) -> Path:
    path = tmp_path / "official.yaml"
    path.write_text(DOCUMENT, encoding="utf-8")
    return path


def test_statuses_become_text(official: Path) -> None:
    document, _ = load_official(official)
    assert list(document["paths"]["/a/{b}"]["get"]["responses"]) == ["200", "404", "5XX"]


def test_values_keep_their_types(official: Path) -> None:
    document, _ = load_official(official)
    assert document["openapi"] == "3.1.1"
    assert document["components"]["schemas"]["S"]["example"] == {"properties": {"x": 1}}


def test_lines_span_what_has_content(official: Path) -> None:
    _, index = load_official(official)
    assert index.lines == {
        "/paths/~1a~1{b}": (5, 19),
        "/paths/~1a~1{b}/parameters/0": (7, 8),
        "/paths/~1a~1{b}/get": (9, 19),
        "/paths/~1a~1{b}/get/responses/200": (13, 14),
        "/paths/~1a~1{b}/get/responses/404": (15, 18),
        "/paths/~1a~1{b}/get/responses/5XX": (19, 19),
        "/components/parameters/p": (23, 23),
        "/components/responses/One": (25, 27),
        "/components/securitySchemes/Open": (45, 47),
        "/components/schemas/S": (30, 43),
        "/components/schemas/S/allOf/0/properties/description": (34, 37),
        "/components/schemas/S/allOf/0/properties/example": (40, 40),
    }


def test_only_our_prose_is_left(official: Path) -> None:
    document, _ = load_official(official)
    ours = with_own_prose(document, PROSE)
    assert "theirs" not in str(ours)
    get = ours["paths"]["/a/{b}"]["get"]
    assert get["summary"] == "ours: get"
    assert get["responses"]["200"] == {"$ref": "#/components/responses/One"}
    assert get["responses"]["404"] == {"description": "ours: missing"}
    assert ours["components"]["responses"]["One"] == {"description": "ours: one"}
    assert list(ours["components"]["schemas"]["S"]["allOf"][0]["properties"]) == [
        "description",
        "example",
    ]
    flows = ours["components"]["securitySchemes"]["Open"]["flows"]
    assert flows["clientCredentials"]["scopes"] == {"all": "ours: all"}


@pytest.mark.parametrize(
    ("section", "name"),
    [("summaries", "getA"), ("statuses", "404"), ("shared_responses", "One"), ("scopes", "all")],
)
def test_missing_prose_is_named(official: Path, section: str, name: str) -> None:
    document, _ = load_official(official)
    prose = {**PROSE, section: {k: v for k, v in PROSE[section].items() if k != name}}
    with pytest.raises(ValueError, match=f"{section}.*{name}"):
        with_own_prose(document, prose)


def test_everything_that_the_prose_lacks_is_named_at_once(official: Path) -> None:
    document, _ = load_official(official)
    nothing: dict[str, Any] = {section: {} for section in PROSE}
    with pytest.raises(ValueError, match="prose") as told:
        with_own_prose(document, nothing)
    for named in ("getA", "404", "5XX", "One", "all"):
        assert repr(named) in str(told.value)


def test_an_operation_without_id_is_named(official: Path) -> None:
    document, _ = load_official(official)
    del document["paths"]["/a/{b}"]["get"]["operationId"]
    with pytest.raises(ValueError, match=r"get /a/\{b\} has no operationId"):
        with_own_prose(document, PROSE)


def test_a_new_version_is_told_which_files_are_written_by_hand(
    official: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = official.parent / "v9_9_9"
    folder.mkdir()
    (folder / "prose.json").write_text("{}", encoding="utf-8")
    monkeypatch.setattr(importing, "folder_of", lambda _version: folder)
    for path, told in ((official, "operations.json, overlay.json"), (folder / "x", "no file")):
        with pytest.raises(SystemExit) as ended:
            importing.main([str(path), "--version", "9.9.9"])
        assert ended.value.code == 2
        assert told in capsys.readouterr().err
    assert [each.name for each in folder.iterdir()] == ["prose.json"]


def test_sentences_that_a_document_lacks_are_told_with_the_rows_that_cite_them(
    official: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = official.parent / "v9_9_9"
    folder.mkdir()
    for name in importing.WRITTEN_BY_HAND:
        (folder / name).write_text(json.dumps(PROSE), encoding="utf-8")
    monkeypatch.setattr(importing, "folder_of", lambda _version: folder)
    assert importing.main([str(official), "--version", "9.9.9"]) == 0
    told = capsys.readouterr().out.splitlines()
    between = f" stands nowhere in {official}: "
    parts = [line.partition(between) for line in told]
    (words,) = (w for w, _, rows in parts if "loadTable.snapshots-refs" in rows.split(", "))
    assert "loadTable.snapshots-refs" in citing()[words]
