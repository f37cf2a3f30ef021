"""The reasons of required checks that no catalog passed, on runs made up for the test."""

from typing import Any

from icecheck.findings.expected_failures import Expectation, ExpectationKind
from tests.kit.contracts import CONTRACT
from tests.reference.unwitnessed import Records, newer_than_the_records, reasons, text_of

REFUSED = "createTable.malformed-refused"
UNCLAIMED = {"kind": "not-declared", "reason": "the catalog's config does not claim createTable"}
BROKEN = Expectation(
    ExpectationKind.KNOWN_FAILURE, "server: it breaks (L1)", 1, cause="status-500*"
)


def passing(check: str) -> dict[str, Any]:
    return {"id": check, "outcome": "pass"}


def failing(check: str) -> dict[str, Any]:
    return {"id": check, "outcome": "fail", "cause": "status-500-for-4xx"}


def skipped(check: str) -> dict[str, Any]:
    return {"id": check, "outcome": "skip", "skip": UNCLAIMED}


def records(**runs: dict[str, Any]) -> Records:
    checks = {name.replace("_", "-"): {row["id"]: row} for name, row in runs.items()}
    return Records(checks, dict.fromkeys(checks, (BROKEN,)))


def test_what_a_catalog_passed_needs_no_reason() -> None:
    told = reasons(records(a_1=failing(REFUSED), a_2=passing(REFUSED)))
    assert REFUSED not in told
    assert "createNamespace.created" in told


def test_a_failure_has_its_adjudication_and_equal_fates_are_told_once() -> None:
    told = reasons(records(a_1=failing(REFUSED), a_2=failing(REFUSED), b_1=skipped(REFUSED)))
    assert told[REFUSED] == (
        "a-1/2: fails, server: it breaks (L1)",
        "b-1: not asked, the catalog's config does not claim createTable",
    )


def test_what_is_true_of_all_names_none() -> None:
    told = reasons(records(a_1=failing(REFUSED), a_2=failing(REFUSED)))
    assert told[REFUSED] == ("all recorded catalogs: fails, server: it breaks (L1)",)


def test_a_failure_that_nobody_adjudicated_is_told_as_that() -> None:
    run = records(a_1={"id": REFUSED, "outcome": "fail", "cause": "another"})
    assert reasons(run)[REFUSED] == ("all recorded catalogs: fails, not adjudicated yet",)


def test_what_no_catalog_was_asked_is_newer_than_the_records() -> None:
    told = reasons(records(a_1=passing(REFUSED)))
    assert "createNamespace.created" in newer_than_the_records(told)
    assert "schema.createTable.503" not in newer_than_the_records(told)


def test_an_answer_that_nobody_gave_has_the_reason_of_the_register() -> None:
    why = CONTRACT.requirements["createTable.503"].not_tested
    assert why is not None
    (phrase,) = reasons(records(a_1=passing(REFUSED)))["schema.createTable.503"]
    assert phrase.lower().endswith(why.lower().rstrip("."))


def test_an_answer_that_a_check_did_not_get_has_the_reason_of_the_check() -> None:
    (phrase,) = reasons(records(a_1=failing(REFUSED)))["schema.createTable.400"]
    assert f"{REFUSED} (all recorded catalogs: fails, server: it breaks (L1))" in phrase


def test_an_answer_of_an_operation_that_nobody_claims_says_so() -> None:
    (phrase,) = reasons(records(a_1=skipped(REFUSED)))["schema.createTable.200"]
    assert phrase == "no recorded catalog claims createTable"


def test_a_reason_is_a_line_or_a_line_for_each_fate() -> None:
    text = text_of({"b.c": ("one", "two"), "a.b": ("only",)})
    assert text.endswith('"a.b" = ["only"]\n"b.c" = [\n  "one",\n  "two",\n]\n')
