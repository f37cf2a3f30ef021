"""`icecheck list` and `icecheck explain`: the register and the checks, for people and programs."""

import json

import click
import pytest

from icecheck.cli import main
from icecheck.contract import load
from icecheck.contract.witnesses import reasons_without_witness
from tests.kit.contracts import CONTRACT


def listed(icecheck, *arguments):
    result = icecheck("list", *arguments, "--format", "json")
    assert result.exit_code == 0
    return json.loads(result.stdout)


def test_requirements_are_the_register(icecheck):
    rows = {r["id"]: r for r in listed(icecheck, "requirements")}
    assert set(rows) == set(CONTRACT.requirements)
    assert rows["createNamespace.409"]["level"] == "must"
    assert rows["createNamespace.409"]["permalink"].startswith("https://github.com/apache/iceberg/")


def test_requirements_say_whether_they_are_checked_and_why_not(icecheck):
    lines = icecheck("list", "requirements").stdout.splitlines()
    said = {id_: line for line in lines for id_ in [line.split()[3]]}
    assert len(said) == len(lines) == len(CONTRACT.requirements)
    assert said["createNamespace.409"].split()[2] == "checked"
    reason = CONTRACT.requirements["createNamespace.406"].not_tested
    assert reason is not None
    assert said["createNamespace.406"].split()[2] == "if-met"
    assert reason in said["createNamespace.406"]
    unexplained = [r for r in CONTRACT.requirements.values() if r.not_tested is None]
    assert not any("not brought about" in said[r.id] for r in unexplained)


def test_what_a_later_document_demands_otherwise_is_listed(icecheck):
    rows = {r["id"]: r for r in listed(icecheck, "requirements", "--diff", "1.10.0", "1.11.0")}
    before, after = CONTRACT.requirements, load("1.11.0").requirements
    new = {id_ for id_, row in rows.items() if row["change"] == "new"}
    assert new == after.keys() - before.keys()
    dropped = {id_ for id_, row in rows.items() if row["change"] == "dropped"}
    assert dropped == before.keys() - after.keys()
    assert rows["createTable.name-of-a-view-refused"]["change"] == "changed"
    assert rows["createTable.name-of-a-view-refused"]["level"] == "should → must"
    # The answer is the same, and the reasons for it are more.
    assert rows["cancelPlanning.404"]["change"] == "changed"
    assert "1.11.0" in rows["cancelPlanning.404"]["note"]
    assert "createNamespace.409" not in rows


def test_the_lists_of_another_version_are_those_of_its_contract(icecheck):
    for what, known in (
        ("operations", {*load("1.11.0").operations}),
        ("requirements", {*load("1.11.0").requirements}),
    ):
        rows = json.loads(icecheck("list", what, "--spec", "1.11.0", "--format", "json").stdout)
        assert {row["id"] for row in rows} == known
    assert "registerView.succeeds" in icecheck("list", "--spec", "1.11.0").stdout
    assert "registerView.succeeds" not in icecheck("list").stdout


@pytest.mark.parametrize(
    "options",
    [("--spec", "9.9.9"), ("defects", "--spec", "1.11.0"), ("--spec", "1.10")],
)
def test_a_version_that_has_no_list_is_refused(icecheck, options):
    result = icecheck("list", *options)
    assert result.exit_code == 2
    assert "--spec" in result.output


def test_two_releases_of_one_contract_are_told_apart_too(icecheck):
    rows = {r["id"]: r for r in listed(icecheck, "requirements", "--diff", "1.6.0", "1.8.0")}
    assert {row["change"] for row in rows.values()} <= {"new", "changed"}
    dates = {id_: CONTRACT.requirements[id_].since for id_ in rows}
    assert {dates[id_] for id_, row in rows.items() if row["change"] == "new"} <= {"1.7.0", "1.8.0"}
    assert rows["loadCredentials.200"]["change"] == "new"


def test_operations_are_those_of_the_document(icecheck):
    rows = listed(icecheck, "operations")
    assert [r["id"] for r in rows] == list(CONTRACT.operations)
    assert len(rows) == 30


def test_checks_are_listed_once_each_with_what_they_prove(icecheck):
    rows = listed(icecheck, "checks")
    ids = [r["id"] for r in rows]
    assert len(ids) == len(set(ids))
    register = CONTRACT.requirements
    assert all(set(r["requirements"]) <= set(register) for r in rows)
    passive = {r["id"] for r in rows if r["passive"]}
    assert "schema.createNamespace.200" in passive
    assert "createNamespace.already-exists" in set(ids) - passive


@pytest.mark.parametrize("group", ["checks", "generated", "scenarios", "spark", "clients"])
def test_a_group_lists_its_own_checks(icecheck, group):
    assert {r["group"] for r in listed(icecheck, "checks", "--group", group)} <= {group}


def test_text_is_one_line_each(icecheck):
    lines = icecheck("list", "operations").stdout.splitlines()
    assert len(lines) == 30
    assert all("/v1/" in line for line in lines)


def test_a_check_is_explained_with_its_requirement_and_the_specification(icecheck):
    text = icecheck("explain", "createNamespace.already-exists").stdout
    for part in (
        "check createNamespace.already-exists",
        "level must",
        "requirement createNamespace.409",
        CONTRACT.requirements["createNamespace.409"].text,
        CONTRACT.permalink(CONTRACT.requirements["createNamespace.409"].lines),
        "hurts: ",
        "--check 'createNamespace.already-exists'",
    ):
        assert part in text


def test_a_requirement_is_explained_with_the_checks_that_prove_it(icecheck):
    text = icecheck("explain", "createNamespace.409").stdout
    assert text.startswith("requirement createNamespace.409\n")
    assert "createNamespace.already-exists: " in text
    assert "schema.createNamespace.409: " in text


def test_a_requirement_says_since_which_release_and_what_it_changed(icecheck):
    text = icecheck("explain", "renameView.204").stdout
    assert "\n  since Iceberg 1.6.0\n  changed in 1.6.0: 204; 200 before\n" in text
    assert "\n  since Iceberg 0.14.0\n" in icecheck("explain", "createNamespace.409").stdout
    rows = {r["id"]: r for r in listed(icecheck, "requirements")}
    assert rows["renameView.204"]["since"] == "1.6.0"
    assert rows["renameView.204"]["changed"] == "1.6.0: 204; 200 before"
    assert rows["createNamespace.409"]["changed"] is None


def test_a_check_is_explained_with_defects_that_it_was_seen_to_fail_for(icecheck):
    text = icecheck("explain", "dropNamespace.holds-table").stdout
    assert "seen to fail for: " in text
    assert "namespace-drop-cascades" in text


def test_a_check_that_no_defect_of_the_mock_can_fail_says_so(icecheck):
    text = icecheck("explain", "schema.getConfig.5XX").stdout
    assert "spoiled by hand" in text


def test_defects_are_listed_with_what_they_break_and_who_suffers(icecheck):
    rows = {row["id"]: row for row in listed(icecheck, "defects")}
    row = rows["namespace-drop-cascades"]
    assert (row["level"], row["breaks"]) == ("must", "dropNamespace.holds-table")
    assert all(row["title"] and row["suffering"] for row in rows.values())
    assert len(rows) == len(icecheck("list", "defects").stdout.splitlines())


def test_a_passive_check_is_explained(icecheck):
    text = icecheck("explain", "schema.createNamespace.200").stdout
    assert "judged from the answers that the other checks get" in text


def test_a_requirement_that_nothing_proves_says_why(icecheck):
    text = icecheck("explain", "createNamespace.503").stdout
    assert CONTRACT.requirements["createNamespace.503"].not_tested in text


def test_every_id_that_is_listed_can_be_explained(icecheck):
    ids = [r["id"] for r in listed(icecheck, "checks")][::25]
    for check in ids:
        assert icecheck("explain", check).exit_code == 0


def test_a_check_without_witness_is_explained_with_what_became_of_it(icecheck):
    check, phrases = next(iter(reasons_without_witness().items()))
    text = icecheck("explain", check).stdout
    assert "unwitnessed" in text
    assert all(phrase in text for phrase in phrases)


def test_commands_are_still_found_after_the_command_list_was_used(icecheck):
    assert icecheck("list", "operations").exit_code == 0
    assert "list" in main.list_commands(click.Context(main))
