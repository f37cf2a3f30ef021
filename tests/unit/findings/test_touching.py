"""Which operations a finding is about, and which check shows a cause most plainly."""

from dataclasses import replace
from typing import Any

import pytest

from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.findings.telling.touching import operations_of, plainest, touched
from icecheck.findings.verdict import Evidence, Group, Level, Outcome, Verdict
from tests.kit.contracts import CONTRACT
from tests.kit.findings import a_finding
from tests.kit.finished_runs import verdict

EFFECT = EFFECT_MISSING.of("schema").slug


def asked(ordinal: int, operation: str, step: str = "do") -> Evidence:
    return Evidence(ordinal, step, operation, "GET http://c.test/x", 200, "", "", "", "")


def failed(check: str = "a", symptom: str = "status", exchange: int = 9, **members: Any) -> Verdict:
    finding = a_finding(symptom, "409", "200", "", exchange=exchange)
    return verdict(check, Outcome.FAIL, findings=(finding,), **members)


def about(*operations: str, shown: tuple[Evidence, ...], **members: Any) -> tuple[str, ...]:
    return touched(failed(operations=operations, evidence=shown, **members), CONTRACT)


def test_a_wrong_answer_is_about_the_operation_that_gave_it() -> None:
    shown = (asked(1, "createTable", step="given"), asked(9, "updateTable"))
    assert about("updateTable", shown=shown) == ("updateTable",)
    assert about("dropTable", "createTable", "loadTable", shown=shown) == ("updateTable",)


def test_a_check_of_few_operations_is_about_its_first_one_too() -> None:
    assert about("dropTable", "createTable", shown=(asked(9, "updateTable"),)) == (
        "updateTable",
        "dropTable",
    )


def test_a_server_error_is_about_the_operation_that_broke_down_alone() -> None:
    broken = failed(operations=("dropTable",), evidence=(asked(9, "loadTable"),))
    broken = replace(broken, findings=(a_finding("status", "404", "500", "", exchange=9),))
    assert touched(broken, CONTRACT) == ("loadTable",)


def test_what_a_read_shows_of_a_change_is_about_the_change() -> None:
    shown = (asked(1, "createTable", step="given"), asked(2, "updateTable"), asked(9, "loadTable"))
    assert about("updateTable", "loadTable", shown=shown, symptom=EFFECT) == ("updateTable",)
    walk = ("createTable", "loadTable", "updateTable", "dropTable")
    assert about(*walk, shown=shown, symptom=EFFECT) == ("updateTable",)
    # The status of a read is its own.
    assert about(*walk, shown=shown) == ("loadTable",)


def test_what_only_the_setup_changed_is_about_what_the_check_is_about() -> None:
    shown = (asked(1, "createTable", step="given"), asked(9, "loadTable"))
    assert about("loadTable", shown=shown, symptom=EFFECT) == ("loadTable",)
    listed = (asked(2, "createView"), asked(9, "listViews"))
    assert about("listViews", shown=listed, symptom="listing") == ("listViews",)


def test_a_check_that_names_no_operation_is_about_the_one_that_answered() -> None:
    assert about(shown=(asked(9, "getConfig"),)) == ("getConfig",)
    assert about("listTables", shown=()) == ("listTables",)


def test_at_which_request_a_statement_of_spark_fails_is_not_known() -> None:
    spark = failed(operations=("createTable",), group=Group.SPARK)
    spark = replace(spark, findings=(a_finding("spark-rows", "1", "2", ""),))
    assert touched(spark, CONTRACT) == ()


def test_the_operation_of_most_checks_comes_first() -> None:
    checks = [failed(str(n), operations=(o,)) for n, o in enumerate(("loadView", "dropView") * 2)]
    checks.append(failed("more", operations=("dropView",)))
    assert operations_of(checks, CONTRACT) == ("dropView", "loadView")


SHOWN = (asked(9, "updateTable"),)
ORDER = (
    failed("row", requirements=("updateTable.409",), evidence=SHOWN),
    failed("longer", requirements=("updateTable.409",), evidence=SHOWN, requests=5),
    failed("sentence", requirements=("commit.atomic",), evidence=SHOWN),
    failed("walk", operations=("createTable", "updateTable", "dropTable"), evidence=SHOWN),
    failed("drawn", group=Group.GENERATED, evidence=SHOWN),
    failed("scenario", group=Group.SCENARIOS, evidence=SHOWN),
    failed("client", group=Group.CLIENTS, evidence=SHOWN),
    failed("spark", group=Group.SPARK, evidence=SHOWN),
    failed("mute"),
    failed("lesser", level=Level.SHOULD, evidence=SHOWN),
)


@pytest.mark.parametrize("place", range(len(ORDER)))
def test_the_plainest_check_shows_a_cause(place: int) -> None:
    assert plainest(reversed(ORDER[place:]), Level.MUST).check == ORDER[place].check
