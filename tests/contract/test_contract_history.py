"""The register's history: which release demands what, what was different, and what came later."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from tools.folders import folder_of

from icecheck.contract import (
    SPEC_VERSIONS,
    Contract,
    Later,
    Ref,
    UnknownRef,
    UnresolvedRows,
    document,
    load,
    releases,
)
from icecheck.contract.releases import amendments, is_newer, later
from tests.contract.made_versions import known_as
from tests.kit.contracts import CONTRACT, of_every_version

REGISTER = CONTRACT.requirements
RELEASE = re.compile(r"\d+\.\d+\.\d+")


@of_every_version
def test_every_requirement_is_demanded_since_a_release_of_the_document(contract: Contract) -> None:
    assert {r.since for r in contract.requirements.values()} <= set(contract.releases)
    assert not any(is_newer(r.since, contract.version) for r in contract.requirements.values())


def test_not_everything_is_of_one_age() -> None:
    many = Counter(r.since for r in REGISTER.values())
    assert len(many) >= 10
    assert many.most_common(1)[0][1] < len(REGISTER) * 0.6
    assert sum(bool(r.changed) for r in REGISTER.values()) > 100


@of_every_version
def test_releases_are_in_order_and_end_with_this_version(contract: Contract) -> None:
    assert all(is_newer(b, a) for a, b in pairwise(contract.releases))
    assert contract.releases[0] == "0.14.0"
    assert contract.releases[-1] == contract.version


@pytest.mark.parametrize(
    ("requirement", "since"),
    [
        ("createTable.200", "0.14.0"),
        ("reportMetrics.204", "1.1.0"),
        ("updateTable.502", "1.2.0"),
        ("loadTable.snapshots-refs", "1.2.0"),
        ("commitTransaction.204", "1.4.0"),
        ("createView.200", "1.5.0"),
        ("listTables.pages-cover-all", "1.5.0"),
        ("listTables.token-null-at-end", "1.6.0"),
        ("commit.unknown-update", "1.7.0"),
        ("getConfig.listed-endpoints-served", "1.7.0"),
        ("planTableScan.200", "1.7.0"),
        ("loadTable.304", "1.8.0"),
        ("etag.changes-with-commit", "1.8.0"),
        ("dropNamespace.409", "1.9.0"),
        ("update.remove-schemas.effect", "1.9.0"),
        ("registerTable.overwrite", "1.9.0"),
        ("update.add-encryption-key.effect", "1.10.0"),
        ("update.add-snapshot.first-row-id", "1.10.0"),
        ("assertion.assert-table-uuid.violated", "0.14.0"),
        ("commit.one-winner", "0.14.0"),
    ],
)
def test_a_requirement_is_as_old_as_what_demands_it(requirement: str, since: str) -> None:
    assert REGISTER[requirement].since == since


@pytest.mark.parametrize(
    ("profile", "since"),
    [
        ("metrics", "1.1.0"), ("register", "1.4.0"), ("transactions", "1.4.0"), ("views", "1.5.0"),
        ("pagination", "1.5.0"), ("scan-planning", "1.7.0"), ("credentials", "1.7.0"),
        ("etag", "1.8.0"),
    ],
)  # fmt: skip
def test_no_requirement_is_older_than_its_profile(profile: str, since: str) -> None:
    mine = [r for r in REGISTER.values() if r.profile == profile]
    assert mine
    assert [r.id for r in mine if is_newer(since, r.since)] == []


@pytest.mark.parametrize(
    ("requirement", "changed"),
    [
        ("renameTable.204", "1.4.0: 204; 200 before"),
        ("renameView.204", "1.6.0: 204; 200 before"),
        ("dropNamespace.409", "1.9.0: 409; before, it had to be empty and no status was named"),
    ],
)
def test_what_was_different_is_said_with_its_release(requirement: str, changed: str) -> None:
    assert REGISTER[requirement].changed == changed


@of_every_version
def test_every_operation_response_and_schema_has_a_date(contract: Contract) -> None:
    for name, operation in contract.operations.items():
        age = contract.since(Ref.parse(f"operation:{name}"))
        for response in operation.responses.values():
            assert not is_newer(age, contract.since(Ref.parse(f"response:{response.id}")))
    for name in contract.raw["components"]["schemas"]:
        assert contract.since(Ref.parse(f"schema:{name}")) in contract.releases


@of_every_version
def test_the_history_dates_nothing_that_is_not_there_and_nothing_twice(contract: Contract) -> None:
    seen = Counter(releases._named(contract.version).keys())
    for kind, name in seen:
        assert contract.where(Ref(kind, name))
    dated = [
        (key, name)
        for new in releases._dates(contract.version)["release"].values()
        for key, names in new.items()
        for name in names
    ]
    assert [entry for entry, many in Counter(dated).items() if many > 1] == []


def redated(version: str, before: str) -> list[str]:
    """Return one line for each row that a document dates otherwise than the one before it.

    Its date then comes from words or Refs that are new in the document, unless `changes.toml`
    names the row in a `[[dated]]` table.
    """
    old, new = (Contract(each).requirements for each in (before, version))
    told = amendments(version, new.keys()).since
    return [
        f"{id_}: since {old[id_].since} in {before}, since {row.since} in {version}"
        for id_, row in new.items()
        if id_ in old and id_ not in told and row.since != old[id_].since
    ]


REDATED = (
    "these rows have another date than in the version before: where the new document only words "
    "the demand otherwise, name them in a [[dated]] row of {folder}/changes.toml with the date "
    "that they had, and where it demands something else, with the new one"
)


def test_a_new_document_gives_no_demand_another_date_in_silence() -> None:
    for before, version in pairwise(sorted(SPEC_VERSIONS, key=releases.number)):
        told = redated(version, before)
        assert not told, "\n".join([REDATED.format(folder=document.FOLDERS[version]), *told])


def test_a_row_whose_words_are_new_is_told_with_both_dates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "made"
    shutil.copytree(folder_of(CONTRACT.version), folder)
    changes = (folder / "changes.toml").read_text(encoding="utf-8")
    (folder / "changes.toml").write_text(changes.replace('"dropTable.purge-accepted", ', ""))
    version = known_as(monkeypatch, folder, CONTRACT.version)
    (told,) = redated(version, CONTRACT.version)
    assert told.startswith(f"dropTable.purge-accepted: since 0.14.0 in {CONTRACT.version}, since ")


def test_a_date_is_asked_of_what_exists() -> None:
    with pytest.raises(UnknownRef, match="no release"):
        CONTRACT.since(Ref.parse("operation:loadTabel"))


def test_a_member_is_as_old_as_its_lines() -> None:
    schema = Ref.parse("schema:TableMetadata")
    member = CONTRACT.lines("/components/schemas/TableMetadata/properties/next-row-id")
    assert CONTRACT.since(schema) == "0.14.0"
    assert CONTRACT.since(schema, member) == "1.10.0"


@of_every_version
def test_a_change_is_never_older_than_the_first_document_nor_newer_than_this_one(
    contract: Contract,
) -> None:
    told = [
        m
        for r in contract.requirements.values()
        for m in RELEASE.findall((r.changed or "").split(":")[0])
    ]
    assert told
    assert set(told) <= set(contract.releases)


def test_a_pattern_is_about_the_operations_that_there_were() -> None:
    rows = load("1.11.0").requirements
    assert (rows["listTables.401"].changed or "").startswith("1.10.0: 401 comes before 419")
    assert rows["registerView.401"].changed is rows["signRequest.401"].changed is None


# ------------------------------------------------------------- the document of the version before
def without_the_document_before(versions: Iterable[str]) -> list[str]:
    """Return what to write into changes.toml of the versions that do not know the one before."""
    told = []
    for before, version in pairwise(sorted(versions, key=releases.number)):
        sha256 = document.official_sha256(before)
        known = [(row["release"], row["sha256"]) for row in releases._changes(version)["document"]]
        if (before, sha256) not in known:
            told.append(
                f"changes.toml of {version} has no such row: [[document]] with"
                f' release = "{before}" and sha256 = "{sha256}",'
                f" the text of official.sha256 in the folder of {before}"
            )
    return told


def test_every_version_knows_the_document_of_the_version_before_it() -> None:
    told = without_the_document_before(document.FOLDERS)
    assert not told, "\n".join(told)


@pytest.mark.parametrize("written", [True, False])
def test_a_version_without_the_document_before_it_is_told_what_to_write(
    written: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, made = CONTRACT.version, tmp_path / "made"
    shutil.copytree(folder_of(before), made)
    row = f'[[document]]\nrelease = "{before}"\nsha256 = "{CONTRACT.document_sha256}"\n'
    with (made / "changes.toml").open("a", encoding="utf-8") as file:
        file.write(row if written else "")
    version = known_as(monkeypatch, made, "99.0.0")
    told = without_the_document_before([version, before])
    assert [CONTRACT.document_sha256 in each for each in told] == ([] if written else [True])


# ------------------------------------------------------------------------- what no tool wrote yet
def test_a_version_without_dates_is_one_fault_of_the_load_that_names_the_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = shutil.ignore_patterns("releases.toml")
    shutil.copytree(folder_of(CONTRACT.version), tmp_path / "made", ignore=without)
    version = known_as(monkeypatch, tmp_path / "made", CONTRACT.version)
    with pytest.raises(UnresolvedRows) as told:
        _ = Contract(version).requirements
    (fault,) = told.value.rows
    assert "no releases.toml" in fault
    assert f"`python -m tools.dating GIT_DIR DOCUMENT --version {version}`" in fault
    with pytest.raises(UnknownRef, match=r"no releases\.toml"):
        Contract(version).since(Ref.parse("operation:loadTable"))


def test_a_version_without_dates_is_told_with_all_that_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "made"
    without = shutil.ignore_patterns("releases.toml")
    shutil.copytree(folder_of(CONTRACT.version), made, ignore=without)
    facts = json.loads((made / "operations.json").read_text(encoding="utf-8"))
    facts.pop("loadTable")
    (made / "operations.json").write_text(json.dumps(facts), encoding="utf-8")
    table = json.loads((made / "sentences.json").read_text(encoding="utf-8"))
    table.popitem()
    (made / "sentences.json").write_text(json.dumps(table), encoding="utf-8")
    with pytest.raises(UnresolvedRows) as told:
        _ = Contract(known_as(monkeypatch, made, CONTRACT.version)).requirements
    listed = told.value.rows
    assert sum("releases.toml" in fault for fault in listed) == 1
    assert any("loadTable: profile is missing" in fault for fault in listed)
    assert any("the sentence" in fault for fault in listed)


# ------------------------------------------------------------------ what people wrote down
@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("dated", {"requirements": ["loadTabel.*"], "since": "1.4.0", "why": "w"}),
        ("dated", {"requirements": ["loadTable.200"], "since": "1.4.1", "why": "w"}),
        ("change", {"requirements": ["loadTabel.200"], "release": "1.4.0", "text": "t"}),
        ("change", {"requirements": ["loadTable.200"], "release": "99.0.0", "text": "t"}),
    ],
)
def test_a_row_that_points_at_nothing_raises(
    monkeypatch: pytest.MonkeyPatch, table: str, row: dict[str, object]
) -> None:
    tables = {"dated": [], "change": [], "later": [], table: [row]}
    monkeypatch.setattr(releases, "_changes", lambda _version: tables)
    (fault,) = amendments(CONTRACT.version, REGISTER.keys()).faults
    assert "changes.toml" in fault


@pytest.mark.parametrize(
    "row", [{"release": "99.0.0", "kind": "rumour"}, {"release": "1.9.0", "kind": "status"}]
)
def test_a_later_fact_is_later_and_of_a_known_kind(
    monkeypatch: pytest.MonkeyPatch, row: dict[str, str]
) -> None:
    told = {"later": [row | {"name": "n", "text": "t"}]}
    monkeypatch.setattr(releases, "_changes", lambda _version: told)
    with pytest.raises(UnknownRef, match="no later fact"):
        later.__wrapped__(CONTRACT.version)


def test_a_row_with_another_member_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = {"change": [{"requirements": [], "release": "1.4.0", "txet": "t"}]}
    monkeypatch.setattr(releases, "_toml", lambda _version, _name: tables)
    with pytest.raises(ValueError, match="change"):
        releases._changes.__wrapped__(CONTRACT.version)


@of_every_version
def test_later_facts_are_named_once_and_are_not_of_this_document(contract: Contract) -> None:
    names = [fact.name for fact in contract.later]
    assert len(names) == len(set(names))
    mine = {o.endpoint for o in contract.operations.values()}
    mine |= {response.id for response in contract.documented_responses}
    assert [name for name in names if name in mine] == []
    releases_of_facts = {fact.release for fact in contract.later}
    assert "unreleased" in releases_of_facts
    assert all(is_newer(r, contract.version) for r in releases_of_facts - {"unreleased"})


def test_every_later_fact_is_a_value() -> None:
    endpoints = [fact for fact in CONTRACT.later if fact.kind == "endpoint"]
    assert len(endpoints) == 5, (
        f"changes.toml of {CONTRACT.version} has another number of later endpoints: write it here"
    )
    assert all(isinstance(fact, Later) and fact.text.endswith(".") for fact in CONTRACT.later)
