"""Law 3 for witnesses: a required check that no other catalog passes has a recorded reason."""

from icecheck.cli.listings.catalogue import check_rows
from icecheck.contract import Level
from icecheck.contract.witnesses import is_unwitnessed, reasons_without_witness
from tests.kit.contracts import CONTRACT
from tests.laws.golden import expect_golden
from tests.reference.unwitnessed import (
    FILE,
    newer_than_the_records,
    read_records,
    reasons,
    text_of,
)

NEWER_MAX = 12
"""With more checks newer than the records, the catalogs have to be recorded again."""


def test_the_reasons_are_those_of_the_records() -> None:
    told = reasons(read_records())
    expect_golden(FILE.name, text_of(told).splitlines(), FILE.parent)
    # The tests after an update read it again.
    reasons_without_witness.cache_clear()


def test_a_required_check_has_a_witness_or_a_reason_and_never_both() -> None:
    rows = check_rows(CONTRACT)
    bare = {row.id for row in rows if is_unwitnessed(row.id, Level(row.level))}
    assert bare == {*reasons_without_witness()}
    assert [check for check, phrases in reasons_without_witness().items() if not all(phrases)] == []


def test_the_records_know_nearly_every_check() -> None:
    newer = newer_than_the_records(reasons_without_witness())
    words = "record the catalogs again (tests/reference/catalogs.py): they do not know"
    assert len(newer) <= NEWER_MAX, f"{words} {sorted(newer)}"
