"""The hash of a set of requirements changes with everything that may change a verdict."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from icecheck.contract import Level, Requirement
from icecheck.findings.verdict import Group
from icecheck.judging.check import Check
from icecheck.run.collect import collect
from icecheck.run.facts import requirement_set_of, set_of
from tests.kit.contracts import CONTRACT

ROWS = [*CONTRACT.requirements.values()][:5]
CHECKS = collect((Group.CHECKS,), CONTRACT)
PROVING = next(check for check in CHECKS if check.proves == ("createNamespace.409",))


def digest_of(rows: Iterable[Requirement], checks: Iterable[Check]) -> str:
    return set_of("1.10.0", rows, checks).sha256


DUE = digest_of(ROWS, CHECKS)


def test_the_order_of_rows_and_checks_is_nothing() -> None:
    assert digest_of(reversed(ROWS), reversed(CHECKS)) == DUE


@pytest.mark.parametrize(
    "changed",
    [
        {"level": Level.INTEROP},
        {"condition": "the catalog has a moon"},
        {"text": "Something else is demanded."},
        {"id": "another.id"},
        {"since": "9.9.9"},
    ],
)
def test_a_changed_requirement_gives_another_hash(changed: dict[str, object]) -> None:
    assert digest_of([replace(ROWS[0], **changed), *ROWS[1:]], CHECKS) != DUE


def test_a_requirement_that_is_added_or_proven_otherwise_gives_another_hash() -> None:
    assert digest_of(ROWS[1:], CHECKS) != DUE
    row = CONTRACT.requirements["createNamespace.409"]
    without = [check for check in CHECKS if check is not PROVING]
    assert digest_of([row], CHECKS) != digest_of([row], without)


def test_where_a_sentence_stands_and_who_is_hurt_changes_no_verdict() -> None:
    moved = replace(ROWS[0], lines=(1, 2), hurts="nobody")
    assert digest_of([moved, *ROWS[1:]], CHECKS) == DUE


def test_the_hash_of_a_run_is_that_of_its_contract() -> None:
    assert requirement_set_of(CONTRACT).sha256.startswith("sha256:")
