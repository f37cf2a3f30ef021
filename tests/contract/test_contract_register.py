"""The requirements register: generated rows, rows by hand, and every way a row can be wrong."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tools.folders import folder_of

from icecheck.contract import (
    Basis,
    Level,
    Ref,
    RefKind,
    Requirement,
    UnresolvedRows,
    document,
)
from icecheck.contract.citations import sentences
from icecheck.contract.register import RegisterError, load_register
from icecheck.contract.releases import number
from tests.kit.contracts import CONTRACT, NEWEST

Reader = Callable[..., dict[str, Requirement]]
REGISTER = CONTRACT.requirements
SENTENCES = sentences(CONTRACT.version)
_MAJOR, _MINOR, _PATCH = number(CONTRACT.version)
NOT_RELEASED = f"{_MAJOR}.{_MINOR}.{_PATCH + 7}"
"""A release after this version that brought no document of its own, and never will."""
ONE_SPAN = REGISTER["loadTable.snapshots-refs"].lines
ONE_PLACE = next(words for words, places in SENTENCES.items() if places == (ONE_SPAN,))
TWO_PLACES = next(words for words, places in SENTENCES.items() if len(places) > 1)
MADE_UP = ("loadTable.made-up", "createTable.418")
GOOD = {
    "id": '"loadTable.made-up"',
    "level": '"must"',
    "basis": '"prose"',
    "refs": '["operation:loadTable"]',
    "text": '"A made-up sentence."',
}


def row(kind: str = "requirement", /, **changes: Any) -> str:
    values = {**(GOOD if kind == "requirement" else {}), **changes}
    members = [f"{key} = {value}" for key, value in values.items() if value is not None]
    return "\n".join([f"[[{kind}]]", *members, ""])


@pytest.fixture
def register(tmp_path: Path) -> Reader:
    def read(*tables: str) -> dict[str, Requirement]:
        (tmp_path / "made_up.toml").write_text("\n".join(tables), encoding="utf-8")
        return dict(load_register(CONTRACT.version, tmp_path).rows)

    return read


# --------------------------------------------------------------------- how it is read
def test_a_row_is_read(register: Reader) -> None:
    cited = {"sentence": f'"{ONE_PLACE}"', "errata": '["E36"]', "condition": '"c"'}
    found = register(row(**cited, hurts='"Spark"'))
    assert found["loadTable.made-up"] == Requirement(
        id="loadTable.made-up",
        level=Level.MUST,
        basis=Basis.PROSE,
        text="A made-up sentence.",
        refs=(Ref(RefKind.OPERATION, "loadTable"),),
        lines=ONE_SPAN,
        condition="c",
        since="1.2.0",
        changed=None,
        errata=("E36",),
        hurts="Spark",
        profile="read",
        not_tested=None,
    )


def test_lines_default_to_those_of_the_first_ref(register: Reader) -> None:
    found = register(row(refs='["schema:PageToken", "operation:loadTable"]'))
    assert found["loadTable.made-up"].lines == CONTRACT.lines("/components/schemas/PageToken")


def test_the_profile_follows_the_id_then_the_refs(register: Reader) -> None:
    found = register(
        row(refs='["operation:createTable"]'),
        row(id='"made.up"', refs='["schema:PageToken", "response:createTable.409"]'),
    )
    assert found["loadTable.made-up"].profile == "read"
    assert found["made.up"].profile == "write"


def test_defaults_of_a_file_fill_in(register: Reader) -> None:
    defaults = '[defaults]\nlevel = "should"\nbasis = "schema"\nprofile = "etag"\n'
    found = register(defaults, row(level=None, basis=None), row(id='"made.up"'))
    assert found["loadTable.made-up"].level is Level.SHOULD
    assert found["loadTable.made-up"].basis is Basis.SCHEMA
    assert found["loadTable.made-up"].profile == "etag"
    assert found["made.up"].level is Level.MUST


def test_a_response_row_says_more_about_a_generated_one(register: Reader) -> None:
    plain = register()["createTable.409"]
    found = register(row("response", id='"createTable.409"', text='"Other."', level='"should"'))
    assert found["createTable.409"].text == "Other."
    assert found["createTable.409"].level is Level.SHOULD
    assert found["createTable.409"].lines == plain.lines
    assert plain.text != "Other."


def test_an_empty_reason_withdraws_the_generated_one(register: Reader) -> None:
    assert register()["createTable.403"].not_tested
    found = register(row("response", id='"createTable.403"', not_tested='""'))
    assert found["createTable.403"].not_tested is None


def test_a_row_of_a_later_version_is_left_out(register: Reader) -> None:
    assert "loadTable.made-up" not in register(row(since='"99.0.0"'))
    assert "loadTable.made-up" in register(row(since='"1.9.0"'))


def test_a_row_of_an_earlier_version_is_left_out(register: Reader) -> None:
    assert "loadTable.made-up" not in register(row(until='"1.9.0"'))
    assert "loadTable.made-up" in register(row(until=f'"{CONTRACT.version}"'))


def test_a_row_of_several_versions_ends_at_the_last_of_them(register: Reader) -> None:
    assert CONTRACT.version != NEWEST.version
    assert "loadTable.made-up" in register(row(until=f'"{NEWEST.version}"'))


@pytest.mark.parametrize("release", [{"since": '"99.0.0"'}, {"until": '"1.9.0"'}])
def test_a_row_of_another_version_may_point_at_what_this_one_has_not(
    tmp_path: Path, release: dict[str, str]
) -> None:
    away = {"refs": '["operation:unregisterTable"]', "sentence": '"000000000000-9"'}
    tables = [row(**away, **release), row("response", id='"createTable.418"', **release)]
    (tmp_path / "made_up.toml").write_text("\n".join(tables), encoding="utf-8")
    found = load_register(CONTRACT.version, tmp_path)
    assert not {*MADE_UP} & found.rows.keys()
    (why,) = {f"{key} {value}".replace('"', "") for key, value in release.items()}
    # The others are responses that only other documents have.
    mine = {id_: told for id_, told in found.elsewhere.items() if id_ in {*MADE_UP}}
    assert mine == dict.fromkeys(MADE_UP, why)


def test_a_response_that_only_another_document_has_is_of_that_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(folder_of(CONTRACT.version), tmp_path / "made")
    changes: dict[str, Callable[[Any], Any]] = {
        "openapi.json": lambda d: d["paths"]["/v1/config"]["get"]["responses"].update({"418": {}}),
        "lines.json": lambda d: d.update({"/paths/~1v1~1config/get/responses/418": [1, 1]}),
    }
    for name, change in changes.items():
        parts = json.loads((tmp_path / "made" / name).read_text(encoding="utf-8"))
        change(parts)
        (tmp_path / "made" / name).write_text(json.dumps(parts), encoding="utf-8")
    folders = {"98.0.0": str(tmp_path / "made"), "99.0.0": str(tmp_path / "only begun")}
    monkeypatch.setattr(document, "FOLDERS", {**document.FOLDERS, **folders})
    found = load_register(CONTRACT.version, tmp_path)
    assert found.elsewhere["getConfig.418"] == "since 98.0.0"
    assert "getConfig.418" not in found.rows


@pytest.mark.parametrize("kind", ["requirement", "response"])
@pytest.mark.parametrize("turn", [1, -1])
def test_two_rows_of_one_id_tell_what_two_versions_say(
    tmp_path: Path, kind: str, turn: int
) -> None:
    id_ = "loadTable.made-up" if kind == "requirement" else "createTable.409"
    rows = [
        row(kind, id=f'"{id_}"', text='"As before."', until='"1.9.0"'),
        row(kind, id=f'"{id_}"', text='"As now."', since='"1.10.0"'),
    ]
    (tmp_path / "made_up.toml").write_text("\n".join(rows[::turn]), encoding="utf-8")
    found = load_register(CONTRACT.version, tmp_path)
    assert found.rows[id_].text == "As now."
    assert id_ not in found.elsewhere


def test_a_row_has_the_errata_that_its_document_has(register: Reader) -> None:
    named = '["E36", "E11-7"]'  # the second is one of 1.11.0 only
    found = register(row(errata=named), row("response", id='"createTable.409"', errata=named))
    assert found["loadTable.made-up"].errata == found["createTable.409"].errata == ("E36",)


def test_every_row_that_points_at_nothing_is_listed_at_once(register: Reader) -> None:
    with pytest.raises(UnresolvedRows) as told:
        register(
            row(id='"made.up"', refs='["operation:loadTabel", "schema:PageTokken"]'),
            row(sentence='"000000000000-9"', errata='["E99"]'),
            row(id='"loadTable.good"'),
            row("response", id='"createTable.418"', text='"Tea."'),
            row("response", id='"createTable.409"', errata='["E98"]'),
        )
    listed = told.value.rows
    assert len(listed) == 4
    for named in ("made.up", "loadTabel", "PageTokken", "loadTable.made-up", "000000000000-9",
                  "E99", "createTable.418", "E98"):  # fmt: skip
        assert any(named in each for each in listed), named
    assert not any("loadTable.good" in each for each in listed)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"levle": '"must"'}, "unknown keys.*levle"),
        ({"level": '"may"'}, "may.*not one of"),
        ({"basis": '"hearsay"'}, "hearsay.*not one of"),
        ({"profile": '"reading"'}, "reading.*not a profile"),
        ({"level": None}, "'level' is missing"),
        ({"text": None}, "'text' is missing"),
        ({"text": "1"}, "'text' must be a string"),
        ({"refs": "[]"}, "'refs' is missing"),
        ({"id": '"load table"'}, "is not an id"),
        ({"lines": "[932, 937]"}, "unknown keys.*lines"),
        ({"refs": '["lines:932-937"]'}, "python -m tools.sentences"),
        ({"refs": '["sentence:932-937"]'}, "python -m tools.sentences"),
        ({"sentence": '"932-937"'}, "python -m tools.sentences"),
        ({"since": '"1.9"'}, "'since' must be a release"),
        ({"until": '"soon"'}, "'until' must be a release"),
        ({"id": '"createTable.409"'}, "the id is taken"),
        ({"id": '"made.up"', "refs": '["schema:PageToken"]'}, "name a profile"),
    ],
)
def test_a_malformed_row_raises(
    register: Reader, changes: dict[str, str | None], complaint: str
) -> None:
    with pytest.raises(RegisterError, match=f"made_up.toml.*{complaint}"):
        register(row(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"refs": '["operation:loadTabel"]'},
        {"refs": '["response:loadTable.418"]'},
        {"refs": '["response:loadTabel.404"]'},
        {"refs": '["schema:PageTokken"]'},
        {"refs": '["chapter:1"]'},
        {"refs": '["operation"]'},
        {"refs": '["operation:loadTable", "sentence:000000000000-9"]'},
        {"sentence": '"000000000000-9"'},
        {"sentence": f'"{ONE_PLACE} in operation:getConfig"'},
        {"sentence": f'"{ONE_PLACE} in /components/parameters/none"'},
        {"sentence": f'"{TWO_PLACES}"'},
        {"since": '"1.9.7"'},
        {"until": f'"{NOT_RELEASED}"'},
        {"until": '"1.9.7"'},
        {"errata": '["E99"]'},
    ],
)
def test_a_row_that_points_at_nothing_raises(register: Reader, changes: dict[str, str]) -> None:
    with pytest.raises(UnresolvedRows, match=r"made_up\.toml loadTable\.made-up"):
        register(row(**changes))


def test_an_id_cannot_be_used_twice(register: Reader) -> None:
    with pytest.raises(RegisterError, match="the id is taken"):
        register(row(), row())


def test_a_response_cannot_be_described_twice(register: Reader) -> None:
    described = row("response", id='"createTable.409"', text='"Once."')
    with pytest.raises(RegisterError, match="described twice"):
        register(described, described)


def test_a_response_row_for_an_undocumented_status_raises(register: Reader) -> None:
    with pytest.raises(UnresolvedRows, match=r"createTable\.418"):
        register(row("response", id='"createTable.418"', text='"Tea."'))


def test_a_response_row_may_not_carry_refs(register: Reader) -> None:
    with pytest.raises(RegisterError, match=r"unknown keys.*refs"):
        register(row("response", id='"createTable.409"', refs='["schema:PageToken"]'))


def test_an_unknown_table_or_default_raises(register: Reader) -> None:
    with pytest.raises(RegisterError, match=r"unknown keys.*requirements"):
        register('[[requirements]]\nid = "a.b"\n')
    with pytest.raises(RegisterError, match=r"unknown keys.*since"):
        register('[defaults]\nsince = "1.10.0"\n')


def test_a_broken_file_is_named(register: Reader) -> None:
    with pytest.raises(RegisterError, match=r"made_up\.toml"):
        register("[[requirement]\n")


@pytest.mark.parametrize(
    "text",
    ["operation:createTable", "response:createTable.409", "schema:PageToken", "lines:2137-2151"],
)
def test_a_ref_round_trips_through_its_text(text: str) -> None:
    assert str(Ref.parse(text)) == text
