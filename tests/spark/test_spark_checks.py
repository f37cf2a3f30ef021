"""The Spark checks against the register: every script is a check, every row has one."""

import re
from pathlib import Path
from types import ModuleType

import icecheck.spark_tests
from icecheck.contract import Level
from icecheck.findings.verdict import Group
from icecheck.judging.check import Check, check_of
from icecheck.run.collect import collect
from icecheck.spark_tests import test_scripts as script_checks
from tests.kit.contracts import CONTRACT

SCRIPTS = Path(icecheck.spark_tests.__file__).parent / "scripts"


def checks_in(module: ModuleType) -> list[Check]:
    functions = (getattr(module, name) for name in dir(module) if name.startswith("test_"))
    return [found for function in functions if (found := check_of(function, CONTRACT))]


CHECKS = collect((Group.SPARK,), CONTRACT)


def test_every_script_is_a_check_of_the_spark_group() -> None:
    assert len(checks_in(script_checks)) == len(list(SCRIPTS.glob("*.sql")))
    assert {check.group for check in CHECKS} == {Group.SPARK}


def test_every_row_of_the_register_for_spark_is_proven_by_one_check() -> None:
    rows = sorted(r for r in CONTRACT.requirements if r.startswith("client.spark."))
    assert sorted(row for check in CHECKS for row in check.proves) == rows


def test_a_scripts_check_is_named_after_what_it_proves() -> None:
    for check in checks_in(script_checks):
        assert check.proves == (check.id.replace("spark.", "client.spark.", 1),)


def test_spark_rows_are_interop_and_say_who_is_hurt() -> None:
    for check in CHECKS:
        assert check.level is Level.INTEROP
        for requirement in check.requirements:
            assert re.match(r"Spark( 4\.\d)? with Iceberg 1\.1[01]\.\d: ", requirement.hurts)


def test_titles_are_sentences_that_differ() -> None:
    titles = [check.title for check in CHECKS]
    assert len(set(titles)) == len(titles)
    assert all(title[0].isupper() and not title.endswith(".") for title in titles)
