"""What the register of each version holds: laws over its rows that need no check and no catalog."""

import re

import pytest

from icecheck.contract import PROFILES, Basis, Contract, Level, load
from icecheck.contract.document import line_index
from tests.kit.contracts import by_hand, of_every_version


def generated(contract: Contract) -> set[str]:
    return {response.id for response in contract.documented_responses}


@of_every_version
def test_every_documented_response_has_a_row(contract: Contract) -> None:
    bodies = [body for item in contract.raw["paths"].values() for body in item.values()]
    written = [
        f"{body['operationId']}.{status}"
        for body in bodies
        if "operationId" in body
        for status in body["responses"]
    ]
    assert {*written} == generated(contract)
    assert set(contract.requirements) >= generated(contract)
    assert all(
        contract.requirements[name].basis is Basis.RESPONSE_TABLE for name in generated(contract)
    )


@of_every_version
def test_ids_key_the_register(contract: Contract) -> None:
    assert all(name == requirement.id for name, requirement in contract.requirements.items())


@of_every_version
def test_a_401_is_a_should(contract: Contract) -> None:
    levels = {
        contract.requirements[name].level for name in generated(contract) if name.endswith(".401")
    }
    assert levels == {Level.SHOULD}


@pytest.mark.parametrize("status", ["403", "419", "500", "502", "503", "504", "5XX"])
@of_every_version
def test_what_cannot_be_arranged_has_a_reason(contract: Contract, status: str) -> None:
    rows = [
        contract.requirements[name] for name in generated(contract) if name.endswith(f".{status}")
    ]
    assert rows
    assert all(requirement.not_tested for requirement in rows)


@of_every_version
def test_a_success_is_never_excused(contract: Contract) -> None:
    rows = [
        contract.requirements[name] for name in generated(contract) if re.search(r"\.20\d$", name)
    ]
    assert {requirement.id.split(".")[0] for requirement in rows} == {*contract.operations}
    assert not any(requirement.not_tested for requirement in rows)


@of_every_version
def test_every_assertion_is_demanded_both_ways(contract: Contract) -> None:
    for assertion in contract.table_assertions:
        assert f"assertion.{assertion}.satisfied" in contract.requirements
        assert f"assertion.{assertion}.violated" in contract.requirements
    named = {name.split(".")[1] for name in contract.requirements if name.startswith("assertion.")}
    assert named == set(contract.table_assertions)


@of_every_version
def test_every_table_update_has_an_effect(contract: Contract) -> None:
    for action in contract.table_updates:
        assert f"update.{action}.effect" in contract.requirements
    named = {name.split(".")[1] for name in contract.requirements if name.startswith("update.")}
    assert named == set(contract.table_updates)


@of_every_version
def test_an_interop_row_names_who_is_hurt(contract: Contract) -> None:
    for requirement in contract.requirements.values():
        if requirement.level is Level.INTEROP:
            assert requirement.basis is Basis.CLIENT_NEED
            assert requirement.hurts != "no known client", requirement.id


@of_every_version
def test_every_row_is_a_sentence(contract: Contract) -> None:
    for requirement in contract.requirements.values():
        assert requirement.text.endswith("."), requirement.id
        assert "{" not in requirement.text, requirement.id
        assert "\n" not in requirement.text, requirement.id


@of_every_version
def test_every_ref_and_span_of_lines_resolves(contract: Contract) -> None:
    end = max(last for _, last in line_index(contract.version).values())
    for requirement in contract.requirements.values():
        assert requirement.refs
        for ref in requirement.refs:
            first, last = contract.where(ref)
            assert 1 <= first <= last
        first, last = requirement.lines
        assert 1 <= first <= last <= end


@of_every_version
def test_rows_by_hand_cite_less_than_a_page(contract: Contract) -> None:
    long = {r.id for r in by_hand(contract) if r.lines[1] - r.lines[0] > 90}
    assert long == set()


@of_every_version
def test_every_profile_is_known_and_the_generated_ones_follow_the_operation(
    contract: Contract,
) -> None:
    found = {requirement.profile for requirement in contract.requirements.values()}
    assert found <= {*contract.profiles} <= {*PROFILES}
    assert contract.requirements["createTable.409"].profile == "write"
    assert contract.requirements["loadTable.304"].profile == "etag"
    assert contract.requirements["listTables.token-null-at-end"].profile == "pagination"


@of_every_version
def test_error_type_names_are_never_a_must(contract: Contract) -> None:
    rows = [r for name, r in contract.requirements.items() if name.startswith("error.type")]
    assert rows
    assert all(requirement.level is not Level.MUST for requirement in rows)


@of_every_version
def test_texts_are_distinct_within_a_family(contract: Contract) -> None:
    seen: dict[tuple[str, str], str] = {}
    for requirement in contract.requirements.values():
        key = (requirement.id.split(".")[0], requirement.text)
        assert key not in seen, f"{requirement.id} says what {seen[key]} says"
        seen[key] = requirement.id


def test_a_profile_that_came_later_is_none_of_an_older_document() -> None:
    older, newer = load("1.10.0").profiles, load("1.11.0").profiles
    assert {*newer} - {*older} == {"idempotency", "register-view"}
    assert older[0] == newer[0] == "core"
